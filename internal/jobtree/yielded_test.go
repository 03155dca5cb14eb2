package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
)

func yields(token int64) jobtree.End {
	return jobtree.End{Token: token, Time: at(1), Outcome: jobtree.Interrupted, Error: "made room", FailoverLimit: 1, Yielded: true}
}

// However often an execution makes room, it waits to be run again, and that is no rerun. One that is lost is.
func TestAnExecutionThatMakesRoom(t *testing.T) {
	t.Parallel()
	r := must(t)(jobtree.Record{}.Begin(scheduled(0)))
	for token := range int64(5) {
		r = must(t)(r.End(yields(20 + token)))
		require.Equal(t, jobtree.ItemWaiting, r.State)
		require.True(t, r.MadeRoom())
		again, err := jobtree.DecodeRecord(recordNode(jobtree.EncodeRecord(r)))
		require.NoError(t, err)
		require.Equal(t, r, again)
		r = must(t)(r.Claim(claim))
		require.Zero(t, r.Reruns)
		require.False(t, r.MadeRoom())
		before, known := r.Previous()
		require.True(t, known && before.Yielded)
	}
	undone := must(t)(r.Undo(30, at(2)))
	require.True(t, undone.MadeRoom(), "nothing has run since")
	r = must(t)(undone.Claim(claim))
	require.Zero(t, r.Reruns)
	r = must(t)(r.DeclareLost(31, at(3), 1))
	require.False(t, r.MadeRoom())
	r = must(t)(r.Claim(claim))
	require.Equal(t, 1, r.Reruns)
	r = must(t)(r.End(yields(32)))
	require.Equal(t, jobtree.ItemWaiting, r.State, "the limit is of losses")
	r = must(t)(must(t)(r.Claim(claim)).DeclareLost(33, at(4), 1))
	require.Equal(t, jobtree.ItemInterrupted, r.State)
	require.True(t, r.GaveUp())
	require.Equal(t, jobtree.Counts{Interrupted: 6, Lost: 2}, r.Counts)
}

// What is left to the next fire waits for nobody, and was not given up.
func TestWhatMadeRoomAndIsNotRunAgain(t *testing.T) {
	t.Parallel()
	end := yields(20)
	end.RestIsOver = true
	without := scheduled(0)
	without.Failover = false
	for name, r := range map[string]jobtree.Record{
		"it is over":       must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).End(end)),
		"without failover": must(t)(must(t)(jobtree.Record{}.Begin(without)).End(yields(20))),
	} {
		require.Equal(t, jobtree.ItemInterrupted, r.State, name)
		require.True(t, r.Current.Yielded, name)
		require.False(t, r.GaveUp(), name)
		require.False(t, r.MadeRoom(), name)
		next := must(t)(r.Begin(scheduled(5)))
		require.Equal(t, at(5), next.LastFire, name)
	}
}

// Nobody but its own end says of an execution that it made room.
func TestOnlyWhatIsInterruptedMadeRoom(t *testing.T) {
	t.Parallel()
	end := success(20)
	end.Yielded = true
	r := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).End(end))
	require.Equal(t, jobtree.ItemIdle, r.State)
	require.False(t, r.Current.Yielded)
}
