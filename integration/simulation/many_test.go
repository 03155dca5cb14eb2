package simulation_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// thousands is how many seeds every run of the tests tries. The package comment tells what so many notice.
	thousands = 1200
	// dozens is how many of them it tries under the race detector, which makes a seed five times dearer.
	dozens = 24
	// patience bounds how long the thousands may take on a machine that is busy with other things. What
	// is not begun by then is left out, and said.
	patience = 80 * time.Second
)

// underRace tells whether the race detector watches.
var underRace bool

// seedsToTry returns how many seeds TestSimulation tries.
func seedsToTry() int {
	switch {
	case *seeds > 0:
		return *seeds
	case underRace:
		return dozens
	default:
		return thousands
	}
}

// TestThousandsOfSeeds has TestSimulation and TestAReplayIsExact run in a test program without the race
// detector, if this one has it.
func TestThousandsOfSeeds(t *testing.T) {
	if !underRace || *seeds > 0 || *seed > 0 {
		t.Skip("TestSimulation does it")
	}
	began := time.Now()
	program := exec.CommandContext(t.Context(), "go", "test", "-race=false", "-v", "-count=1", "-timeout=30m", "-run=^(TestSimulation|TestAReplayIsExact)$", ".",
		fmt.Sprintf("-simulation.seeds=%d", thousands), fmt.Sprintf("-simulation.first=%d", *first), fmt.Sprintf("-simulation.patience=%s", patience))
	program.Env = append(os.Environ(), "GOGC=400") // memory is there, time is not
	output, err := program.CombinedOutput()
	t.Logf("%s with its build\n%s", time.Since(began).Round(time.Second), telling(output))
	require.NoError(t, err)
}

// telling returns the lines of a verbose test run that tell more than that something ran or passed.
func telling(output []byte) []byte {
	return progress.ReplaceAll(output, nil)
}

var progress = regexp.MustCompile(`(?m)^(=== |\s*--- (PASS|SKIP)).*\n`)
