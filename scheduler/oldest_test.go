package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// The oldest instance follows all items of a job, and so does the leader: the oldest leads, whether all start together or
// leaders die, so that an execution is told to one of them and not to two.
func TestTheOldestLeads(t *testing.T) {
	t.Parallel()
	const size, items = 5, 40
	inBubble(t, func(t *testing.T, c *cluster) {
		members := make(map[string]*follows)
		for i := range size { // the later, the lower its id
			id := fmt.Sprint(size - i)
			m := c.follows(id, scheduler.FollowOwn, jobOf(items), nil)
			members[m.id] = m
		}
		for range size - 1 {
			time.Sleep(memory.DefaultTTL + 10*time.Second)
			state, oldest := c.stateOf("orders"), ""
			for _, i := range state.Instances {
				if oldest == "" || i.Created < state.Instance(oldest).Created {
					oldest = i.ID
				}
			}
			require.Equal(t, oldest, state.Leader.Instance)
			for id, m := range members {
				followed := m.Health(t.Context()).Jobs[0].Followed
				require.Equal(t, id == oldest || len(members) == 1, followed == items, "%s follows %d", id, followed)
			}
			members[oldest].crash(t)
			delete(members, oldest)
		}
	})
}
