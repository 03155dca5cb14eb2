package leadership

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// withAnother adds an instance to whom the items could be given.
func withAnother(v room.View) room.View {
	facts := *v.Facts
	tree := v.Tree
	nodes := []registry.Node{
		{Path: tree.Config(), Value: mustEncode(v), Created: 1, Revision: 1},
		{Path: tree.Instance("me"), Value: jobtree.InstanceIdle, Created: 2, Revision: 2, Session: mySession},
		{Path: tree.Instance("other"), Value: jobtree.InstanceIdle, Created: 2, Revision: 2, Session: foreignSession},
	}
	if leader := v.State.Leader; leader.Created != 0 {
		nodes = append(nodes, registry.Node{Path: tree.Leader(), Value: leader.Instance, Created: 3, Revision: 3, Session: leader.Session})
	}
	facts.State = jobtree.StateOf("orders", registry.NewSnapshot(9, nodes))
	return room.View{Facts: &facts}
}

func mustEncode(v room.View) string {
	text, err := jobtree.EncodeConfig(*v.Config)
	if err != nil {
		panic(err)
	}
	return text
}

// leaving is a proposal to leave, and whether it was done.
func leaving(v room.View) (leave *room.Proposal, left *bool) {
	left = new(bool)
	return &room.Proposal{
		Txn: registry.Txn{
			If:   []registry.Condition{v.Mine(), v.Term()},
			Then: []registry.Write{registry.Delete(v.Tree.Instance("me")), registry.Delete(v.Tree.Leader())},
		},
		Done: func(registry.Outcome) { *left = true },
	}, left
}

func TestALeaderBequeaths(t *testing.T) {
	t.Parallel()
	w := &world{}
	l := w.room(t, peers.None{})
	v := withAnother(seeing(t, mySession))
	bequeaths := func(v room.View) (*room.Proposal, bool) {
		leave, left := leaving(v)
		alone := len(leave.Txn.Then)
		l.Bequeath(v, leave)
		leave.Done(registry.Outcome{})
		require.True(t, *left, "what follows from a leave does so")
		return leave, len(leave.Txn.Then) > alone
	}
	_, does := bequeaths(withAnother(seeing(t, foreignSession)))
	require.False(t, does, "another leads")
	_, does = bequeaths(seeing(t, mySession))
	require.False(t, does, "nobody else is there")
	unusable := withAnother(seeing(t, mySession))
	unusable.Usable = false
	_, does = bequeaths(unusable)
	require.False(t, does, "it knows no assignment")

	leave, does := bequeaths(v)
	require.True(t, does)
	require.False(t, leave.Refused(registry.ErrConflict), "it decides again")
	_, does = bequeaths(v)
	require.True(t, does)
	_, does = bequeaths(v)
	require.False(t, does, "it does not try for ever")

	l.bequests = 0
	leave, does = bequeaths(v)
	require.True(t, does)
	require.True(t, leave.Refused(registry.ErrTooLarge), "it leaves alone, at once")
	_, does = bequeaths(v)
	require.False(t, does)
}
