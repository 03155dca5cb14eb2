package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
)

// The registry takes its time to answer the begin of second 5: the item starts only if its fire is
// not late by then, and is made up, or not, like any other that was missed.
func TestABeginIsJudgedAgainWhenItIsAnswered(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		oneWay time.Duration // of the request and of its answer, at the fire
		change func(*job.Config)
		want   []string
	}{
		"in time": {
			oneWay: 2400 * time.Millisecond, change: func(*job.Config) {},
			want: []string{"item 0 fire 5s scheduled on a"},
		},
		"late": {
			oneWay: 3 * time.Second, change: func(*job.Config) {},
			want: []string{"item 0 fire 5s misfire on a"},
		},
		"late, misfire off": {
			oneWay: 3 * time.Second, change: func(c *job.Config) { c.Misfire = job.MisfireSkip },
			want: nil,
		},
		"late, all": {
			oneWay: 3 * time.Second, change: func(c *job.Config) { c.Misfire = job.MisfireAll },
			want: []string{"item 0 fire 5s misfire on a"},
		},
		"older than the window": {
			oneWay: 5 * time.Second, change: func(c *job.Config) { c.MisfireWindow = 9 * time.Second },
			want: nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 1}
				test.change(&cfg)
				a := c.launchOver(c.server.Open("test", memory.WithTTL(time.Minute)), "a", nil, cfg)
				<-a.Ready()
				sleepUntil(4900 * time.Millisecond)
				a.registry.SetLatency(test.oneWay)
				sleepUntil(5*time.Second + test.oneWay + 10*time.Millisecond)
				require.Equal(t, jobtree.ItemRunning, c.state().Item(0).Record.Value.State, "the begin was done")
				a.registry.SetLatency(0)
				sleepUntil(40 * time.Second)
				require.Equal(t, test.want, c.shown())
				item := c.state().Item(0)
				require.False(t, item.Running.Exists())
				require.Equal(t, jobtree.ItemIdle, item.Record.Value.State)
				sleepUntil(66 * time.Second)
				require.Equal(t, []string{"item 0 fire 1m5s scheduled on a"}, c.shown(), "the next fire")
			})
		})
	}
}

// A begin whose answer comes too late, when the session is in doubt, is taken back, and its fire runs
// when it is not.
func TestABeginThatIsAnsweredTooLate(t *testing.T) {
	t.Parallel()
	for _, misfire := range []bool{true, false} {
		t.Run(fmt.Sprintf("misfire=%t", misfire), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 1}
				if !misfire {
					cfg.Misfire = job.MisfireSkip
				}
				a := c.start("a", nil, cfg)
				sleepUntil(4999 * time.Millisecond)
				a.registry.LoseAnswers(1)
				sleepUntil(5001 * time.Millisecond)
				a.registry.Cut()
				sleepUntil(8600 * time.Millisecond)
				a.registry.Heal()
				sleepUntil(20 * time.Second)
				require.Len(t, c.take(), 1)
				require.False(t, c.state().Item(0).Running.Exists())
			})
		})
	}
}
