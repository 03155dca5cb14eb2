package federation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/job"
)

// Jobs are spread evenly, whatever the order of the registries, and one registry more takes jobs from each of the others and
// moves none between them.
func TestRendezvous(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9-]{0,8}`), 2, 6, rapid.ID).Draw(t, "registries")
		prefix := rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "prefix")
		added := "zz-added"
		rule, shuffled := federation.Rendezvous(before...), federation.Rendezvous(rapid.Permutation(before).Draw(t, "order")...)
		after := federation.Rendezvous(append([]string{added}, before...)...)
		const jobs = 2_000
		count := make(map[string]int)
		for i := range jobs {
			cfg := job.Config{Name: fmt.Sprintf("%s%d", prefix, i)}
			at := rule(cfg)
			count[at]++
			require.Equal(t, at, shuffled(cfg))
			if moved := after(cfg); moved != at {
				require.Equal(t, added, moved)
			}
		}
		for _, name := range before {
			require.InDelta(t, jobs/len(before), count[name], float64(jobs/len(before))/3, "%s of %v", name, before)
		}
	})
}

// What a version says of a job, every later one must say, too.
func TestRendezvousIsTheSameInEveryVersion(t *testing.T) {
	t.Parallel()
	rule := federation.Rendezvous("one", "two", "three")
	got := ""
	for _, name := range []string{"orders", "mail", "report", "invoices", "a", "b", "c", "d"} {
		got += rule(job.Config{Name: name}) + " "
	}
	require.Equal(t, "two two two one one two two one ", got)
}

func TestByPrefix(t *testing.T) {
	t.Parallel()
	rule := federation.ByPrefix(map[string]string{"a": "one", "abc": "two", "orders": "three"}, func(job.Config) string { return "four" })
	for name, want := range map[string]string{"ab": "one", "abcd": "two", "orders": "three", "mail": "four"} {
		require.Equal(t, want, rule(job.Config{Name: name}), name)
	}
}

// A rule without another for the rest names nothing there, which is refused.
func TestByPrefixAlone(t *testing.T) {
	t.Parallel()
	require.Empty(t, federation.ByPrefix(nil, nil)(job.Config{Name: "mail"}))
}
