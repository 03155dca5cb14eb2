package simulation_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// yields are seeds of code that makes room when it is told to, with work left.
const yields = "code that makes room"

// goodPoint is how long such code goes on until it can end.
const goodPoint = 7*time.Millisecond + 321*time.Nanosecond

// makeRoom has code run for long and make room when it is told to, while items move for all reasons there are.
func (p *plan) makeRoom(r *rand.Rand) {
	p.kind, p.busy, p.hooks = yields, 60+r.IntN(40), nil
	p.config.Failover = r.IntN(6) > 0
	p.config.FailoverLimit = []int{0, 1, 1, -1}[r.IntN(4)]
	p.config.ShardingTotalCount = 1 + r.IntN(8)
	p.drawn = []deed{launch, launch, launch, stop, stop}
	all := []deed{stop, toggleServer, toggleItem, changeTotal, askForResharding, crash, expire, cut, pause, runByHand, toggleFailover, changeParameter, loseAnswers, storeDown}
	for range 1 + r.IntN(4) {
		p.drawn = append(p.drawn, all[r.IntN(len(all))])
	}
	if r.IntN(3) == 0 {
		p.config.Retries, p.config.RetryBackoff = 1+r.IntN(3), -1
	}
	p.holdups = nil
	if r.IntN(2) == 0 {
		p.holdUp(r, []step{end, claim, reshard}[r.IntN(3)])
	}
}

// heeds is what work that makes room has heard of that.
type heeds struct {
	told <-chan struct{} // closed when it is told to; nil = nobody asks, or it has heard it
	goes bool            // it comes to an end
}

// hear takes in that work with so much left is told to make room, and returns how much of it is still done.
func (h *heeds) hear(left time.Duration) time.Duration {
	h.told = nil
	if left <= 0 {
		return 0 // it is done
	}
	h.goes = true
	return min(left, goodPoint)
}

// The rest of what makes room runs at once where its item goes, once.
func TestWhatMakesRoomIsRunElsewhere(t *testing.T) {
	cfg := hourly(1)
	cfg.Failover = true
	tell(t, cfg, func(t *testing.T, c *cluster) {
		c.work = func(sc job.ShardingContext) work {
			if sc.Source == job.Failover {
				return work{takes: time.Minute, yields: true}
			}
			return work{takes: 30 * time.Minute, yields: true}
		}
		first := c.start(a)
		sleepUntil(time.Hour + time.Minute)
		c.start(b)
		require.NoError(t, first.stop())
		sleepUntil(time.Hour + 3*time.Minute)
		require.Len(t, c.ran(), 2)
		require.Contains(t, c.ran()[1], "failover on b")
		require.Equal(t, jobtree.Counts{Success: 1, Interrupted: 1}, c.state().Item(0).Record.Value.Counts)
	})
}
