package turns

import (
	"fmt"
	"slices"
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
	l.Add(of(registry.RankLast, "a"), "last")
	l.Add(of(registry.RankBacklog, "c"), "late")
	l.Add(of(registry.RankWork, "b"), "b1")
	l.Add(of(registry.RankWork, "b"), "b2")
	l.Add(of(registry.RankFirst, ""), "end1")
	l.Add(of(registry.RankFirst, ""), "end2")
	l.Add(of(registry.Ranks+3, "c"), "unknown rank")
	require.Equal(t, 10, l.Len())
	require.Equal(t, []string{"end1", "end2", "a1", "a2", "a3", "late", "b1", "b2", "last", "unknown rank"}, takeAll(&l))
	require.Zero(t, l.Len())
}

// Of four that go while the backlog waits, one is of that, also if it is returned.
func TestTheBacklogsShare(t *testing.T) {
	t.Parallel()
	var l Line[string]
	add := func(rank registry.Rank, all ...string) {
		for _, v := range all {
			l.Add(of(rank, v[:1]), v)
		}
	}
	add(registry.RankBacklog, "late1", "late2", "late3")
	add(registry.RankWork, "a1", "a2", "a3", "a4", "a5", "a6", "a7")
	take := func(n int) (taken []string) {
		for range n {
			v, _ := l.Take()
			taken = append(taken, v)
		}
		return taken
	}
	add(registry.RankLast, "z1")
	require.Equal(t, []string{"a1", "a2", "a3", "late1"}, take(4))
	l.Return(of(registry.RankBacklog, "l"), "late1")
	l.Return(of(registry.RankWork, "a"), "a3")
	require.Equal(t, []string{"a3", "late1", "a4"}, take(3))
	add(registry.RankFirst, "end")
	require.Equal(t, []string{"end", "a5", "a6", "late2", "a7", "late3", "z1"}, takeAll(&l))
	add(registry.RankWork, "b1", "b2", "b3", "b4")
	require.Equal(t, []string{"b1", "b2", "b3", "b4"}, take(4))
	add(registry.RankWork, "b5", "b6")
	add(registry.RankBacklog, "late4")
	require.Equal(t, []string{"b5", "b6", "late4"}, takeAll(&l), "what went while none waited does not count")
}

// Shares take turns, a few of each: what is asked for at once goes together, and a share that comes later
// waits for a few of each other share, not for all they have.
func TestSharesTakeTurns(t *testing.T) {
	t.Parallel()
	var l Line[string]
	for range 10 * together {
		l.Add(of(registry.RankWork, "large"), "large")
	}
	for range 2 * together {
		l.Add(of(registry.RankWork, "middle"), "middle")
	}
	l.Take()
	l.Add(of(registry.RankWork, "small"), "small")
	var order []string
	for _, v := range takeAll(&l)[:4*together] {
		if len(order) == 0 || order[len(order)-1] != v {
			order = append(order, v)
		}
	}
	require.Equal(t, []string{"large", "middle", "small", "large", "middle"}, order)
}

func TestWhatIsReturnedGoesFirst(t *testing.T) {
	t.Parallel()
	var l Line[string]
	for _, v := range []string{"a1", "a2", "b1", "b2", "c1"} {
		l.Add(of(registry.RankWork, v[:1]), v)
	}
	var taken []string
	for range 4 {
		v, _ := l.Take()
		taken = append(taken, v)
	}
	require.Equal(t, []string{"a1", "a2", "b1", "b2"}, taken)
	for _, v := range []string{"b2", "b1", "a2"} { // the last one first
		l.Return(of(registry.RankWork, v[:1]), v)
	}
	require.Equal(t, []string{"a2", "b1", "b2", "c1"}, takeAll(&l))
}

// What is returned while others of its share wait goes on where it was, and takes no more of the turn than
// before.
func TestWhatIsReturnedKeepsItsPlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		take, back int
		want       []string // what comes next, and how many of it
	}{
		"in its turn":           {take: 10, back: 5, want: []string{"a 11", "b 2", "a 24"}},
		"when its turn is over": {take: together, back: 1, want: []string{"a 16", "b 2", "a 9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l Line[string]
			for n := range 40 {
				l.Add(of(registry.RankWork, "a"), fmt.Sprintf("a %02d", n))
			}
			l.Add(of(registry.RankWork, "b"), "b 00")
			l.Add(of(registry.RankWork, "b"), "b 01")
			var taken []string
			for range test.take {
				v, _ := l.Take()
				taken = append(taken, v)
			}
			for _, v := range slices.Backward(taken[test.take-test.back:]) {
				l.Return(of(registry.RankWork, "a"), v)
			}
			rest := takeAll(&l)
			var runs []string
			for i, n := 0, 0; i < len(rest); i++ {
				if n++; i+1 == len(rest) || rest[i+1][0] != rest[i][0] {
					runs, n = append(runs, fmt.Sprintf("%c %d", rest[i][0], n)), 0
				}
			}
			require.Equal(t, test.want, runs)
			require.True(t, slices.IsSorted(slices.DeleteFunc(rest, func(v string) bool { return v[0] == 'b' })), "in the order of arrival")
			require.Empty(t, l.ranks[registry.RankWork].shares, "a share that has nothing waiting is not kept")
		})
	}
}

// Those that wait no more are dropped when they are half of all, and the others keep their order.
func TestWhatWaitsNoMoreIsDropped(t *testing.T) {
	t.Parallel()
	const live = 40
	var l Line[string]
	gone := make(map[string]bool)
	isGone := func(v string) bool { return gone[v] }
	var want []string
	for i := range live {
		v := fmt.Sprint("a", i)
		l.Add(of(registry.RankWork, "a"), v)
		want = append(want, v)
	}
	first, _ := l.Take()
	require.Equal(t, want[0], first)
	for i := range 1000 {
		v := fmt.Sprint("gone", i)
		l.Add(of([]registry.Rank{registry.RankFirst, registry.RankWork, registry.RankLast}[i%3], []string{"a", "b", "c"}[i%3]), v)
		gone[v] = true
		l.Leave(isGone)
		require.Less(t, l.Len(), 2*live)
	}
	l.Add(of(registry.RankWork, "b"), "b0")
	l.Add(of(registry.RankFirst, "a"), "first")
	l.Return(of(registry.RankWork, "a"), first)
	all := slices.DeleteFunc(takeAll(&l), isGone)
	require.Equal(t, "first", all[0])
	require.Equal(t, want[:together], all[1:together+1])
	require.Equal(t, want, slices.DeleteFunc(all[1:], func(v string) bool { return v == "b0" }))
	require.Zero(t, l.Len())
	l.Leave(isGone)
	require.Zero(t, l.Len())
}
