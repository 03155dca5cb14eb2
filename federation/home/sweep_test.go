package home_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/registry"
)

// A mover dies before each of its transactions, whatever the registries had said of the job: what leads to it, in all ways there
// are, or to where nothing is, as after a removal. Whoever looks finds it on its way or there, no process creates it anew, and the
// next call completes the move. Registries that are alike, as b and c, make no difference: it moves to one of them.
func TestAMoverDiesAnywhereAmongWords(t *testing.T) {
	t.Parallel()
	for _, way := range [][]string{{"a", "b"}, {"a", "dir"}, {"dir", "b"}} {
		for _, words := range waysTo(way[0]) {
			for dies, over := 0, false; !over; dies++ {
				synctest.Test(t, func(t *testing.T) { over = diesAmong(t, way[0], words, way[1], dies) })
			}
		}
	}
}

// waysTo returns what registries may say of a job that one of them has: each of the others nothing, or a registry. Circles are left
// out. Words that lead elsewhere are left out, too, but for those that end where nothing is, if the directory begins them.
func waysTo(in string) (all []map[string]string) {
	others := []string{}
	for _, name := range names {
		if name != in {
			others = append(others, name)
		}
	}
	for code := range 64 {
		words := make(map[string]string)
		for i, name := range others {
			said := []string{""}
			for _, home := range names {
				if home != name {
					said = append(said, home)
				}
			}
			if home := said[code>>(2*i)&3]; home != "" {
				words[name] = home
			}
		}
		possible := true
		for name := range words {
			at, steps := name, 0
			for words[at] != "" && steps < len(names) {
				at, steps = words[at], steps+1
			}
			misled := at != in && name == "dir" && steps == 1
			possible = possible && (at == in || misled || words["dir"] == at && steps < len(names))
		}
		if possible {
			all = append(all, words)
		}
	}
	return all
}

// diesAmong tells whether the move was over before that.
func diesAmong(t *testing.T, in string, words map[string]string, to string, dies int) (over bool) {
	t.Helper()
	w := newWorld(t)
	w.store(in)
	for name, home := range words {
		w.put(name, at(home))
	}
	count := 0
	first := w.directory(func(_ string, txn registry.Txn, do func() error) error {
		if !tries(txn) {
			count++
		}
		if count > dies {
			return errDied
		}
		return do()
	})
	_, err := first.Move(t.Context(), "orders", to, home.MoveOptions{})
	if err == nil {
		return true
	}
	require.ErrorIs(t, err, errDied, "%s among %v to %s", in, words, to)
	p := w.claimed()
	require.True(t, p.Exists || p.From != "", "%s among %v to %s, at %d: in %s", in, words, to, dies, p.Registry)
	w.move(to)
	w.livesOnlyIn(to)
	return false
}
