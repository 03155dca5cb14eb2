package executions

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Code whose execution others have declared lost is told so, unless its process knows by then that its session is over:
// then it is told why that is.
func TestWhyCodeThatOthersDeclaredLostIsCancelled(t *testing.T) {
	t.Parallel()
	const token = 10
	fire := time.Date(2000, 1, 1, 0, 0, 5, 0, time.UTC)
	begun, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: "me", Session: 7, Source: job.Scheduled, Fire: fire, Time: fire, Failover: true})
	require.NoError(t, err)
	lost, err := begun.DeclareLost(token, fire.Add(time.Minute), 3)
	require.NoError(t, err)
	errDropped := errors.New("the store does not know it")
	for name, tt := range map[string]struct {
		lives bool
		want  error
	}{
		"its session lives":   {true, errTaken},
		"its session is over": {false, errDropped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session, control := backend.NewSession(7, time.Hour, backend.NewClock(), 0)
			defer control.Lose(registry.ErrClosed)
			under := room.NewAttachment(context.Background(), session)
			tree := jobtree.For("orders")
			v := room.View{Facts: &room.Facts{
				Process: &room.Process{Instance: "me"}, Tree: tree, Applied: 12, Attached: under,
				State: jobtree.StateOf("orders", registry.NewSnapshot(12, []registry.Node{
					{Path: tree.ItemRecord(0), Value: jobtree.EncodeRecord(lost), Created: token, Revision: 12},
				})),
			}}
			e := &Execution{Item: 0, Under: under, Token: token, started: true}
			shareScope([]*Execution{e})
			var work context.Context
			work, e.cancel = context.WithCancelCause(e.scope.ctx)
			defer e.leaveScope()

			if !tt.lives {
				control.Lose(errDropped)
			}
			x := New(nil, nil)
			x.stopTaken(v, e)
			under.Cancel(session.Err()) // as whoever follows the session does, a moment later
			require.ErrorIs(t, context.Cause(work), tt.want)
			require.ErrorIs(t, context.Cause(work), registry.ErrSessionLost)
		})
	}
}

// The mark of an execution whose item is not followed has not vanished, as far as is known.
func TestAMarkThatIsNotFollowed(t *testing.T) {
	t.Parallel()
	v := room.View{Facts: &room.Facts{Applied: 12, State: jobtree.StateOf("orders", registry.NewSnapshot(12, nil))}}
	require.True(t, MarkGone(v, &Execution{Item: 1, Token: 10}))
	v.State.Narrow([]int{0})
	require.False(t, MarkGone(v, &Execution{Item: 1, Token: 10}))
	require.True(t, MarkGone(v, &Execution{Item: 0, Token: 10}))
}

// Whether a session lives is asked only about an execution that others have declared lost: a step of the view has all that
// run here looked at.
func TestASessionIsAskedOnlyAboutWhatOthersDeclaredLost(t *testing.T) {
	t.Parallel()
	const token = 10
	fire := time.Date(2000, 1, 1, 0, 0, 5, 0, time.UTC)
	begun, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: "me", Session: 7, Source: job.Scheduled, Fire: fire, Time: fire, Failover: true})
	require.NoError(t, err)
	lost, err := begun.DeclareLost(token, fire.Add(time.Minute), 3)
	require.NoError(t, err)
	tree := jobtree.For("orders")
	mark := registry.Node{Path: tree.ItemRunning(0), Value: "me", Created: token, Revision: token, Session: 7}
	record := func(r jobtree.Record, revision registry.Revision) registry.Node {
		return registry.Node{Path: tree.ItemRecord(0), Value: jobtree.EncodeRecord(r), Created: token, Revision: revision}
	}
	for name, tt := range map[string]struct {
		tree []registry.Node
		asks bool
	}{
		"its mark stands":                {[]registry.Node{mark, record(begun, token)}, false},
		"its mark is gone":               {[]registry.Node{record(begun, token)}, false},
		"others have declared that lost": {[]registry.Node{record(lost, 12)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			session, control := backend.NewSession(7, time.Hour, func() time.Duration { asked++; return 0 }, 0)
			defer control.Lose(registry.ErrClosed)
			v := room.View{Facts: &room.Facts{
				Process: &room.Process{Instance: "me"}, Tree: tree, Applied: 12, Attached: room.NewAttachment(t.Context(), session),
				State: jobtree.StateOf("orders", registry.NewSnapshot(12, tt.tree)),
			}}
			e := &Execution{Item: 0, Under: v.Attached, Token: token, started: true}
			shareScope([]*Execution{e})
			_, e.cancel = context.WithCancelCause(e.scope.ctx)
			defer e.leaveScope()
			before := asked
			New(nil, nil).stopTaken(v, e)
			require.Equal(t, tt.asks, asked > before)
		})
	}
}
