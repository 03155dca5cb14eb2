package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// shown returns the runs so far as text, in the order in which they began.
func (c *cluster) shown() []string {
	var shown []string
	for _, r := range c.take() {
		shown = append(shown, r.String())
	}
	return shown
}

// slowOnce is work that takes so long for the fire of second 5, and no time for the others.
func slowOnce(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		if sc.Fire.Equal(bubbleStart.Add(5 * time.Second)) {
			time.Sleep(d)
		}
		return nil
	}
}

// What becomes of the fires at 10, 15, 20 and 25 s that come while the run of second 5 goes on for 22 s.
func TestFiresMissedDuringALongRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*job.Config)
		want   []string
	}{
		"once, by default": {
			change: func(*job.Config) {},
			want: []string{
				"item 0 fire 5s scheduled on a", "item 0 fire 25s misfire on a", "item 0 fire 30s scheduled on a",
			},
		},
		"off": {
			change: func(c *job.Config) { c.Misfire = job.MisfireSkip },
			want:   []string{"item 0 fire 5s scheduled on a", "item 0 fire 30s scheduled on a"},
		},
		"all": {
			change: func(c *job.Config) { c.Misfire = job.MisfireAll },
			want: []string{
				"item 0 fire 5s scheduled on a", "item 0 fire 10s misfire on a", "item 0 fire 15s misfire on a",
				"item 0 fire 20s misfire on a", "item 0 fire 25s misfire on a", "item 0 fire 30s scheduled on a",
			},
		},
		"all, at most two": {
			change: func(c *job.Config) { c.Misfire, c.MisfireMax = job.MisfireAll, 2 },
			want: []string{
				"item 0 fire 5s scheduled on a", "item 0 fire 20s misfire on a", "item 0 fire 25s misfire on a",
				"item 0 fire 30s scheduled on a",
			},
		},
		"all, not older than ten seconds": {
			change: func(c *job.Config) { c.Misfire, c.MisfireWindow = job.MisfireAll, 10*time.Second },
			want: []string{
				"item 0 fire 5s scheduled on a", "item 0 fire 20s misfire on a", "item 0 fire 25s misfire on a",
				"item 0 fire 30s scheduled on a",
			},
		},
		"once, unmonitored": {
			change: func(c *job.Config) { c.Unmonitored = true },
			want: []string{
				"item 0 fire 5s scheduled on a", "item 0 fire 25s misfire on a", "item 0 fire 30s scheduled on a",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(1)
				test.change(&cfg)
				c.start("a", slowOnce(22*time.Second), cfg)
				sleepUntil(32 * time.Second)
				require.Equal(t, test.want, c.shown())
				require.False(t, c.state().Item(0).Misfire.Exists(), "nothing is left to be made up")
			})
		})
	}
}

// A missed fire that its owner noted and did not live to make up is made up by the next one.
func TestAMissedFireSurvivesItsOwner(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "5,11 0 0 * * ?", ShardingTotalCount: 1}
		a := c.start("a", nil, cfg)
		sleepUntil(10 * time.Second)
		noted := jobtree.Misfire{Fires: jobtree.MissedFires(bubbleStart.Add(11 * time.Second))}
		put(t, c.server, "/orders/sharding/0/misfire", jobtree.EncodeMisfire(noted))
		a.stop(t)
		c.take()
		sleepUntil(12 * time.Second)
		c.start("b", nil, cfg)
		sleepUntil(13 * time.Second)
		require.Equal(t, []string{"item 0 fire 11s misfire on b"}, c.shown())
		require.False(t, c.state().Item(0).Misfire.Exists())
	})
}

// Nobody ticks while nobody lives: those fires are made up only by a policy with a window.
func TestFiresWhileNobodyLives(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*job.Config)
		want   []string
	}{
		"not by default": {change: func(*job.Config) {}, want: []string{"item 0 fire 30s scheduled on b"}},
		"once, within a window": {
			change: func(c *job.Config) { c.MisfireWindow = 60 * time.Second },
			want:   []string{"item 0 fire 25s misfire on b", "item 0 fire 30s scheduled on b"},
		},
		"all, within a window": {
			change: func(c *job.Config) { c.Misfire, c.MisfireWindow = job.MisfireAll, 12*time.Second },
			want: []string{
				"item 0 fire 15s misfire on b", "item 0 fire 20s misfire on b", "item 0 fire 25s misfire on b",
				"item 0 fire 30s scheduled on b",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(1)
				test.change(&cfg)
				a := c.start("a", nil, cfg)
				sleepUntil(6 * time.Second)
				a.stop(t)
				c.take()
				sleepUntil(26 * time.Second)
				c.start("b", nil, cfg)
				sleepUntil(32 * time.Second)
				require.Equal(t, test.want, c.shown())
			})
		})
	}
}

// How far a window reaches back is told by the item's record: a job that never ran may be new, and owes
// nothing for the time before.
func TestAWindowReachesBackToTheRecord(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		starts time.Duration // then it lives until 3.5 s; 0 = never
		byHand bool
		ran    []string
		want   []string
	}{
		"a new job":              {want: []string{"item 0 fire 10s scheduled on b"}},
		"an item that never ran": {starts: 2500 * time.Millisecond, want: []string{"item 0 fire 10s scheduled on b"}},
		"an item that ran by hand": {
			starts: 2500 * time.Millisecond, byHand: true,
			ran:  []string{"item 0 fire by hand manual on a"},
			want: []string{"item 0 fire 5s misfire on b", "item 0 fire 10s scheduled on b"},
		},
		"an item that ran for a fire": {
			starts: time.Second,
			ran:    []string{"item 0 fire 2s scheduled on a"},
			want:   []string{"item 0 fire 5s misfire on b", "item 0 fire 10s scheduled on b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "2,5,10 0 0 * * ?", ShardingTotalCount: 1}
				cfg.Misfire, cfg.MisfireWindow = job.MisfireAll, 3_600*time.Second
				if test.starts > 0 {
					sleepUntil(test.starts)
					a := c.start("a", nil, cfg)
					sleepUntil(3 * time.Second)
					if test.byHand {
						trigger(t, a)
					}
					sleepUntil(3500 * time.Millisecond)
					a.crash(t)
				}
				require.Equal(t, test.ran, c.shown())
				sleepUntil(9 * time.Second)
				c.start("b", nil, cfg)
				sleepUntil(12 * time.Second)
				require.Equal(t, test.want, c.shown())
			})
		})
	}
}

// A manual run is never a misfire, nor does it hide one; it goes first, see TestARequestIsNotHeldUpByMissedFires.
func TestATriggerIsNoMisfire(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", slowOnce(8*time.Second), jobOf(1))
		sleepUntil(6 * time.Second)
		trigger(t, a)
		sleepUntil(14 * time.Second)
		require.Equal(t, []string{
			"item 0 fire 5s scheduled on a", "item 0 fire by hand manual on a", "item 0 fire 10s misfire on a",
		}, c.shown())
	})
}

// skewed is an instance whose wall clock is off by what its test sets.
func (c *cluster) skewed(cfg job.Config) (set func(time.Duration)) {
	c.t.Helper()
	var clock wallClock
	reg := c.server.Open("test", memory.WithTTL(5*time.Second))
	s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("s")), scheduler.WithClock(clock.now))
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record("s", nil))))
	c.run(s, reg)
	<-s.Ready()
	return clock.set
}
