package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// Whatever became of the last execution, it is what waits to be run again; nothing else changes.
func TestRequeueRepeatsTheLastExecution(t *testing.T) {
	t.Parallel()
	running := must(t)(jobtree.Record{}.Begin(scheduled(5)))
	interrupted := jobtree.End{Token: 17, Time: at(6), Outcome: jobtree.Interrupted}
	unwatched := scheduled(5)
	unwatched.Failover = false
	for name, before := range map[string]jobtree.Record{
		"succeeded":   must(t)(running.End(success(17))),
		"failed":      must(t)(running.End(jobtree.End{Token: 17, Time: at(6), Outcome: jobtree.Failure, Error: "disk full"})),
		"was cut off": must(t)(must(t)(jobtree.Record{}.Begin(unwatched)).End(interrupted)),
		"not started": must(t)(running.Undo(17, at(6))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := before
			want.State = jobtree.ItemWaiting
			waiting := must(t)(before.Requeue())
			require.Equal(t, want, waiting)
			require.NotEqual(t, jobtree.ItemWaiting, before.State, "the record that was read is as it was")

			again := must(t)(waiting.Claim(claim))
			require.Equal(t, at(5), again.Current.Fire)
			require.Equal(t, before.LastFire, again.LastFire)
			require.Equal(t, 1, again.Reruns)
		})
	}
}

func TestRequeueIsRefused(t *testing.T) {
	t.Parallel()
	running := must(t)(jobtree.Record{}.Begin(scheduled(0)))
	for name, test := range map[string]struct {
		record jobtree.Record
		state  jobtree.ItemState
		want   error
	}{
		"of what runs":      {running, jobtree.ItemRunning, jobtree.ErrItemRunning},
		"of what waits":     {must(t)(running.DeclareLost(17, at(1), 0)), jobtree.ItemWaiting, jobtree.ErrItemWaiting},
		"of what never ran": {jobtree.Record{}, jobtree.ItemIdle, jobtree.ErrNeverRan},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.record.Requeue()
			require.Zero(t, got)
			require.ErrorIs(t, err, test.want)
			var refused *jobtree.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, "requeue", refused.Step)
			require.Equal(t, test.state, refused.State)
		})
	}
}

// What was requeued and is lost again counts as a rerun, so it is given up like any poison.
func TestARequeuedExecutionIsPoisonToo(t *testing.T) {
	t.Parallel()
	idle := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).End(success(17)))
	rerun := must(t)(must(t)(idle.Requeue()).Claim(claim))
	lost := must(t)(rerun.DeclareLost(19, at(2), 1))
	require.True(t, lost.GaveUp())
}
