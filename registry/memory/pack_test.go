package memory

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/registry"
)

func anyTxn() *rapid.Generator[registry.Txn] {
	path := rapid.SampledFrom([]string{"/a", "/a/1", "/a/10", "/a/1/x", "/b", "/b/c", "/d", "/e", "/f/g"})
	return rapid.Custom(func(t *rapid.T) registry.Txn {
		var txn registry.Txn
		for _, p := range rapid.SliceOfN(path, 0, 2).Draw(t, "conditions") {
			txn.If = append(txn.If, registry.Present(p))
		}
		for _, p := range rapid.SliceOfNDistinct(path, 1, 2, rapid.ID).Draw(t, "writes") {
			w := registry.Put(p, rapid.StringN(0, 5, 20).Draw(t, "value"))
			if rapid.IntRange(0, 4).Draw(t, "deletes") == 0 {
				w = registry.DeleteTree(p)
			}
			txn.Then = append(txn.Then, w)
		}
		return txn
	})
}

// touch tells, as plainly as possible, whether two transactions may not be judged on one state.
func touch(a, b registry.Txn) bool { return disturbs(a, b) || disturbs(b, a) }

func disturbs(writer, reader registry.Txn) bool {
	for _, w := range writer.Then {
		for _, c := range reader.If {
			if w.Touches(c.Path) {
				return true
			}
		}
		for _, other := range reader.Then {
			if w.Touches(other.Path) || other.Touches(w.Path) {
				return true
			}
		}
	}
	return false
}

func TestPackKeepsOrderAndLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		txns := rapid.SliceOfN(anyTxn(), 0, 25).Draw(t, "txns")
		limits := limits{ops: rapid.IntRange(4, 12).Draw(t, "ops"), bytes: rapid.IntRange(100, 400).Draw(t, "bytes")}
		indexes := make([]int, len(txns))
		for i := range indexes {
			indexes[i] = i
		}
		next := 0
		for _, q := range pack(limits, txns, indexes) {
			bytes, ops := 0, 0
			for k, i := range q.indexes {
				require.Equal(t, next, i, "order")
				require.Equal(t, txns[i], q.txns[k])
				next++
				bytes += sizeOf(txns[i]).bytes
				ops = max(ops, sizeOf(txns[i]).ops)
				for _, earlier := range q.txns[:k] {
					require.False(t, touch(earlier, q.txns[k]), "%v and %v share a request", earlier, q.txns[k])
				}
			}
			if len(q.txns) > 1 {
				require.LessOrEqual(t, len(q.txns)+ops, limits.ops)
				require.LessOrEqual(t, bytes, limits.bytes)
			}
		}
		require.Equal(t, len(txns), next)
	})
}

func TestPackFillsRequests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ txns, writes, want int }{
		{1, 128, 1}, {2, 128, 2}, {2, 126, 1}, {64, 64, 1}, {65, 64, 2}, {127, 1, 1}, {128, 1, 2},
	} {
		txns, indexes := make([]registry.Txn, tt.txns), make([]int, tt.txns)
		for i := range txns {
			indexes[i] = i
			for j := range tt.writes {
				txns[i].Then = append(txns[i].Then, registry.Put(fmt.Sprintf("/%d/%d", i, j), ""))
			}
		}
		got := pack(limits{ops: DefaultMaxOps, bytes: DefaultMaxBytes}, txns, indexes)
		require.Len(t, got, tt.want, "%d transactions of %d writes", tt.txns, tt.writes)
	}
}
