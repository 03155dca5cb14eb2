package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEachItemOfAFireRunsOnceSomewhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		for _, id := range []string{"a", "b", "c"} {
			c.start(id, nil, jobOf(10))
		}
		sleepUntil(4 * time.Second)
		c.take()
		for fire := 5 * time.Second; fire <= time.Minute; fire += 5 * time.Second {
			sleepUntil(fire + time.Second)
			runs := c.take()
			require.Len(t, runs, 10, "fire %s", fire)
			for item, r := range runs {
				require.Equal(t, item, r.sc.Item)
				require.Equal(t, bubbleStart.Add(fire), r.sc.Fire)
			}
		}
	})
}
