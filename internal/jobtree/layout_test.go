package jobtree_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

var orders = jobtree.For("orders")

func TestInstancesOfElasticJob3(t *testing.T) {
	t.Parallel()
	text := jobtree.ElasticJob3.EncodeInstance("10.0.0.1@-@123")
	require.Equal(t, "jobInstanceId: 10.0.0.1@-@123\nserverIp: 10.0.0.1\n", text)
	require.Equal(t, jobtree.ElasticJob3, jobtree.LayoutOf(registry.Node{Value: text}))
	for _, other := range []string{"", jobtree.InstanceTriggered, jobtree.InstanceShutdown} {
		require.Equal(t, jobtree.Lite, jobtree.LayoutOf(registry.Node{Value: other}))
	}
	require.Empty(t, jobtree.Lite.EncodeInstance("10.0.0.1@-@123"))
}

func state3(s *store) *jobtree.State { return jobtree.ElasticJob3StateOf("orders", s.snapshot()) }

// ElasticJob 3.x takes a server without a word for disabled.
func TestServersOfElasticJob3(t *testing.T) {
	t.Parallel()
	const id = "10.0.0.1@-@7"
	s := newStore()
	require.False(t, state3(s).Enabled(id))
	for value, enabled := range map[string]bool{"": false, "ENABLED": true, "DISABLED": false, "enabled": false} {
		s.put(orders.Server("10.0.0.1"), value, 0)
		require.Equal(t, enabled, state3(s).Enabled(id), value)
		require.Equal(t, value == "", state3(s).Server("10.0.0.1").Unset)
	}
	require.Equal(t, "ENABLED", jobtree.ElasticJob3.EncodeServer(false))
	require.Equal(t, "DISABLED", jobtree.ElasticJob3.EncodeServer(true))
}

// With static sharding members do not matter as long as the items that have owners are those of the configuration.
func TestStaticSharding(t *testing.T) {
	t.Parallel()
	const text = "cron: 0 0 0 * * ?\njobName: orders\nshardingTotalCount: 2\n"
	s := newStore()
	s.put(orders.Config(), text, 0)
	require.True(t, state3(s).MembersMatter())
	s.put(orders.Config(), text+"staticSharding: false\n", 0)
	require.False(t, state3(s).StaticSharding())
	s.put(orders.Config(), text+"staticSharding: true\n", 0)
	for _, step := range []struct {
		path, value string
		matter      bool
	}{
		{orders.ItemDisabled(1), "", true}, // no item has an owner
		{orders.ItemInstance(0), "10.0.0.1@-@7", true},
		{orders.ItemInstance(1), "", true},
		{orders.ItemInstance(1), "10.0.0.2@-@7", false}, // whether it lives or not
		{orders.ItemInstance(2), "10.0.0.1@-@7", true},  // there are fewer now
	} {
		s.put(step.path, step.value, 0)
		require.True(t, state3(s).StaticSharding())
		require.Equal(t, step.matter, state3(s).MembersMatter(), step)
	}
	s.put(orders.Leader(), "10.0.0.1@-@7", 1)
	s.put(orders.Processing(), "", 1)
	require.False(t, state3(s).MembersMatter(), "a Java leader assigns them")
}

// It asks an instance to run its items by a node of its own.
func TestTriggersOfElasticJob3(t *testing.T) {
	t.Parallel()
	const id = "10.0.0.1@-@7"
	s := newStore()
	s.put(orders.Instance(id), jobtree.ElasticJob3.EncodeInstance(id), 1)
	require.False(t, state3(s).Instance(id).Triggered)
	asked := s.put(orders.InstanceTrigger(id), "", 0)
	i := state3(s).Instance(id)
	require.True(t, i.Triggered)
	require.Equal(t, asked, i.Request)
	require.Equal(t, jobtree.ElasticJob3, i.Layout)
	require.False(t, jobtree.SharedStateOf("orders", s.snapshot()).Instance(id).Triggered, "elsewhere it says nothing")
}

// A persistent mark counts as long as its instance lives under the session that the record names.
func TestPersistentMarks(t *testing.T) {
	t.Parallel()
	const javas, ours = "10.0.0.9@-@7", "10.0.0.1@-@7-a"
	s := newStore()
	s.put(orders.Instance(javas), jobtree.ElasticJob3.EncodeInstance(javas), 1)
	s.put(orders.Instance(ours), jobtree.ElasticJob3.EncodeInstance(ours), 2)
	s.put(orders.ItemRunning(0), javas, 0)
	token := s.put(orders.ItemRunning(1), ours, 0)
	s.put(orders.ItemRunning(2), ours, 2)
	now := time.Date(2026, time.January, 2, 3, 0, 0, 0, time.UTC)
	running, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: ours, Session: 2, Time: now, Source: job.Scheduled, Fire: now})
	require.NoError(t, err)
	running.Current.Token = int64(token) // as who rewrites a record notes it
	s.put(orders.ItemRecord(1), jobtree.EncodeRecord(running), 0)
	require.NoError(t, state3(s).Item(1).Record.Err)
	sessions := func() (all [3]registry.SessionID) {
		for n := range all {
			all[n] = state3(s).Item(n).Running.Session
		}
		return all
	}
	require.Equal(t, [3]registry.SessionID{1, 2, 2}, sessions())

	// Another session of the same process is another runner.
	s.remove(orders.Instance(ours))
	require.Equal(t, token, state3(s).Item(1).Remains.Created)
	s.put(orders.Instance(ours), jobtree.ElasticJob3.EncodeInstance(ours), 3)
	require.Equal(t, token, state3(s).Item(1).Remains.Created)
	require.False(t, state3(s).Item(1).Running.Exists())

	s.remove(orders.Instance(javas))
	require.Equal(t, javas, state3(s).Item(0).Remains.Value)
	require.False(t, state3(s).Item(0).Running.Exists())

	// Another process may have the id, unless it runs by a claim of its session.
	s.put(orders.Instance(javas), jobtree.ElasticJob3.EncodeInstance(javas), 4)
	require.Equal(t, javas, state3(s).Item(0).Remains.Value)
	for session, lives := range map[registry.SessionID]bool{1: false, 4: true} {
		s.put(orders.ItemFailover(0), javas, session)
		require.Equal(t, lives, state3(s).Item(0).Running.Exists())
		require.Equal(t, !lives, state3(s).Item(0).Remains.Exists())
		s.remove(orders.ItemFailover(0))
	}
	s.put(orders.ItemRunning(0), javas, 0) // as that process begins it
	require.Equal(t, registry.SessionID(4), state3(s).Item(0).Running.Session)
	require.False(t, state3(s).Item(0).Remains.Exists())
}

// The state is the same on whichever way it came about, in this layout too.
func TestStateOfElasticJob3DependsOnWhatThereIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newStore()
		state := jobtree.NewState("orders")
		state.ShareWithElasticJob3()
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			for range rapid.IntRange(0, 6).Draw(t, "changes") {
				drawChange(t, s)
				if id := rapid.SampledFrom([]string{"10.0.0.1@-@7", "10.0.0.2@-@9"}).Draw(t, "asked"); rapid.Bool().Draw(t, "ask") {
					s.put(orders.InstanceTrigger(id), "", 0)
				} else {
					s.remove(orders.InstanceTrigger(id))
				}
				if rapid.Bool().Draw(t, "root") {
					s.put(orders.Root(), rapid.SampledFrom([]string{"", "SCRIPT", "com.acme.OrderJob"}).Draw(t, "class"), 0)
				}
			}
			state.Apply(s.step())
			requireSameState(t, state3(s), state)
		}
	})
}
