package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// byHand returns the runs that somebody asked for.
func byHand(runs []run) (asked []run) {
	for _, r := range runs {
		if r.sc.Source == job.Manual {
			asked = append(asked, r)
		}
	}
	return asked
}

// Where a fire has always been missed when a run ends, a request still runs right after what runs, and the fires go on.
func TestARequestIsNotHeldUpByMissedFires(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*job.Config){
		"once":        func(cfg *job.Config) { cfg.Misfire = job.MisfireOnce },
		"all":         func(cfg *job.Config) { cfg.Misfire = job.MisfireAll },
		"skip":        func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip },
		"delay":       func(cfg *job.Config) { cfg.Cron = "@delay 1ms" },
		"unmonitored": func(cfg *job.Config) { cfg.Unmonitored = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(2)
				cfg.Cron = "* * * * * ?"
				change(&cfg)
				a := c.start("a", took(2500*time.Millisecond), cfg)
				a.registry.SetLatency(2 * time.Millisecond)
				sleepUntil(10 * time.Second)
				for range 3 { // also if one request follows the other
					c.take()
					trigger(t, a)
					time.Sleep(10 * time.Second)
					runs := c.take()
					require.Len(t, byHand(runs), 2)
					require.GreaterOrEqual(t, len(runs), 6, "%v", runs)
				}
			})
		})
	}
}
