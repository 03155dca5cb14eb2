package simulation_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var (
	seeds  = flag.Int("simulation.seeds", 20, "how many seeds TestSimulation tries")
	first  = flag.Uint64("simulation.first", 1, "the first of them")
	seed   = flag.Uint64("simulation.seed", 0, "the only seed to try; 0 = as many as simulation.seeds says")
	repeat = flag.Int("simulation.repeat", 5, "how often simulation.seed is tried")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
