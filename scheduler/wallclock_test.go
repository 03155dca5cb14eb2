package scheduler_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// wallClock is a wall clock that can be set.
type wallClock struct{ off atomic.Int64 }

func (w *wallClock) now() time.Time        { return time.Now().Add(time.Duration(w.off.Load())) }
func (w *wallClock) set(off time.Duration) { w.off.Store(int64(off)) }

// The rows of the table "When the clock is not what it was" in the package documentation.
func TestTheWallClockIsSet(t *testing.T) {
	t.Parallel()
	hourly := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 1}
	for name, test := range map[string]struct {
		cfg  job.Config
		at   time.Duration // when the clock is set
		off  time.Duration // by which it is off from then on
		from time.Duration // since when runs count, by the true clock
		till time.Duration
		want []string
	}{
		"an hour ahead: beyond what is tolerated, nothing runs by it": {
			cfg: hourly, at: 10 * time.Minute, off: time.Hour, from: 0, till: 55 * time.Minute,
			want: nil,
		},
		"ten seconds ahead: fires come ten seconds early, once": {
			cfg: hourly, at: 10 * time.Minute, off: 10 * time.Second, from: 0, till: 3*time.Hour - time.Minute,
			want: []string{"item 0 fire 1h0m0s scheduled on s", "item 0 fire 2h0m0s scheduled on s"},
		},
		"an hour back: what ran does not run again": {
			cfg: hourly, at: 70 * time.Minute, off: -time.Hour, from: 0, till: 3*time.Hour + 30*time.Minute,
			want: []string{"item 0 fire 1h0m0s scheduled on s", "item 0 fire 2h0m0s scheduled on s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				set := c.skewed(test.cfg)
				sleepUntil(test.at)
				set(test.off)
				sleepUntil(test.till)
				require.Equal(t, test.want, c.shown())
			})
		})
	}
}

// Two instances whose clocks differ by seconds still run each fire once.
func TestClocksThatDifferBySeconds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		set := c.skewed(jobOf(4))
		set(-3 * time.Second)
		c.start("a", nil, jobOf(4))
		sleepUntil(6 * time.Second)
		c.start("b", nil, jobOf(4))
		sleepUntil(time.Minute + time.Second)
		fires := make(map[string]int)
		for _, r := range c.take() {
			fires[r.sc.Fire.Sub(bubbleStart).String()+" "+string(rune('0'+r.sc.Item))]++
			require.NotEqual(t, job.Failover, r.sc.Source)
		}
		for fire, n := range fires {
			require.Equal(t, 1, n, fire)
		}
		require.GreaterOrEqual(t, len(fires), 4*10)
	})
}

func TestTheClockIsCheckedAsTheJobWants(t *testing.T) {
	t.Parallel()
	for policy, want := range map[job.ClockPolicy]int{job.ClockWarn: 7, job.ClockRefuse: 0} {
		t.Run(policy.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(1)
				cfg.MaxTimeDiff, cfg.ClockPolicy = 3*time.Second, policy
				set := c.skewed(cfg)
				sleepUntil(3 * time.Minute)
				set(10 * time.Second)
				sleepUntil(3*time.Minute + time.Second)
				c.take()
				sleepUntil(3*time.Minute + 31*time.Second)
				require.Len(t, c.take(), want)
			})
		})
	}
}
