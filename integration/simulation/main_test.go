package simulation_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var (
	seeds   = flag.Int("simulation.seeds", 0, "how many seeds TestSimulation tries; 0 = thousands, and dozens of them under the race detector")
	first   = flag.Uint64("simulation.first", 1, "the first of them")
	seed    = flag.Uint64("simulation.seed", 0, "the only seed to try, again and again; 0 = as many as simulation.seeds says")
	power   = flag.Int("simulation.power", 0, "how many seeds TestPower tries for each guard that is left out; 0 = it is skipped")
	patient = flag.Duration("simulation.patience", 0, "after what time TestSimulation begins no further seed; 0 = it goes on")
	kind    = flag.String("simulation.kind", "", "TestSimulation and TestPower leave out seeds of other kinds than this; empty = they do not")
	repeat  = flag.Int("simulation.repeat", 5, "how often simulation.seed is tried")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
