package scheduler_test

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
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

// The machine of s has lost its time server: its clocks drift, the one on the wall and the one that timers go by alike, and the
// bubble's time is theirs. The registry and a go by the right time. s leaves the job before others would take what it
// writes for the word of a broken clock, or it what they write. So when one of the two stops, nothing runs twice.
func TestAClockThatDriftsIsNoticed(t *testing.T) {
	t.Parallel()
	for name, rate := range map[string]time.Duration{"fast": 250, "slow": -250} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				drift := func() time.Duration { return time.Since(bubbleStart) / rate }
				driftUntil := func(end time.Duration) {
					for time.Since(bubbleStart) < end {
						time.Sleep(time.Minute)
						c.server.SetClockSkew(-drift())
					}
				}
				minutely := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 2}
				var logs logbook
				a := c.startWith("a", nil, []scheduler.Option{scheduler.WithClock(func() time.Time { return time.Now().Add(-drift()) })}, minutely)
				s := c.startWith("s", nil, []scheduler.Option{scheduler.WithLogger(slog.New(&logs))}, minutely)
				driftUntil(2 * time.Hour)
				require.Equal(t, map[string]int{fullID("a"): 1, fullID("s"): 1}, c.owners(), "28.8 seconds")
				require.Zero(t, logs.of(leftByClock))
				driftUntil(2*time.Hour + 10*time.Minute)
				require.Equal(t, 1, logs.of(leftByClock), "31.2 seconds")
				require.Equal(t, map[string]int{fullID("a"): 2}, c.owners())
				driftUntil(5 * time.Hour)
				time.Sleep(5 * time.Second)
				if ahead := rate > 0; ahead {
					s.stop(t)
				} else {
					a.stop(t)
				}
				driftUntil(5*time.Hour + 10*time.Minute)
				times := make(map[string]int)
				for _, r := range c.take() {
					times[fmt.Sprint(r.sc.Fire.Sub(bubbleStart), " ", r.sc.Item)]++
				}
				for fire, n := range times {
					require.Equal(t, 1, n, fire)
				}
				require.GreaterOrEqual(t, len(times), 2*5*60)
			})
		})
	}
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
