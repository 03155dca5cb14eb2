package etcd

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/registry"
)

func TestFootprint(t *testing.T) {
	t.Parallel()
	first := registry.Txn{
		If:   []registry.Condition{registry.Absent("/read")},
		Then: []registry.Write{registry.Put("/put", ""), registry.DeleteTree("/tree")},
	}
	tests := []struct {
		name  string
		txn   registry.Txn
		meets bool
	}{
		{"reads what was read", registry.Txn{If: []registry.Condition{registry.Absent("/read")}}, false},
		{"reads what was written", registry.Txn{If: []registry.Condition{registry.Absent("/put")}}, true},
		{"writes what was read", registry.Txn{Then: []registry.Write{registry.Put("/read", "")}}, true},
		{"writes what was written", registry.Txn{Then: []registry.Write{registry.Delete("/put")}}, true},
		{"reads in the tree", registry.Txn{If: []registry.Condition{registry.Present("/tree/a/b")}}, true},
		{"writes in the tree", registry.Txn{Then: []registry.Write{registry.Put("/tree/a", "")}}, true},
		{"writes beside the tree", registry.Txn{Then: []registry.Write{registry.Put("/trees/a", "")}}, false},
		{"deletes a tree with what was put", registry.Txn{Then: []registry.Write{registry.DeleteTree("/put")}}, true},
		{"deletes a tree within the tree", registry.Txn{Then: []registry.Write{registry.DeleteTree("/tree/a")}}, true},
		{"is elsewhere", registry.Txn{Then: []registry.Write{registry.DeleteTree("/else")}}, false},
	}
	for _, tt := range tests {
		f := newFootprint()
		f.add(first)
		require.Equal(t, tt.meets, f.conflictsWith(tt.txn), tt.name)
	}
}

// TestSharedRequestsAreLikeSingleOnes judges transactions that do not meet as etcd does, all on the
// state before the request, and one after the other. Nobody can tell the difference.
func TestSharedRequestsAreLikeSingleOnes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		state := map[string]bool{}
		for _, p := range rapid.SliceOfN(path(), 0, 5).Draw(t, "there") {
			state[p] = true
		}
		footprint := newFootprint()
		var batch []registry.Txn
		for _, txn := range rapid.SliceOfN(txn(), 1, 6).Draw(t, "txns") {
			if txn.Check() == nil && !footprint.conflictsWith(txn) {
				footprint.add(txn)
				batch = append(batch, txn)
			}
		}
		together, oneByOne := clone(state), clone(state)
		for _, txn := range batch {
			require.Equal(t, holds(txn, oneByOne), holds(txn, state), "the same outcome")
			if holds(txn, state) {
				carryOut(txn, together)
			}
			if holds(txn, oneByOne) {
				carryOut(txn, oneByOne)
			}
		}
		require.Equal(t, oneByOne, together)
	})
}

func path() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"/a", "/a/b", "/a/b/c", "/a-b", "/b", "/b/c", "/c"})
}

func txn() *rapid.Generator[registry.Txn] {
	condition := rapid.Custom(func(t *rapid.T) registry.Condition {
		return rapid.SampledFrom([]func(string) registry.Condition{registry.Absent, registry.Present}).Draw(t, "kind")(path().Draw(t, "path"))
	})
	write := rapid.Custom(func(t *rapid.T) registry.Write {
		p := path().Draw(t, "path")
		return rapid.SampledFrom([]registry.Write{
			registry.Put(p, ""), registry.Update(p, ""), registry.Delete(p), registry.DeleteTree(p),
		}).Draw(t, "write")
	})
	return rapid.Custom(func(t *rapid.T) registry.Txn {
		return registry.Txn{
			If:   rapid.SliceOfN(condition, 0, 2).Draw(t, "if"),
			Then: rapid.SliceOfN(write, 1, 3).Draw(t, "then"),
		}
	})
}

func clone(state map[string]bool) map[string]bool {
	copied := map[string]bool{}
	for p := range state {
		copied[p] = true
	}
	return copied
}

func holds(txn registry.Txn, state map[string]bool) bool {
	for _, c := range txn.Guards() {
		if state[c.Path] != (c.Kind == registry.CondPresent) {
			return false
		}
	}
	return true
}

func carryOut(txn registry.Txn, state map[string]bool) {
	for _, w := range txn.Then {
		switch w.Kind {
		case registry.WritePut, registry.WriteUpdate:
			state[w.Path] = true
		default:
			for p := range state {
				if w.Touches(p) {
					delete(state, p)
				}
			}
		}
	}
}
