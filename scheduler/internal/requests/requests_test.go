package requests

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

var tree = jobtree.For("orders")

// asked is the number of the request of the tests. One transaction writes it into the nodes of several instances.
const asked registry.Revision = 20

// member is an instance that joined at a revision; asked by value if request is not 0.
func member(id string, joined, request registry.Revision) registry.Node {
	n := registry.Node{Path: tree.Instance(id), Created: joined, Revision: joined, Session: registry.SessionID(joined)}
	if request != 0 {
		n.Value, n.Revision = jobtree.InstanceTriggered, request
	}
	return n
}

// sees returns what "me" sees of a job whose items have these owners, and of its instances.
func sees(t *testing.T, change func(*job.Config), owners []string, nodes ...registry.Node) room.View {
	t.Helper()
	cfg := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: len(owners)}
	if change != nil {
		change(&cfg)
	}
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	nodes = append(nodes, registry.Node{Path: tree.Config(), Value: text, Created: 1, Revision: 1})
	for n, owner := range owners {
		nodes = append(nodes, registry.Node{Path: tree.ItemInstance(n), Value: owner, Created: 9, Revision: 9})
	}
	return room.View{Facts: &room.Facts{
		Process: &room.Process{Instance: "me"}, Tree: tree, Config: &cfg, Usable: true,
		State: jobtree.StateOf("orders", registry.NewSnapshot(40, nodes)),
	}}
}

// item returns a wants of which one item is still to run for the request.
func item(item int) func(int, registry.Revision) bool {
	return func(n int, request registry.Revision) bool { return n == item && request == asked }
}

func nothing(int, registry.Revision) bool { return false }

// An instance that was asked by value keeps the request until nobody needs it any more to know of it.
func TestHowLongARequestByValueIsKept(t *testing.T) {
	t.Parallel()
	unmonitored := func(cfg *job.Config) { cfg.Unmonitored = true }
	mine := member("me", 5, asked)
	for name, tt := range map[string]struct {
		change func(*job.Config)
		traits peers.Traits
		owner  string // of item 1; item 0 is mine
		nodes  []registry.Node
		wants  func(int, registry.Revision) bool
		keeps  bool
	}{
		"all has begun":                      {owner: "other", nodes: []registry.Node{mine, member("other", 6, asked)}, wants: nothing},
		"its own item has not":               {owner: "other", nodes: []registry.Node{mine, member("other", 6, 0)}, wants: item(0), keeps: true},
		"nor one of another that was asked":  {owner: "other", nodes: []registry.Node{mine, member("other", 6, asked)}, wants: item(1), keeps: true},
		"nor one of another that came later": {owner: "late", nodes: []registry.Node{mine, member("late", 30, 0)}, wants: item(1), keeps: true},
		"one of another that was not asked":  {owner: "other", nodes: []registry.Node{mine, member("other", 6, 0)}, wants: item(1)},
		"one of another that was asked anew": {owner: "other", nodes: []registry.Node{mine, member("other", 6, asked+5)}, wants: item(1)},
		"no record tells what others ran": {
			change: unmonitored, owner: "other", nodes: []registry.Node{mine, member("other", 6, asked)}, wants: item(1),
		},
		"its own item, without records": {
			change: unmonitored, owner: "other", nodes: []registry.Node{mine, member("other", 6, asked)}, wants: item(0), keeps: true,
		},
		"each answers for itself": {
			traits: peers.Traits{AloneAnswered: true}, owner: "other", nodes: []registry.Node{mine, member("other", 6, asked)}, wants: item(1),
		},
		"its own item, of each for itself": {
			traits: peers.Traits{AloneAnswered: true}, owner: "other", nodes: []registry.Node{mine, member("other", 6, asked)},
			wants: item(0), keeps: true,
		},
		"an item has no owner now": {owner: "gone", nodes: []registry.Node{mine}, wants: nothing, keeps: true},
		"items are about to move": {
			owner: "other", nodes: []registry.Node{mine, member("other", 6, asked), {Path: tree.Necessary(), Created: 21, Revision: 21}},
			wants: nothing, keeps: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := sees(t, tt.change, []string{"me", tt.owner}, tt.nodes...)
			batch := Decide(v, tt.traits, tt.wants)
			if tt.keeps {
				require.Empty(t, batch)
				return
			}
			require.Len(t, batch, 1)
			require.Equal(t, registry.Txn{
				If:   []registry.Condition{registry.Unchanged(tree.Instance("me"), asked)}, // a newer request stays
				Then: []registry.Write{registry.Update(tree.Instance("me"), jobtree.InstanceIdle)},
			}, batch[0].Txn)
		})
	}
	t.Run("nobody asked", func(t *testing.T) {
		t.Parallel()
		v := sees(t, nil, []string{"me", "other"}, member("me", 5, 0), member("other", 6, asked))
		require.Empty(t, Decide(v, peers.Traits{}, nothing))
	})
}

// The request by value for which an item runs here: the one that this instance was asked for, or for one that joined later
// the newest that others were.
func TestWhichRequestByValueIsAnswered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		traits peers.Traits
		nodes  []registry.Node
		want   registry.Revision
	}{
		"nobody is asked":               {nodes: []registry.Node{member("me", 5, 0), member("other", 6, 0)}},
		"it is asked":                   {nodes: []registry.Node{member("me", 5, asked), member("other", 6, asked+5)}, want: asked},
		"others are, and it is not":     {nodes: []registry.Node{member("me", 5, 0), member("other", 6, asked)}},
		"others were, before it joined": {nodes: []registry.Node{member("me", 30, 0), member("other", 6, asked)}, want: asked},
		"the newest of several":         {nodes: []registry.Node{member("me", 30, 0), member("a", 6, asked), member("b", 7, asked+5), member("c", 8, asked+15)}, want: asked + 5},
		"each answers for itself": {
			traits: peers.Traits{AloneAnswered: true}, nodes: []registry.Node{member("me", 30, 0), member("other", 6, asked)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := sees(t, nil, []string{"me"}, tt.nodes...)
			o := Look(v, tt.traits, time.Now(), 0)
			request, ok := o.For(0, 0)
			require.Equal(t, tt.want != 0, ok)
			require.Equal(t, Request{Revision: tt.want}, request)
			_, ok = o.For(0, tt.want)
			require.False(t, ok, "it ran for it")
		})
	}
}

// An item moves between two that were asked, before it has begun: whoever gets it still knows of the request, however the
// acknowledgement of either and the move follow each other.
func TestAnItemThatMovesDoesNotMissItsRequest(t *testing.T) {
	t.Parallel()
	for _, joined := range []registry.Revision{5, 30} { // before the request, and after it
		t.Run(fmt.Sprintf("joined at %d", joined), func(t *testing.T) {
			t.Parallel()
			request := asked
			if joined > asked {
				request = 0
			}
			mine, others := member("me", joined, request), member("other", 6, asked)

			// The other one has the item, and may acknowledge the request only when the item has begun; so may this one.
			v := sees(t, nil, []string{"other"}, mine, others)
			require.Empty(t, Decide(v, peers.Traits{}, item(0)))
			v.Process = &room.Process{Instance: "other"}
			require.Empty(t, Decide(v, peers.Traits{}, item(0)))

			// The item is here: the other one still keeps what this one goes by.
			v = sees(t, nil, []string{"me"}, mine, others)
			got, ok := Look(v, peers.Traits{}, time.Now(), 0).For(0, 0)
			require.True(t, ok)
			require.Equal(t, asked, got.Revision)
			v.Process = &room.Process{Instance: "other"}
			require.Empty(t, Decide(v, peers.Traits{}, item(0)))
			require.Len(t, Decide(v, peers.Traits{}, nothing), 1, "it has begun")
		})
	}
}
