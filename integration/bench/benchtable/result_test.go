package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseResult(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line string
		want result
	}{
		{"BenchmarkNext-2 \t 10\t 12.5 ns/op", result{"Next", []figure{{12.5, "ns/op"}}}},
		{"BenchmarkZone/UTC-5-16 1 1 ns/op 0 B/op", result{"Zone/UTC-5", []figure{{1, "ns/op"}, {0, "B/op"}}}},
		{"BenchmarkOne 1 -3 beyond-ttl-ms", result{"One", []figure{{-3, "beyond-ttl-ms"}}}},
	} {
		got, ok := parseResult(test.line)
		require.True(t, ok, test.line)
		require.Equal(t, test.want, got, test.line)
	}
}

func TestParseResultLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "PASS", "BenchmarkNext", "BenchmarkNext-2 10", "BenchmarkNext-2 10 12",
		"BenchmarkNext-2 many 12 ns/op", "BenchmarkNext-2 10 twelve ns/op", "  BenchmarkNext-2 10 12 ns/op",
	} {
		_, ok := parseResult(line)
		require.False(t, ok, "%q", line)
	}
}
