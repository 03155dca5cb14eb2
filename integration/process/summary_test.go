//go:build linux

package process_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// report prints what there was to judge, in one place: executions, faults by kind, and how long it took
// to recover from them.
func (c *chaos) report(all *observations, took time.Duration) {
	counts := c.fence.judge(c.t)
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d executions in %s, %d processes, %d states of the registry\n",
		c.t.Name(), counts.begun, took.Round(time.Second), len(c.processes), len(all.states))
	n := 0
	for _, f := range slices.Sorted(maps.Keys(c.injected)) {
		n += c.injected[f]
		fmt.Fprintf(&text, "  %3d x %s\n", c.injected[f], f)
	}
	fmt.Fprintf(&text, "  %3d faults in all\n", n)
	fmt.Fprintf(&text, "  items of a lost instance had new owners after TTL (%s) and %s\n", c.rules.TTL, spread(c.handovers(all), -c.rules.TTL))
	fmt.Fprintf(&text, "  executions that died ran again after TTL and %s\n", spread(c.rerunTimes(all), -c.rules.TTL))
	fmt.Fprintf(&text, "  items ran again after the store served: %s\n", spread(c.resumptions(all), 0))
	fmt.Fprintf(&text, "  fenced store: %d results taken, %d refused as stale, %d late starts, %d checkpoints confirmed",
		counts.written, counts.refused, counts.stale, counts.saved)
	c.t.Log(text.String())
}

// rerunTimes returns how long it took until what died with a process ran again.
func (c *chaos) rerunTimes(all *observations) (times []time.Duration) {
	for _, cfg := range c.jobs {
		for _, r := range all.reruns(cfg.Name) {
			times = append(times, r.after())
		}
	}
	return times
}

// handovers returns, for each crash that took items from an instance, how long it took until all of a
// job's had another owner.
func (c *chaos) handovers(all *observations) (times []time.Duration) {
	for _, cfg := range c.jobs {
		states := all.history(cfg.Name).States
		for _, i := range all.incidents {
			if i.Kind != checker.Crashed {
				continue
			}
			until := ownedUntil(cfg.Name, states, i.Instance, i.From)
			back := slices.ContainsFunc(all.incidents, func(s checker.Incident) bool {
				return s.Kind == checker.Started && s.Instance == i.Instance && s.From.After(i.From) && s.From.Before(until)
			})
			if !until.IsZero() && !back { // who is back under its id may keep its items
				times = append(times, until.Sub(i.From))
			}
		}
	}
	return times
}

// ownedUntil returns when the last item moved away from an instance that it owned at a time; zero if it
// owned none, or one stayed.
func ownedUntil(name string, states []checker.State, instance string, from time.Time) time.Time {
	s := jobtree.NewState(name)
	owned := make(map[int]bool)
	for i, state := range states {
		touched := s.Apply(state.Step)
		if state.At.Before(from) {
			if i+1 == len(states) || !states[i+1].At.Before(from) {
				for n := range s.Total() {
					if s.Owner(n) == instance {
						owned[n] = true
					}
				}
			}
			continue
		}
		if len(owned) == 0 {
			return time.Time{}
		}
		if !touched.Epoch && !touched.Owners {
			continue
		}
		for n := range owned {
			if s.Owner(n) != instance {
				delete(owned, n)
			}
		}
		if len(owned) == 0 {
			return state.At
		}
	}
	return time.Time{}
}

// resumptions returns, for each trouble of the store, how long it took from its end until some item of
// each job ran.
func (c *chaos) resumptions(all *observations) (times []time.Duration) {
	c.mu.Lock()
	incidents := slices.Clone(c.incidents) // as they were, before allowances
	c.mu.Unlock()
	for _, cfg := range c.jobs {
		runs := all.history(cfg.Name).Runs
		for _, i := range incidents {
			if i.Kind != checker.Down {
				continue
			}
			next := slices.IndexFunc(runs, func(r checker.Run) bool { return r.Began.After(i.Until) })
			if next >= 0 {
				times = append(times, runs[next].Began.Sub(i.Until))
			}
		}
	}
	return times
}

// spread tells the middle, the 99th percentile and the longest of some times, each shifted.
func spread(times []time.Duration, shift time.Duration) string {
	if len(times) == 0 {
		return "(none)"
	}
	slices.Sort(times)
	at := func(share float64) time.Duration {
		return (times[int(share*float64(len(times)-1))] + shift).Round(10 * time.Millisecond)
	}
	return fmt.Sprintf("p50 %s, p99 %s, max %s (%d)", at(0.5), at(0.99), at(1), len(times))
}

func TestSpread(t *testing.T) {
	t.Parallel()
	require.Equal(t, "(none)", spread(nil, 0))
	var times []time.Duration
	for n := range 101 {
		times = append(times, time.Duration(100-n)*time.Second)
	}
	require.Equal(t, "p50 45s, p99 1m34s, max 1m35s (101)", spread(times, -5*time.Second))
}
