package chance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/chance"
)

// The same moment and the same name bring the same, and a part of a time is less than that.
func TestWithin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(0, rapid.Int64().Draw(t, "now"))
		what := rapid.String().Draw(t, "what")
		d := time.Duration(rapid.Int64Min(1).Draw(t, "time"))
		first := chance.Within(d, now, what)
		require.Equal(t, first, chance.Within(d, now, what))
		require.GreaterOrEqual(t, first, time.Duration(0))
		require.Less(t, first, d)
	})
	require.Zero(t, chance.Within(0, time.Now(), ""))
	require.Zero(t, chance.Within(-time.Second, time.Now(), ""))
}

// What is chosen a nanosecond later, or for something else, is spread over the whole time.
func TestChoicesAreSpread(t *testing.T) {
	t.Parallel()
	const tries, parts = 4000, 8
	now := time.Unix(1_700_000_000, 0)
	for name, choose := range map[string]func(i int) time.Duration{
		"by the moment": func(i int) time.Duration { return chance.Within(parts, now.Add(time.Duration(i)), "orders") },
		"by the name":   func(i int) time.Duration { return chance.Within(parts, now, "orders"+time.Duration(i).String()) },
	} {
		var found [parts]int
		for i := range tries {
			found[choose(i)]++
		}
		for part, n := range found {
			require.InDelta(t, tries/parts, n, tries/parts/4, "%s, part %d", name, part)
		}
	}
}
