package simulation_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// TestPower tells how many seeds it takes to notice that a guard is missing. It tries each guard that
// TestEachGuardIsNeeded needs, up to as many seeds as -simulation.power says, and fails at none: some
// guards only matter in stories that no seed is likely to tell.
func TestPower(t *testing.T) {
	if *power == 0 {
		t.Skip("asked for with -simulation.power=SEEDS")
	}
	all := breaches()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		without := all[name].without
		began := time.Now()
		tried, caught := 0, 0
		for ; tried < *power && caught < enough; tried++ {
			faults, _ := simulated(t, planOf(*first+uint64(tried)), func(r registry.Registry) registry.Registry { return mutant{r, without} })
			if len(faults) > 0 {
				caught++
			}
		}
		t.Logf("| %s | %d of %d | %.1f s |", strings.ReplaceAll(name, "|", "/"), caught, tried, time.Since(began).Seconds())
	}
}

// enough is how often a missing guard is to be noticed before the next one is tried.
const enough = 5
