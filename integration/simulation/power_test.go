package simulation_test

import (
	"testing"

	"github.com/elasticron/elasticron/registry"
)

// TestPower tells how many seeds it takes to notice that a guard is missing. It tries each guard that
// TestEachGuardIsNeeded needs, up to as many seeds as -simulation.power says, and fails at none.
func TestPower(t *testing.T) {
	if *power == 0 {
		t.Skip("asked for with -simulation.power=SEEDS")
	}
	for name, x := range breaches() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried, noticed := 0, 0
			for ; tried < *power && noticed < often; tried++ {
				leave := func(r registry.Registry) registry.Registry { return mutant{r, x.without} }
				if faults, _ := simulated(t, planOf(*first+uint64(tried)), leave); len(faults) > 0 {
					noticed++
					t.Logf("seed %d: %.200s", *first+uint64(tried), faults[0])
				}
			}
			t.Logf("%s: noticed by %d of %d seeds", name, noticed, tried)
		})
	}
}

// often is how often a missing guard is to be noticed before the next one is tried.
const often = 5
