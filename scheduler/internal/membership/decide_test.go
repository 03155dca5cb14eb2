package membership

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

const (
	mySession, formerSession, foreignSession registry.SessionID = 7, 6, 9
	ttl                                                         = 4 * time.Second
)

// instance is the node of an instance.
func instance(id string, session registry.SessionID) registry.Node {
	return registry.Node{Path: jobtree.For("orders").Instance(id), Value: jobtree.InstanceIdle, Created: 5, Revision: 5, Session: session}
}

// seeing is what the instance "me" sees of a job that has these instances.
func seeing(t *testing.T, instances ...registry.Node) room.View {
	t.Helper()
	cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1}
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	tree := jobtree.For("orders")
	session, _ := backend.NewSession(mySession, ttl, func() time.Duration { return 0 }, 0)
	nodes := append(instances, registry.Node{Path: tree.Config(), Value: text, Created: 1, Revision: 1})
	return room.View{Facts: &room.Facts{
		Process: &room.Process{Instance: "me", Clock: &clock{}}, Tree: tree, Usable: true, Config: &cfg,
		Attached: &room.Attachment{Session: session, Ctx: t.Context()},
		State:    jobtree.StateOf("orders", registry.NewSnapshot(9, nodes)),
	}}
}

// clock is what is known of the time: it is off, and that was confirmed a moment ago.
type clock struct{ off time.Duration }

func (c *clock) Now() time.Time             { return time.Now() }
func (c *clock) Passed() time.Time          { return time.Now() }
func (c *clock) Limit() time.Time           { return time.Time{} }
func (c *clock) Horizon() time.Time         { return time.Time{} }
func (c *clock) Off() (time.Duration, bool) { return c.off, true }
func (c *clock) Fresh(time.Duration) bool   { return true }
func (c *clock) Mute() bool                 { return false }

// world is the process of a room. It carries messages out at once.
type world struct {
	Ports
	life   context.Context
	data   bool
	others peers.Peers
	holder registry.SessionID // of the instance id, as the registry itself has it
	failed error
	again  int // decisions that were asked for
	work   sync.WaitGroup
}

func (w *world) Life() context.Context    { return w.life }
func (w *world) Post(message func()) bool { message(); return true }
func (w *world) Work(do func())           { w.work.Go(do) }
func (w *world) Wake(time.Duration)       {}
func (w *world) DecideAgain()             { w.again++ }
func (w *world) Log() *slog.Logger        { return slog.New(slog.DiscardHandler) }
func (w *world) Data() bool               { return w.data }
func (w *world) Peers() peers.Peers       { return w.others }
func (w *world) ComesBack()               {}
func (w *world) StaysOut(time.Duration)   {}
func (w *world) Refusal() string          { return "a secret is missing" }
func (w *world) ShutDown()                {}
func (w *world) Fail(why error)           { w.failed = why }

func (w *world) Get(context.Context, string) (registry.Node, error) {
	return instance("me", w.holder), nil
}

func (w *world) room(t *testing.T, data bool, others peers.Peers) *Membership {
	t.Helper()
	w.life, w.data, w.others = t.Context(), data, others
	m := New(w)
	m.Hold(formerSession)
	m.Hold(mySession)
	return m
}

// What an instance does next follows from who has its id in the tree.
func TestTheNextStepOfAMember(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tree []registry.Node
		step string // empty = none
	}{
		"nobody has it":             {nil, "join"},
		"it has it":                 {[]registry.Node{instance("me", mySession)}, ""},
		"its former session has it": {[]registry.Node{instance("me", formerSession)}, "remove a stray node"},
		"another session has it":    {[]registry.Node{instance("me", foreignSession)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, v := new(world).room(t, false, peers.None{}), seeing(t, test.tree...)
			m.Observe(v)
			batch := m.Decide(v, Parting{})
			if test.step == "" {
				require.Empty(t, batch)
				return
			}
			require.Len(t, batch, 1)
			require.Equal(t, test.step, batch[0].Step)
			require.True(t, batch[0].Alone)
		})
	}
}

// What a process holds under a former session goes in one transaction, also what the registry carried out late, and
// nothing that is another's.
func TestAMemberRemovesWhatAFormerSessionHolds(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	leader := func(id string, session registry.SessionID) registry.Node {
		return registry.Node{Path: tree.Leader(), Value: id, Created: 6, Revision: 6, Session: session}
	}
	other := instance("other", foreignSession)
	for name, test := range map[string]struct {
		tree  []registry.Node
		away  bool
		steps []string
		gone  []string // what the first step deletes
	}{
		"instance and leader":         {[]registry.Node{instance("me", formerSession), leader("me", formerSession)}, false, []string{"remove a stray node"}, []string{tree.Instance("me"), tree.Leader()}},
		"the instance, others lead":   {[]registry.Node{instance("me", formerSession), other, leader("other", foreignSession)}, false, []string{"remove a stray node"}, []string{tree.Instance("me")}},
		"the leader, before it joins": {[]registry.Node{leader("me", formerSession)}, false, []string{"remove a stray node", "join"}, []string{tree.Leader()}},
		"the leader, when it has":     {[]registry.Node{instance("me", mySession), leader("me", formerSession)}, false, []string{"remove a stray node"}, []string{tree.Leader()}},
		"out because of its clock":    {[]registry.Node{other, leader("me", formerSession)}, true, []string{"remove a stray node"}, []string{tree.Leader()}},
		"out, and not yet taken out":  {[]registry.Node{instance("me", formerSession), other}, true, []string{"remove a stray node"}, []string{tree.Instance("me")}},
		"it leads":                    {[]registry.Node{instance("me", mySession), leader("me", mySession)}, false, nil, nil},
		"one of another process":      {[]registry.Node{instance("me", mySession), leader("me", foreignSession)}, false, nil, nil},
		"one that shared the session": {[]registry.Node{instance("me", mySession), leader("other", formerSession)}, false, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, v := new(world).room(t, false, peers.None{}), seeing(t, test.tree...)
			if test.away {
				m.clock.out, m.joinedAs = true, 5
			}
			var steps []string
			batch := m.Decide(v, Parting{})
			for _, p := range batch {
				steps = append(steps, p.Step)
			}
			require.Equal(t, test.steps, steps)
			if test.gone == nil {
				return
			}
			txn := batch[0].Txn
			var gone []string
			for _, w := range txn.Then {
				require.Equal(t, registry.WriteDelete, w.Kind)
				gone = append(gone, w.Path)
				guarded := slices.ContainsFunc(txn.If, func(c registry.Condition) bool { return c.Path == w.Path })
				require.True(t, guarded, "%s is deleted as it was seen", w.Path)
			}
			require.Equal(t, test.gone, gone)
			require.True(t, txn.Repeatable())
		})
	}
}

// Who leaves deletes in one transaction what it holds of the job, also under a former session, and nothing that is another's.
func TestAMemberLeavesWithWhatAFormerSessionHolds(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	leader := func(id string, session registry.SessionID) registry.Node {
		return registry.Node{Path: tree.Leader(), Value: id, Created: 6, Revision: 6, Session: session}
	}
	left := registry.Put(tree.FailoverLeft("me"), "")
	item := registry.Node{Path: tree.ItemInstance(0), Value: "me", Created: 7, Revision: 7}
	ask, mine, lead := registry.Put(tree.Necessary(), ""), registry.Delete(tree.Instance("me")), registry.Delete(tree.Leader())
	for name, test := range map[string]struct {
		tree []registry.Node
		want []registry.Write
	}{
		"nothing":                        {nil, nil},
		"instance and leader":            {[]registry.Node{instance("me", mySession), leader("me", mySession), item}, []registry.Write{mine, ask, left, lead}},
		"both under a former session":    {[]registry.Node{instance("me", formerSession), leader("me", formerSession), item}, []registry.Write{mine, ask, left, lead}},
		"the instance, others lead":      {[]registry.Node{instance("me", formerSession), leader("other", foreignSession), item}, []registry.Write{mine, ask, left}},
		"the leader under a former one":  {[]registry.Node{instance("me", mySession), leader("me", formerSession), item}, []registry.Write{mine, ask, left, lead}},
		"of a led job, who owns nothing": {[]registry.Node{instance("me", mySession), leader("other", foreignSession)}, []registry.Write{mine, ask, left}},
		"who owns nothing":               {[]registry.Node{instance("me", mySession)}, []registry.Write{mine, ask}},
		"the leader alone":               {[]registry.Node{leader("me", formerSession)}, []registry.Write{lead}},
		"another process of the id":      {[]registry.Node{instance("me", foreignSession), leader("me", foreignSession)}, nil},
		"one that shared the session":    {[]registry.Node{instance("other", formerSession), leader("other", formerSession)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := seeing(t, test.tree...)
			v.Config.Failover, v.Config.FailoverScope = true, job.FailoverAssigned
			batch := new(world).room(t, false, peers.None{}).Leave(v, nil)
			require.Equal(t, test.want == nil, batch == nil)
			if batch == nil {
				return
			}
			txn := batch[0].Txn
			require.Equal(t, test.want, txn.Then)
			given := slices.Contains(txn.If, registry.Unchanged(tree.Epoch(), 0))
			told := slices.Contains(txn.Then, left) || !slices.Contains(txn.Then, mine)
			require.NotEqual(t, told, given, "who does not say that it left compares that nobody has given it items")
			for _, w := range txn.Then {
				guarded := slices.ContainsFunc(txn.If, func(c registry.Condition) bool { return c.Path == w.Path })
				require.Equal(t, w.Kind == registry.WriteDelete, guarded, "%s is deleted as it was seen", w.Path)
			}
			require.True(t, txn.Repeatable())
		})
	}
}

// Who leaves a job that it cannot use tells others as much as they may have to know.
func TestAMemberThatCannotUseTheConfigurationTellsThatItLeaves(t *testing.T) {
	t.Parallel()
	v := seeing(t)
	cfg := *v.Config
	cfg.Failover, cfg.FailoverScope = true, job.FailoverAssigned
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	v.State = jobtree.StateOf("orders", registry.NewSnapshot(9, []registry.Node{
		instance("me", mySession),
		{Path: v.Tree.Config(), Value: text, Created: 1, Revision: 1},
		{Path: v.Tree.ItemInstance(0), Value: "me", Created: 7, Revision: 7},
		{Path: v.Tree.Leader(), Value: "other", Created: 6, Revision: 6, Session: foreignSession},
	}))
	v.Usable, v.Config = false, new(job.Config)
	txn := new(world).room(t, false, peers.None{}).LeaveTxn(v, nil)
	require.Contains(t, txn.Then, registry.Put(v.Tree.FailoverLeft("me"), ""))
}

// Beside ElasticJob 3.x only leaders ask for a resharding when members change, so who gives a former leadership back asks
// for one.
func TestAFormerLeadershipIsGivenBackBesideElasticJob3(t *testing.T) {
	t.Parallel()
	v := seeing(t)
	config := registry.Node{Path: v.Tree.Config(), Value: "jobName: orders\n", Created: 1, Revision: 1}
	lead := registry.Node{Path: v.Tree.Leader(), Value: "me", Created: 6, Revision: 6, Session: formerSession}
	v.State = jobtree.ElasticJob3StateOf("orders", registry.NewSnapshot(9, []registry.Node{config, lead}))
	txn := new(world).room(t, false, peers.None{}).Decide(v, Parting{})[0].Txn
	require.Contains(t, txn.If, registry.CreatedAt(lead.Path, lead.Created))
	require.Equal(t, []registry.Write{registry.Delete(lead.Path), registry.Put(v.Tree.Necessary(), "")}, txn.Then)
	require.True(t, txn.Repeatable())
}

// Nobody joins a job whose home is another registry, wherever it is on its way.
func TestAMemberOfAJobThatIsElsewhere(t *testing.T) {
	t.Parallel()
	for _, e := range []jobtree.Elsewhere{
		{Home: "b"},
		{Home: "b", Move: "m1", Config: "{}"},
		{Home: "b", Move: "m1", Arriving: true},
	} {
		v := seeing(t)
		v.State = jobtree.StateOf("orders", registry.NewSnapshot(9, []registry.Node{
			{Path: v.Tree.Config(), Value: jobtree.EncodeElsewhere(e), Created: 1, Revision: 1},
		}))
		for _, usable := range []bool{false, true} { // a configuration stays in force until another one can be used
			v.Usable = usable
			require.Empty(t, new(world).room(t, false, peers.None{}).Decide(v, Parting{}), e)
		}
	}
}

// Who leaves a job whose home is another registry asks for no resharding there, also if it must stay for a while.
func TestAMemberLeavesAJobThatIsElsewhere(t *testing.T) {
	t.Parallel()
	v := seeing(t)
	me := instance("me", mySession)
	lead := registry.Node{Path: v.Tree.Leader(), Value: "me", Created: 6, Revision: 6, Session: mySession}
	v.State = jobtree.StateOf("orders", registry.NewSnapshot(9, []registry.Node{
		{Path: v.Tree.Config(), Value: jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "b"}), Created: 1, Revision: 1}, me, lead,
	}))
	m := new(world).room(t, false, peers.None{})
	txn := m.LeaveTxn(v, nil)
	require.Equal(t, []registry.Write{registry.Delete(me.Path), registry.Delete(lead.Path)}, txn.Then)
	stays := m.AnnounceLeave(v)
	require.Len(t, stays, 1)
	require.Equal(t, []registry.Write{registry.Delete(lead.Path)}, stays[0].Txn.Then)
}

// An instance whose clock is wrong leaves when it is ready for that, and stays if it is the last one. It joins first.
func TestAMemberWithAWrongClock(t *testing.T) {
	t.Parallel()
	me, other := instance("me", mySession), instance("other", foreignSession)
	m := new(world).room(t, false, peers.None{})
	decide := func(v room.View, ready bool) room.Batch {
		v.Clock = &clock{off: time.Hour}
		m.Observe(v)
		return m.Decide(v, Parting{Ready: ready})
	}
	require.Equal(t, "join", decide(seeing(t, other), false)[0].Step)
	require.Empty(t, decide(seeing(t, me, other), false), "it takes part for a moment")

	require.Empty(t, decide(seeing(t, me, other), false), "not before it is ready")
	require.True(t, m.Away())
	batch := decide(seeing(t, me, other), true)
	require.Equal(t, "leave the job to others", batch[0].Step)
	require.Contains(t, batch[0].Txn.If, registry.CreatedAt(other.Path, other.Created), "while the other is there")
	batch[0].Done(registry.Outcome{})
	require.False(t, m.LeftAt().IsZero())
	require.Equal(t, "join", decide(seeing(t), false)[0].Step, "as the last one")
	require.False(t, m.Away())
}

// An instance whose process alone refuses the configuration leaves when it is ready for that, and comes back when it can use
// it, or as the last one. It joins first. A configuration that nobody can use changes nothing.
func TestAMemberThatRefusesTheConfiguration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const refused, usable, useless = "a secret is missing", "usable", ""
		me, other := instance("me", mySession), instance("other", foreignSession)
		w := new(world)
		m := w.room(t, false, peers.None{})
		decide := func(what string, ready bool, nodes ...registry.Node) room.Batch {
			v := seeing(t, nodes...)
			if v.Usable = what == usable; !v.Usable {
				v.Refused = what != ""
			}
			m.Observe(v)
			return m.Decide(v, Parting{Ready: ready})
		}
		leaves := func(batch room.Batch) {
			t.Helper()
			require.Len(t, batch, 1)
			require.Equal(t, "leave the job to others", batch[0].Step)
			require.Contains(t, batch[0].Txn.If, registry.CreatedAt(other.Path, other.Created), "while the other is there")
			batch[0].Done(registry.Outcome{})
		}
		joins := func(batch room.Batch) {
			t.Helper()
			require.Len(t, batch, 1)
			require.Equal(t, "join", batch[0].Step)
			require.False(t, m.Out())
			require.Zero(t, m.LeftAt())
		}
		joinsFirst := decide(refused, false, other)
		require.Equal(t, "join", joinsFirst[0].Step)
		require.Empty(t, decide(refused, true, me, other), "it takes part for a moment")
		require.Equal(t, 1, w.again, "nothing else may happen that it would decide on")
		require.True(t, m.Away())
		require.Empty(t, decide(refused, false, me, other), "not before it is ready")
		leaves(decide(refused, true, me, other))
		require.Empty(t, decide(useless, false, other), "nobody can use it, and the other is there")
		require.Empty(t, decide(refused, false, other))
		joins(decide(usable, false, other))

		require.Empty(t, decide(useless, true, me, other), "all pause, and it stays")
		require.False(t, m.Out())
		leaves(decide(refused, true, me, other))
		require.Empty(t, decide(refused, false), "others may come back as the last one, too")
		time.Sleep(returnAfter("me"))
		joins(decide(refused, false))
		require.Empty(t, decide(refused, true, me), "the last one stays")
		leaves(decide(refused, true, me, other))
		require.Empty(t, decide(refused, false))
		require.Empty(t, decide(refused, false, other), "another one was faster")
		time.Sleep(returnAfter("me"))
		require.Empty(t, decide(refused, false), "the time counts anew")

		m.clock.out = true
		require.Empty(t, decide(usable, false, other), "its clock is wrong as well")
		require.True(t, m.Away())
		require.False(t, m.refusal != nil)
	})
}

// Those that find at once that they are the last one come back one after the other, within half a second.
func TestWhoComesBackAsTheLastOne(t *testing.T) {
	t.Parallel()
	at := make(map[time.Duration]int)
	for n := range 100 {
		after := returnAfter(fmt.Sprintf("10.0.0.%d@-@4711", n))
		require.Less(t, after, 500*time.Millisecond)
		at[after]++
	}
	require.Greater(t, len(at), returnSteps/2)
}

// An instance that leaves and has to stay registered hands over its items, and the leadership if that is its own; once.
func TestAMemberHandsOver(t *testing.T) {
	t.Parallel()
	m := new(world).room(t, false, peers.None{})
	me := instance("me", mySession)
	lead := registry.Node{Path: jobtree.For("orders").Leader(), Value: "me", Created: 6, Revision: 6, Session: mySession}
	foreign := registry.Node{Path: lead.Path, Value: "other", Created: 6, Revision: 6, Session: foreignSession}
	left := me
	left.Value = jobtree.InstanceShutdown
	for name, test := range map[string]struct {
		tree []registry.Node
		want []registry.WriteKind // of the instance, the request for a resharding, and the leader
	}{
		"it leads":                      {[]registry.Node{me, lead}, []registry.WriteKind{registry.WriteUpdate, registry.WritePut, registry.WriteDelete}},
		"another leads":                 {[]registry.Node{me, foreign}, []registry.WriteKind{registry.WriteUpdate, registry.WritePut}},
		"it was told to leave, leading": {[]registry.Node{left, lead}, []registry.WriteKind{registry.WriteUpdate, registry.WritePut, registry.WriteDelete}},
		"it has":                        {[]registry.Node{left, foreign}, nil},
		"it is not there":               {[]registry.Node{foreign}, nil},
		"under another session":         {[]registry.Node{instance("me", formerSession), foreign}, nil},
	} {
		batch := m.AnnounceLeave(seeing(t, test.tree...))
		require.Equal(t, test.want == nil, batch == nil, name)
		if batch == nil {
			continue
		}
		var kinds []registry.WriteKind
		for _, w := range batch[0].Txn.Then {
			kinds = append(kinds, w.Kind)
		}
		require.Equal(t, test.want, kinds, name)
		require.Contains(t, batch[0].Txn.If, registry.Unchanged(me.Path, me.Revision), name)
		require.True(t, batch[0].Txn.Repeatable(), name)
	}
	v := seeing(t, me, lead)
	config := registry.Node{Path: v.Tree.Config(), Value: "jobName: orders\n", Created: 1, Revision: 1}
	v.State = jobtree.ElasticJob3StateOf("orders", registry.NewSnapshot(9, []registry.Node{me, lead, config}))
	for _, w := range m.AnnounceLeave(v)[0].Txn.Then {
		require.NotEqual(t, me.Path, w.Path, "there the node says something else")
	}
}

// refusing are others among whom this instance must not be.
type refusing struct{ peers.None }

var errRefused = errors.New("refused")

func (refusing) Refuses(room.View) error { return errRefused }

// Others keep an instance out. A process that declares the job gives up, and one for which it is data waits.
func TestAMemberThatOthersRefuse(t *testing.T) {
	t.Parallel()
	for _, data := range []bool{false, true} {
		w := &world{}
		require.Empty(t, w.room(t, data, refusing{}).Decide(seeing(t), Parting{}))
		require.Equal(t, data, w.failed == nil)
		if !data {
			require.ErrorIs(t, w.failed, errRefused)
		}
	}
}

// When another session does not let go of the id, the registry itself is asked before that counts, once for each wait.
func TestAMemberWhoseIDIsTaken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		holder registry.SessionID
		fails  bool
	}{
		"it is still held":   {foreignSession, true},
		"the view lags":      {0, false},
		"a third one has it": {formerSession, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, v := &world{holder: test.holder}, seeing(t, instance("me", foreignSession))
				m := w.room(t, false, peers.None{})
				decide := func(after time.Duration) error {
					time.Sleep(after)
					w.failed = nil
					require.Empty(t, m.Decide(v, Parting{}))
					w.work.Wait()
					return w.failed
				}
				require.NoError(t, decide(0))
				require.NoError(t, decide(patience(v)-time.Millisecond), "it may still let go")
				require.Equal(t, test.fails, errors.Is(decide(time.Millisecond), ErrDuplicate))
				require.NoError(t, decide(0), "another wait has begun")
				require.Equal(t, test.fails, errors.Is(decide(patience(v)), ErrDuplicate))
			})
		})
	}
}

// tellingPeers note what they are told of this instance.
type tellingPeers struct {
	peers.None
	left int
}

func (p *tellingPeers) Left() { p.left++ }

// Who left because of its clock knows that by what it sees, though the answer was lost: else it would look as if somebody
// had shut it down.
func TestALeaveBecauseOfTheClockWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		others := new(tellingPeers)
		m := new(world).room(t, false, others)
		other, me := instance("other", foreignSession), instance("me", mySession)
		v := seeing(t, other, me)
		m.Observe(v)
		require.Empty(t, m.Decide(v, Parting{}))
		m.clock.out = true
		require.Empty(t, m.Decide(v, Parting{Stays: true}))
		require.Empty(t, m.Decide(seeing(t, other), Parting{Stays: true}))
		require.Zero(t, others.left, "it was others who took it out")
		batch := m.Decide(v, Parting{Ready: true})
		require.Len(t, batch, 1)
		require.Zero(t, others.left, "it is there yet")
		require.Zero(t, m.LeftAt())
		v = seeing(t, other)
		require.Empty(t, m.Decide(v, Parting{}))
		require.Equal(t, 1, others.left)
		require.NotZero(t, m.LeftAt())
	})
}
