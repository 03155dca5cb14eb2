package tally_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
)

// Whatever happens to the items, as long as every run is allowed, all rounds settle and are exact;
// and any single run left out or repeated is found.
func TestEveryLegalStoryIsExactAndEveryBrokenOneIsNot(t *testing.T) {
	t.Parallel()
	truth := theTruth(t)
	rapid.Check(t, func(rt *rapid.T) {
		rounds := rapid.IntRange(3, 8).Draw(rt, "rounds")
		var story []step
		for item := range 3 {
			story = append(story, legal(rt, item, rounds)...)
		}
		j := tell(t, truth, story)
		require.Empty(rt, j.Faults())
		require.Len(rt, j.Settled(), rounds)
		require.Empty(rt, j.Faults(), "after the wholes are compared")

		victim := rapid.SampledFrom(story).Draw(rt, "victim").run
		victim.Token += 5 // above its own, below that of the next round
		victim.Source = job.Scheduled
		var doubled []step
		for _, s := range story {
			doubled = append(doubled, s)
			if s.run.Item == victim.Item && s.run.Fire.Equal(victim.Fire) && s.run.Token == victim.Token-5 {
				doubled = append(doubled, step{run: victim})
			}
		}
		require.NotEmpty(rt, tell(t, truth, doubled).Faults())
	})
}

// legal is a story of one item with runs for the first and the last round: each round has a run of its
// own, which may be lost and be run again, or is caught up later.
func legal(t *rapid.T, item, rounds int) []step {
	var story []step
	missed := false
	for n := 1; n <= rounds; n++ {
		token := int64(100 * n)
		if n > 1 && n < rounds && rapid.Bool().Draw(t, "miss") {
			missed = true
			continue
		}
		source := job.Scheduled
		if missed {
			source = job.Misfire
		}
		missed = false
		story = append(story, by("a", item, n, source, token))
		if rapid.Bool().Draw(t, "lose") {
			story = append(story, by("b", item, n, job.Failover, token+10))
		}
	}
	return story
}

func TestStoreKeepsTheHighestToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var store tally.Store
		highest := make(map[int]int64)
		_, found := store.Latest(0)
		require.False(t, found)
		writes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tally.Result {
			return tally.Result{
				Item:  rapid.IntRange(0, 2).Draw(t, "item"),
				Token: rapid.Int64Range(1, 9).Draw(t, "token"),
			}
		}), 1, 30).Draw(t, "writes")
		for _, w := range writes {
			err := store.Put(w)
			require.Equal(t, w.Token < highest[w.Item], err != nil)
			highest[w.Item] = max(highest[w.Item], w.Token)
			held, _ := store.Latest(w.Item)
			require.Equal(t, highest[w.Item], held.Token)
		}
	})
}
