package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

func TestBarrierText(t *testing.T) {
	t.Parallel()
	first := jobtree.Barrier{}.Next(jobtree.RoundKey{Fire: at(1)}, []int{0, 1, 2, 5, 7, 8}, at(2))
	require.Equal(t, `{"fire":"2026-01-02T12:01:00Z","items":"0-2,5,7-8","opened":"2026-01-02T12:02:00Z"}`, jobtree.EncodeBarrier(first))
	first.Done = "10.0.0.1@-@7"
	first = first.Settled(jobtree.BarrierFailure, "no disk", at(3))
	second := first.Next(jobtree.RoundKey{Trigger: 9}, []int{0}, at(4))
	require.Equal(t, `{"fire":"2026-01-02T12:01:00Z","trigger":9,"manual":true,"items":"0","opened":"2026-01-02T12:04:00Z",`+
		`"previous":{"fire":"2026-01-02T12:01:00Z","done":"10.0.0.1@-@7","outcome":"failure","error":"no disk"}}`, jobtree.EncodeBarrier(second))
	third := second.Next(jobtree.RoundKey{Fire: at(5)}, []int{0}, at(5))
	require.Equal(t, jobtree.BarrierReplaced, third.Previous.Outcome)
	require.Equal(t, jobtree.RoundKey{Trigger: 9}, third.Previous.Key)
	require.Equal(t, registry.Revision(9), third.Trigger, "no older request opens a barrier again")
}

func TestBarrierIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := jobtree.RoundKey{Fire: at(rapid.IntRange(0, 1e6).Draw(t, "fire"))}
		if rapid.Bool().Draw(t, "manual") {
			key = jobtree.RoundKey{Trigger: registry.Revision(rapid.Int64Min(1).Draw(t, "trigger"))}
		}
		b := jobtree.Barrier{}
		if rapid.Bool().Draw(t, "another before") {
			b = b.Next(jobtree.RoundKey{Fire: at(0)}, []int{1}, at(0))
		}
		var items []int
		for n := range 40 {
			if rapid.Bool().Draw(t, "in") {
				items = append(items, n)
			}
		}
		b = b.Next(key, items, at(7))
		b.Done = rapid.SampledFrom([]string{"", "10.0.0.1@-@7"}).Draw(t, "done")
		if rapid.Bool().Draw(t, "settled") {
			b = b.Settled(jobtree.BarrierFailure, rapid.StringN(0, 20, 200).Draw(t, "error"), at(8))
		}
		got, err := jobtree.DecodeBarrier(node("/orders/guarantee/started", jobtree.EncodeBarrier(b)))
		require.NoError(t, err)
		require.Equal(t, b, got)
		require.Equal(t, key, got.Key())
	})
}

func TestBarrierFaults(t *testing.T) {
	t.Parallel()
	got, err := jobtree.DecodeBarrier(node("/orders/guarantee/started", ""))
	require.NoError(t, err, "Java's folder")
	require.Zero(t, got)
	for _, items := range []string{"x", "1-", "-1", "3-2", "1,1", "2,1", "0-100000", "01"} {
		_, err := jobtree.DecodeBarrier(node("/orders/guarantee/started", `{"items":"`+items+`"}`))
		require.ErrorContains(t, err, `items is`, items)
	}
	require.Equal(t, 100_000, job.MaxShardingTotalCount)
	_, err = jobtree.DecodeBarrier(node("/orders/guarantee/started", "{"))
	require.ErrorContains(t, err, "must be a JSON object")
}
