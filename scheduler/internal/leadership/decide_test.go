package leadership

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/sharding"
)

const mySession, foreignSession registry.SessionID = 7, 9

// seeing is what the instance "me" sees of a job of one item, which is led in this session; 0 = by nobody.
func seeing(t *testing.T, leader registry.SessionID, more ...registry.Node) room.View {
	t.Helper()
	cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1}
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	tree := jobtree.For("orders")
	nodes := []registry.Node{
		{Path: tree.Config(), Value: text, Created: 1, Revision: 1},
		{Path: tree.Instance("me"), Value: jobtree.InstanceIdle, Created: 2, Revision: 2, Session: mySession},
		{Path: tree.Necessary(), Created: 2, Revision: 2},
	}
	if leader != 0 {
		id := map[registry.SessionID]string{mySession: "me", foreignSession: "other"}[leader]
		nodes = append(nodes, registry.Node{Path: tree.Leader(), Value: id, Created: 3, Revision: 3, Session: leader})
	}
	nodes = append(nodes, more...)
	session, _ := backend.NewSession(mySession, time.Hour, func() time.Duration { return 0 }, 0)
	return room.View{Facts: &room.Facts{
		Process: &room.Process{Instance: "me"}, Tree: tree, Usable: true, Config: &cfg,
		Attached: &room.Attachment{Session: session, Ctx: t.Context()},
		State:    jobtree.StateOf("orders", registry.NewSnapshot(9, nodes)),
	}}
}

// world notes what a room asks of its process, and carries messages out at once.
type world struct {
	Ports
	t         *testing.T
	others    peers.Peers
	campaigns int
	wakes     []time.Duration
}

func (w *world) Life() context.Context     { return w.t.Context() }
func (w *world) Post(message func()) bool  { message(); return true }
func (w *world) DecideAgain()              {}
func (w *world) Wake(in time.Duration)     { w.wakes = append(w.wakes, in) }
func (w *world) Log() *slog.Logger         { return slog.New(slog.DiscardHandler) }
func (w *world) Traits() peers.Traits      { return peers.Traits{} }
func (w *world) Peers() peers.Peers        { return w.others }
func (w *world) Answered()                 {}
func (w *world) Reconcile()                {}
func (w *world) Resharded(resharding.Plan) {}

func (w *world) Lookup(strategy string) (sharding.Strategy, error) {
	return sharding.Default().Lookup(strategy)
}

func (w *world) Campaign(c *Candidacy) {
	require.NotEmpty(w.t, c.Txn.Then)
	w.campaigns++
}

func (w *world) room(t *testing.T, others peers.Peers) *Leadership {
	t.Helper()
	w.t, w.others = t, others
	l := New(w)
	l.Observe(seeing(t, 0), jobtree.Touched{Necessary: true})
	return l
}

// Where nobody leads, an instance stands for election, once until that is over.
func TestWhoStandsForElection(t *testing.T) {
	t.Parallel()
	w := &world{}
	l := w.room(t, peers.None{})
	require.Empty(t, l.Decide(seeing(t, foreignSession)))
	unusable := seeing(t, 0)
	unusable.Usable = false
	require.Empty(t, l.Decide(unusable))
	require.Zero(t, w.campaigns, "somebody leads, or it could not")
	for range 2 {
		require.Empty(t, l.Decide(seeing(t, 0)))
		require.Equal(t, 1, w.campaigns)
		require.True(t, l.Electing())
	}
	l.Elected()
	require.Empty(t, l.Decide(seeing(t, 0)))
	require.Equal(t, 2, w.campaigns)
}

// A leader reshards a moment after it heard of a reason, once, or gives the leadership up if it cannot do its work.
func TestWhatALeaderDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		l, v := w.room(t, peers.None{}), seeing(t, mySession)
		require.Empty(t, l.Decide(v), "more may change in a moment")
		require.Equal(t, []time.Duration{gatherFor}, w.wakes)
		time.Sleep(gatherFor)
		batch := l.Decide(v)
		require.Len(t, batch, 1)
		require.Equal(t, "reshard", batch[0].Step)
		require.True(t, batch[0].Alone)
		require.Empty(t, l.Decide(v), "it was looked at")

		require.False(t, batch[0].Refused(registry.ErrConflict), "it is decided again")
		require.Empty(t, l.Decide(v))
		time.Sleep(gatherFor)
		require.Equal(t, "reshard", l.Decide(v)[0].Step)

		v.Usable = false
		require.Equal(t, "resign", l.Decide(v)[0].Step)
		require.Zero(t, w.campaigns)
	})
}

// silent are others whose leader declares nothing of ours lost.
type silent struct{ peers.None }

func (silent) LeaderDeclaresNone(room.View) bool { return true }

// The leader looks for lost executions, if it can do its work; others do where the leader never would.
func TestWhoDeclaresExecutionsLost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		leader registry.SessionID
		usable bool
		others peers.Peers
		want   bool
	}{
		"the leader":             {mySession, true, peers.None{}, true},
		"a leader that cannot":   {mySession, false, peers.None{}, false},
		"somebody else leads":    {foreignSession, true, peers.None{}, false},
		"nobody leads":           {0, true, peers.None{}, false},
		"its leader never would": {foreignSession, true, silent{}, true},
	} {
		v := seeing(t, test.leader)
		v.Usable = test.usable
		require.Equal(t, test.want, new(world).room(t, test.others).DeclaresLost(v), name)
	}
}

// However long there is something left to remove, everything is looked at once in each interval.
func TestALeaderLooksWhileMuchIsRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		tree := jobtree.For("orders")
		l, v := w.room(t, peers.None{}), seeing(t, mySession,
			registry.Node{Path: tree.Instance("ghost"), Value: jobtree.InstanceIdle, Created: 4, Revision: 4},
			registry.Node{Path: tree.Instance("specter"), Value: jobtree.InstanceIdle, Created: 5, Revision: 5})
		v.Clock = ownClock{}
		rounds, looked := int(3*job.DefaultReconcileInterval/goOnAfter), 0
		for range rounds {
			batch, due := l.Reconcile(v)
			require.Len(t, batch, 2)
			if due {
				looked++
			}
			batch[0].Done(registry.Outcome{}) // the other one's turn did not come
			l.Reconciled()
			l.KeepReconciling(v)
			require.Equal(t, goOnAfter, l.reconciler.every)
			time.Sleep(goOnAfter)
		}
		require.Equal(t, 3, looked)
		l.Stop()
	})
}

// ownClock is the time of the process.
type ownClock struct{ room.Clock }

func (ownClock) Now() time.Time { return time.Now() }

// What a leader has to clear up, or to write beforehand, of very many items takes turns with what other jobs begin.
func TestMuchTakesTurnsWithWhatOthersBegin(t *testing.T) {
	t.Parallel()
	for surplus, want := range map[int]registry.Rank{100: registry.RankFirst, 1000: registry.RankWork} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{}
			tree, epoch := jobtree.For("orders"), jobtree.Epoch{Term: 3, Counter: 1, Total: 1}
			more := []registry.Node{{Path: tree.Epoch(), Value: jobtree.EncodeEpoch(epoch), Created: 4, Revision: 4}}
			for item := range surplus {
				more = append(more, registry.Node{Path: tree.ItemInstance(1 + item), Value: "me", Created: 5, Revision: 5})
			}
			l, v := w.room(t, peers.None{}), seeing(t, mySession, more...)
			require.Empty(t, l.Decide(v))
			time.Sleep(gatherFor)
			batch := l.Decide(v)
			require.NotEmpty(t, batch)
			for _, p := range batch {
				require.Equal(t, "tidy", p.Step)
				require.Equal(t, want, p.Txn.Turn.Rank, surplus)
			}
		})
	}
}
