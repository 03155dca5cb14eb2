package job_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/job"
)

func TestParseItemParameters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[int]string{
		"":                    {},
		" , ,":                {},
		"0=A":                 {0: "A"},
		"0=A,1=B,2=C":         {0: "A", 1: "B", 2: "C"},
		" 0 = a b ,\t10=B , ": {0: "a b", 10: "B"},
		"007=Bond":            {7: "Bond"},
		"2147483647=last":     {2147483647: "last"},
	} {
		got, err := job.ParseItemParameters(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestParseItemParametersRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0":            `"0" is not of the form item=text`,
		"0=":           `"0=" is not of the form`,
		"0=A=B":        `"0=A=B" is not of the form`,
		"0==B":         `"0==B" is not of the form`,
		"=A":           `item "" in "=A" is not a number`,
		"-1=A":         `item "-1" in "-1=A" is not a number`,
		"+1=A":         `item "+1"`,
		"x=A":          `item "x"`,
		"2147483648=A": `item "2147483648"`,
		"0=A,,1=B":     `"" is not of the form`,
		",0=A":         `"" is not of the form`,
		"0=A,00=B":     "item 0 has two parameters",
	} {
		_, err := job.ParseItemParameters(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestParseItemParametersReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.IntRange(0, 1<<31-1), rapid.StringMatching(`[a-zä 作&]{0,8}[a-z]`)).Draw(t, "parameters")
		var pairs []string
		for _, item := range slices.Sorted(maps.Keys(want)) {
			pairs = append(pairs, fmt.Sprintf("%d=%s", item, want[item]))
		}
		got, err := job.ParseItemParameters(strings.Join(pairs, ","))
		require.NoError(t, err)
		for item, text := range want {
			require.Equal(t, strings.TrimSpace(text), got[item])
		}
		require.Len(t, got, len(want))
	})
}

func FuzzParseItemParameters(f *testing.F) {
	for _, seed := range []string{"", "0=A,1=B", "0=A=B", " 1 = x ,", "0=,", "9999999999=A"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parameters, err := job.ParseItemParameters(text)
		if err != nil {
			require.Nil(t, parameters)
			return
		}
		for item, parameter := range parameters {
			require.GreaterOrEqual(t, item, 0)
			require.NotEmpty(t, parameter)
			require.NotContains(t, parameter, "=")
		}
	})
}
