package backend_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

func TestSettle(t *testing.T) {
	t.Parallel()
	mine, _ := backend.NewSession(7, 1<<40, backend.NewClock(), 0)
	conflict := &registry.ConflictError{Condition: registry.Absent("/run"), Revision: 20}
	begin := []registry.Write{
		registry.PutOwned("/run", "me", mine),
		registry.Put("/record", "running"),
		registry.Update("/state", "busy"),
		registry.Delete("/missed"),
		registry.DeleteTree("/old"),
	}
	done := func() []registry.Node {
		return []registry.Node{
			{Path: "/run", Value: "me", Created: 15, Revision: 15, Session: 7},
			{Path: "/record", Value: "running", Created: 3, Revision: 15},
			{Path: "/state", Value: "busy", Created: 2, Revision: 15, Session: 9},
			{Path: "/older", Value: "beside the deleted tree", Created: 1, Revision: 1},
		}
	}
	change := func(path string, edit func(n *registry.Node)) []registry.Node {
		nodes := done()
		for i := range nodes {
			if nodes[i].Path == path {
				edit(&nodes[i])
			}
		}
		return nodes
	}
	tests := []struct {
		name  string
		then  []registry.Write
		found []registry.Node
		want  registry.Revision
	}{
		{"everything is there", begin, done(), 15},
		{"a put is missing", begin, done()[1:], 0},
		{"a value is another's", begin, change("/record", func(n *registry.Node) { n.Value = "idle" }), 0},
		{"the owner is another", begin, change("/run", func(n *registry.Node) { n.Session = 8 }), 0},
		{"the owned node is older", begin, change("/run", func(n *registry.Node) { n.Created = 14 }), 0},
		{"the put node is owned", begin, change("/record", func(n *registry.Node) { n.Session = 8 }), 0},
		{"two commits wrote it", begin, change("/state", func(n *registry.Node) { n.Revision = 16 }), 0},
		{"a deleted node is there", begin, append(done(), registry.Node{Path: "/missed", Created: 1, Revision: 1}), 0},
		{"a deleted tree has a node", begin, append(done(), registry.Node{Path: "/old/x", Created: 1, Revision: 1}), 0},
		{"below a deleted node", begin, append(done(), registry.Node{Path: "/missed/x", Created: 1, Revision: 1}), 15},
		{"written before it was sent", begin[1:2], []registry.Node{{Path: "/record", Value: "running", Created: 9, Revision: 10}}, 0},
		{"only deletes", begin[3:], nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := backend.Settle(registry.Txn{Then: tt.then}, conflict, 10, tt.found)
			require.Equal(t, tt.want, got)
			if tt.want != 0 {
				require.NoError(t, err)
				return
			}
			var ambiguous *registry.ConflictError
			require.ErrorAs(t, err, &ambiguous)
			require.True(t, ambiguous.Ambiguous)
			require.Equal(t, conflict.Condition, ambiguous.Condition)
			require.False(t, conflict.Ambiguous, "the refusal itself must stay as it is")
		})
	}
}

func TestSettleOtherRefusals(t *testing.T) {
	t.Parallel()
	txn := registry.Txn{Then: []registry.Write{registry.Put("/a", "1")}}
	for _, certain := range []error{registry.ErrInvalid, registry.ErrTooLarge, registry.ErrDenied} {
		_, err := backend.Settle(txn, certain, 1, nil)
		require.Equal(t, certain, err)
	}
	for _, late := range []error{registry.ErrSessionLost, registry.ErrOwned, registry.ErrNoSpace} {
		_, err := backend.Settle(txn, late, 1, nil)
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		require.ErrorIs(t, err, late)
	}
	revision, err := backend.Settle(txn, errors.New("whatever"), 1, []registry.Node{{Path: "/a", Value: "1", Created: 2, Revision: 2}})
	require.NoError(t, err)
	require.Equal(t, registry.Revision(2), revision)
}
