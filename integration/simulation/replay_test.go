package simulation_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAReplayIsExact runs some seeds again, one with operators among them, and one in which the registry denies much: the same
// happens, to the nanosecond and the byte.
func TestAReplayIsExact(t *testing.T) {
	if underRace {
		t.Skip("TestThousandsOfSeeds does it, for a fifth of the price")
	}
	t.Parallel()
	const some, denied = 16, 1007
	tried, kinds := []uint64{denied}, make(map[string]bool)
	for s := range uint64(some) {
		if kind := planOf(s).kind; kind != gates {
			tried, kinds[kind] = append(tried, s), true
		}
	}
	require.True(t, kinds[operators])
	for _, s := range tried {
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			t.Parallel()
			replay(t, s, 3)
		})
	}
}

// replay tries a seed again and again, and compares each try with the first.
func replay(t *testing.T, seed uint64, tries int) {
	t.Helper()
	var first []byte
	for try := range tries {
		now := transcript(simulate(t, seed))
		if try == 0 {
			first = now
			continue
		}
		require.Empty(t, firstDifference(first, now), "try %d of seed %d went another way", try+1, seed)
	}
}

// firstDifference returns the first lines in which two transcripts differ; "" if none do.
func firstDifference(a, b []byte) string {
	inA, inB := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(inA), len(inB)) {
		if !bytes.Equal(inA[i], inB[i]) {
			return fmt.Sprintf("line %d\n%s\n%s", i+1, inA[i], inB[i])
		}
	}
	if len(inA) != len(inB) {
		return fmt.Sprintf("%d lines and %d lines", len(inA), len(inB))
	}
	return ""
}
