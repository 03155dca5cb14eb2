package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScaled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ns    float64
		value string
		unit  string
	}{
		{0.5, "0.50", "ns"},
		{999, "999", "ns"},
		{1_000, "1.00", "µs"},
		{25_350_000, "25.4", "ms"},
		{4_321_000_000, "4.32", "s"},
		{7_200_000_000_000, "7200", "s"},
	} {
		value, unit := scaled(test.ns)
		require.Equal(t, test.value, digits(value), test.ns)
		require.Equal(t, test.unit, unit, test.ns)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"late-p99-ms": {"ms", "late p99"}, "apart-x": {"x", "apart"},
		"goroutines": {"goroutines", ""}, "B/job": {"B/job", ""}, "ms": {"ms", ""}, "a-b": {"a-b", ""},
	} {
		unit, what := figure{unit: name}.split()
		require.Equal(t, want, [2]string{unit, what}, name)
	}
}
