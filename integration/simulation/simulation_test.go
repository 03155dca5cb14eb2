package simulation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// TestSimulation breaks clusters in ways that seeds decide, and finds nothing to complain about.
func TestSimulation(t *testing.T) {
	t.Parallel()
	if *seed != 0 {
		for i := range *repeat {
			t.Run(fmt.Sprintf("seed=%d/try=%d", *seed, i), func(t *testing.T) { simulate(t, *seed) })
		}
		return
	}
	for s := *first; s < *first+uint64(*seeds); s++ {
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			t.Parallel()
			simulate(t, s)
		})
	}
}

// simulate tries a seed and reports what is wrong.
func simulate(t *testing.T, seed uint64) {
	p := planOf(seed)
	began := time.Now()
	faults, virtual := simulated(t, p, nil)
	if len(faults) > 0 {
		t.Logf("%s\nreplay with: go test ./integration/simulation -run TestSimulation -simulation.seed=%d -simulation.repeat=20", p.String(), seed)
	}
	for i, fault := range faults {
		if i == 10 {
			t.Errorf("and %d more", len(faults)-i)
			break
		}
		t.Error(fault)
	}
	t.Logf("seed %d: %s of virtual time in %s", seed, virtual, time.Since(began))
}

// simulated carries a plan out, with the registry of every process wrapped if wrap is not nil. It
// returns what is wrong, and how much virtual time went by.
func simulated(t *testing.T, p plan, wrap func(registry.Registry) registry.Registry) (faults []string, virtual time.Duration) {
	t.Helper()
	findings := inBubble(t, p.config, func(t *testing.T, c *cluster) {
		if wrap != nil {
			c.wrap = wrap
		}
		faults = drive(t, c, p)
		virtual = time.Since(bubbleStart)
	})
	for _, f := range findings {
		faults = append(faults, f.String())
	}
	return faults, virtual
}
