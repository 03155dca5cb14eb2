package turns

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func of(rank registry.Rank, share string) registry.Turn {
	return registry.Turn{Rank: rank, Share: share}
}

func takeAll(l *Line[string]) []string {
	var all []string
	for v, ok := l.Take(); ok; v, ok = l.Take() {
		all = append(all, v)
	}
	return all
}

func TestOrder(t *testing.T) {
	t.Parallel()
	var l Line[string]
	require.Empty(t, takeAll(&l))
	for _, v := range []string{"a1", "a2", "a3"} {
		l.Add(of(registry.RankWork, "a"), v)
	}
	l.Add(of(registry.RankBacklog, "c"), "late")
	l.Add(of(registry.RankWork, "b"), "b1")
	l.Add(of(registry.RankWork, "b"), "b2")
	l.Add(of(registry.RankFirst, ""), "end1")
	l.Add(of(registry.RankFirst, ""), "end2")
	l.Add(of(registry.Ranks+3, "c"), "unknown rank")
	require.Equal(t, 9, l.Len())
	require.Equal(t, []string{"end1", "end2", "a1", "b1", "a2", "b2", "a3", "late", "unknown rank"}, takeAll(&l))
	require.Zero(t, l.Len())
}

// A share that comes later waits for one transaction of each other share, not for all they have.
func TestALateShareIsNextInTurn(t *testing.T) {
	t.Parallel()
	var l Line[string]
	for range 10_000 {
		l.Add(of(registry.RankWork, "large"), "large")
	}
	l.Take()
	l.Add(of(registry.RankWork, "small"), "small")
	first, _ := l.Take()
	second, _ := l.Take()
	require.Equal(t, []string{"large", "small"}, []string{first, second})
}

func TestWhatIsReturnedGoesFirst(t *testing.T) {
	t.Parallel()
	var l Line[string]
	for _, v := range []string{"a1", "b1", "a2", "b2", "c1"} {
		l.Add(of(registry.RankWork, v[:1]), v)
	}
	var taken []string
	for range 3 {
		v, _ := l.Take()
		taken = append(taken, v)
	}
	require.Equal(t, []string{"a1", "b1", "c1"}, taken)
	for _, v := range []string{"c1", "b1", "a1"} { // the last one first
		l.Return(of(registry.RankWork, v[:1]), v)
	}
	require.Equal(t, []string{"a1", "b1", "c1", "a2", "b2"}, takeAll(&l))
}
