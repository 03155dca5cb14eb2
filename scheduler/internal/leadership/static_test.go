package leadership

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// clockAt is a clock that stands still.
type clockAt struct {
	room.Clock
	now time.Time
}

func (c clockAt) Now() time.Time { return c.now }

// Members count until the first fire after an assignment was due, or until something runs; longer only if items could not
// be moved yet.
func TestUntilWhenMembersCountWithStaticSharding(t *testing.T) {
	t.Parallel()
	tree, noon := jobtree.For("orders"), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	minutely, err := cronexpr.Parse("0 * * * * ?")
	require.NoError(t, err)
	byHand, err := cronexpr.Parse(cronexpr.Triggered)
	require.NoError(t, err)
	const text = "cron: 0 * * * * ?\njobName: orders\nshardingTotalCount: 1\nstaticSharding: true\n"
	owned := registry.Node{Path: tree.ItemInstance(0), Value: "10.0.0.9@-@7", Created: 2, Revision: 2}
	asked := registry.Node{Path: tree.Necessary(), Created: 3, Revision: 3}
	marked := registry.Node{Path: tree.ItemRunning(0), Value: "10.0.0.9@-@7", Created: 4, Revision: 4, Session: foreignSession}
	view := func(schedule cronexpr.Schedule, after time.Duration, config string, nodes ...registry.Node) room.View {
		nodes = append(nodes, registry.Node{Path: tree.Config(), Value: config, Created: 1, Revision: 1})
		return room.View{Facts: &room.Facts{
			State:   jobtree.ElasticJob3StateOf("orders", registry.NewSnapshot(9, nodes)),
			Process: &room.Process{Clock: clockAt{now: noon.Add(after)}}, Rules: &policy.Rules{Schedule: schedule},
		}}
	}
	look := func(s *static, v room.View) bool {
		s.look(v)
		return s.stays(v)
	}
	var s static
	require.True(t, look(&s, view(minutely, 0, text, owned)), "who takes the leadership over leaves all where it is")
	require.False(t, look(&s, view(minutely, 0, text)), "nothing is assigned")
	s.planned(false)
	require.False(t, look(&s, view(minutely, 59*time.Second, text, owned)))
	require.True(t, look(&s, view(minutely, time.Minute, text, owned)), "the fire has come")
	require.True(t, look(&s, view(minutely, 90*time.Second, text, owned)))

	require.False(t, look(&s, view(minutely, 0, text, owned, asked)), "somebody asks")
	s.planned(true)
	require.False(t, look(&s, view(minutely, time.Minute, text, owned, marked)), "what runs is to be moved yet")
	s.planned(false)
	require.True(t, look(&s, view(minutely, time.Minute, text, owned)))

	require.False(t, look(&s, view(byHand, 0, text, owned, asked)))
	require.False(t, look(&s, view(byHand, 24*time.Hour, text, owned)), "without a fire")
	require.True(t, look(&s, view(byHand, 24*time.Hour, text, owned, marked)), "somebody ran it by hand")
	require.True(t, look(&s, view(byHand, 25*time.Hour, text, owned)))

	require.False(t, look(&s, view(minutely, 0, text[:len(text)-len("staticSharding: true\n")], owned)), "other jobs follow their members")
}

// What could not be moved when somebody asked is moved later, also if that is refused, as it has just begun again.
func TestAMoveThatIsRefusedWithStaticShardingIsMadeLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const java = "10.0.0.2@-@7"
		tree, start := jobtree.For("orders"), time.Now()
		secondly, err := cronexpr.Parse("* * * * * ?")
		require.NoError(t, err)
		v := seeing(t, mySession)
		v.Rules = &policy.Rules{Schedule: secondly}
		sees := func(after time.Duration, asked, running bool) {
			nodes := []registry.Node{
				{Path: tree.Config(), Value: "cron: '* * * * * ?'\njobName: orders\nshardingTotalCount: 2\nstaticSharding: true\n", Created: 1, Revision: 1},
				{Path: tree.Instance("me"), Value: "jobInstanceId: me\nserverIp: me\n", Created: 2, Revision: 2, Session: mySession},
				{Path: tree.Instance(java), Value: "jobInstanceId: " + java + "\nserverIp: 10.0.0.2\n", Created: 2, Revision: 2, Session: foreignSession},
				{Path: tree.Server("me"), Value: "ENABLED", Created: 1, Revision: 1},
				{Path: tree.Server("10.0.0.2"), Value: "ENABLED", Created: 1, Revision: 1},
				{Path: tree.Leader(), Value: "me", Created: 3, Revision: 3, Session: mySession},
				{Path: tree.ItemInstance(0), Value: "me", Created: 4, Revision: 4},
				{Path: tree.ItemInstance(1), Value: "me", Created: 4, Revision: 4},
			}
			if asked {
				nodes = append(nodes, registry.Node{Path: tree.Necessary(), Created: 5, Revision: 5})
			}
			if running {
				nodes = append(nodes, registry.Node{Path: tree.ItemRunning(1), Value: "me", Created: 6, Revision: 6, Session: mySession})
			}
			v.State = jobtree.ElasticJob3StateOf("orders", registry.NewSnapshot(9, nodes))
			v.Clock = clockAt{now: start.Add(after)}
		}
		w := &world{}
		l := w.room(t, peers.None{})
		decide := func() room.Batch {
			l.LookAgain()
			l.Decide(v)
			time.Sleep(gatherFor)
			return l.Decide(v)
		}
		sees(0, true, true)
		require.Len(t, decide(), 1, "the request is answered")
		sees(2*time.Second, false, false)
		batch := decide()
		require.Len(t, batch, 1, "an item is moved")
		require.False(t, batch[0].Refused(registry.ErrConflict))
		sees(3*time.Second, false, true)
		decide()
		sees(3*time.Second, false, false)
		batch = decide()
		require.Len(t, batch, 1, "what began just then has ended")
		moved := slices.ContainsFunc(batch[0].Txn.Then, func(w registry.Write) bool { return w.Value == java })
		require.True(t, moved)
	})
}
