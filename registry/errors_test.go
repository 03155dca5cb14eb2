package registry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func TestConflictError(t *testing.T) {
	t.Parallel()
	conflict := &registry.ConflictError{
		Condition: registry.Absent("/leader"),
		Found:     registry.Node{Path: "/leader", Value: "me", Created: 4, Revision: 4, Session: 31},
		Revision:  9,
	}
	err := fmt.Errorf("elect: %w", &registry.OpError{Op: "commit", Path: "/leader", Err: conflict})
	require.EqualError(t, err,
		`elect: commit /leader: conflict: want /leader absent, found /leader="me"@4 (created 4, session 1f)`)
	require.ErrorIs(t, err, registry.ErrConflict)
	require.NotErrorIs(t, err, registry.ErrOwned)
	var found *registry.ConflictError
	require.True(t, errors.As(err, &found) && found == conflict)

	conflict.Ambiguous = true
	require.ErrorContains(t, conflict, "an earlier try of this transaction got no answer")
}

func TestOpErrorWithoutPath(t *testing.T) {
	t.Parallel()
	err := &registry.OpError{Op: "session", Err: registry.ErrUnavailable}
	require.EqualError(t, err, "session: registry unavailable")
	require.ErrorIs(t, err, registry.ErrUnavailable)
}

func TestNodeText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "absent", registry.Node{}.String())
	require.Equal(t, `/a="x"@5 (created 3)`, registry.Node{Path: "/a", Value: "x", Created: 3, Revision: 5}.String())
}

func TestChange(t *testing.T) {
	t.Parallel()
	before, after := registry.Node{Path: "/a", Revision: 1}, registry.Node{Path: "/a", Revision: 2}
	for _, tt := range []struct {
		change registry.Change
		kind   registry.ChangeKind
		text   string
	}{
		{registry.Change{New: after}, registry.Added, "added"},
		{registry.Change{Old: before, New: after}, registry.Updated, "updated"},
		{registry.Change{Old: before}, registry.Removed, "removed"},
	} {
		require.Equal(t, tt.kind, tt.change.Kind())
		require.Equal(t, tt.text, tt.change.Kind().String())
		require.Equal(t, "/a", tt.change.Path())
	}
	require.Equal(t, "unknown change", registry.ChangeKind(0).String())
}

func TestWhenToLookAgain(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for err, want := range map[error]struct{ inTime, over bool }{
		nil:                        {false, false},
		registry.ErrConflict:       {true, true},
		&registry.ConflictError{}:  {true, true},
		registry.ErrUnknownOutcome: {true, false},
		registry.ErrUnavailable:    {false, false},
	} {
		if err != nil {
			err = &registry.OpError{Op: "commit", Err: err}
		}
		require.Equal(t, want.inTime, registry.LookAgain(t.Context(), err), "%v", err)
		require.Equal(t, want.over, registry.LookAgain(over, err), "%v", err)
	}
}
