package simulation_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/registry"
)

// TestSimulation breaks clusters in ways that seeds decide, and finds nothing to complain about.
func TestSimulation(t *testing.T) {
	if *seed != 0 {
		replay(t, *seed, *repeat)
		return
	}
	began := time.Now()
	var tried, virtual atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d seeds, %s of virtual time, in %s", tried.Load(), time.Duration(virtual.Load()).Round(time.Minute), time.Since(began).Round(time.Second))
	})
	t.Parallel()
	for s := *first; s < *first+uint64(seedsToTry()); s++ {
		if *kind != "" && planOf(s).kind != *kind {
			continue
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			t.Parallel()
			if *patient > 0 && time.Since(began) > *patient {
				return // the count below tells
			}
			h := simulate(t, s)
			tried.Add(1)
			virtual.Add(int64(h.End.Sub(bubbleStart)))
		})
	}
}

// simulate tries a seed, reports what is wrong, and returns what happened.
func simulate(t *testing.T, seed uint64) checker.History {
	t.Helper()
	p := planOf(seed)
	faults, h := simulated(t, p, nil)
	if len(faults) > 0 {
		t.Logf("%s\nreplay with: go test ./integration/simulation -run TestSimulation -simulation.seed=%d", p.String(), seed)
		for _, i := range h.Incidents {
			if i.Kind == checker.Tampered || i.Kind == checker.Misset {
				t.Log(i)
			}
		}
	}
	for i, fault := range faults {
		if i == 10 {
			t.Errorf("and %d more", len(faults)-i)
			break
		}
		t.Error(fault)
	}
	return h
}

// simulated carries a plan out, with the registry of every process wrapped if wrap is not nil. It
// returns what is wrong, and what happened.
func simulated(t *testing.T, p plan, wrap func(registry.Registry) registry.Registry) (faults []string, h checker.History) {
	t.Helper()
	require.NoError(t, p.config.Validate())
	findings := inBubble(t, p.config, func(t *testing.T, c *cluster) {
		if wrap != nil {
			c.wrap = wrap
		}
		faults = drive(t, c, p)
		h = c.rec.history()
	})
	for _, f := range findings {
		faults = append(faults, f.String())
	}
	return faults, h
}
