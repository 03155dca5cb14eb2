package operate_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

const (
	one  = "10.0.0.1@-@7-a"
	two  = "10.0.0.2@-@7-b"
	java = "10.0.0.9@-@41"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// tree is the nodes of a namespace, to be changed by tests. All of them have the same revision.
type tree map[string]registry.Node

const revision = registry.Revision(90)

func (t tree) put(path, value string) tree {
	t[path] = registry.Node{Path: path, Value: value, Created: 20, Revision: revision}
	return t
}

func (t tree) own(path, value string) tree {
	t[path] = registry.Node{Path: path, Value: value, Created: 30, Revision: revision, Session: 5}
	return t
}

func (t tree) remove(paths ...string) tree {
	for _, p := range paths {
		delete(t, p)
	}
	return t
}

func (t tree) read() *operate.Namespace {
	var nodes []registry.Node
	for _, n := range t {
		nodes = append(nodes, n)
	}
	return operate.NewNamespace(nodes, 99, noon, true)
}

func configOf(tb testing.TB, c job.Config) string {
	tb.Helper()
	text, err := jobtree.EncodeConfig(c)
	require.NoError(tb, err)
	return text
}

func everyMinute(name string) job.Config {
	return job.Config{Name: name, Cron: "0 * * * * ?", ShardingTotalCount: 2, Failover: true}
}

// ran returns the record of an item whose last run was that of a fire.
func ran(tb testing.TB, fire time.Time, outcome jobtree.Outcome) jobtree.Record {
	tb.Helper()
	r, err := begun(tb, fire).End(jobtree.End{Token: 40, Time: fire.Add(2 * time.Second), Outcome: outcome, Error: "exit 3"})
	require.NoError(tb, err)
	return r
}

func begun(tb testing.TB, fire time.Time) jobtree.Record {
	tb.Helper()
	r, err := jobtree.Record{}.Begin(jobtree.Begin{
		Instance: one, Session: 5, Source: job.Scheduled, Fire: fire, Failover: true, Round: "r1", Time: fire.Add(time.Second), Base: 1000,
	})
	require.NoError(tb, err)
	return r
}

var orders = jobtree.For("orders")

// good is a job of two items, on two instances, that has run at noon.
func good(tb testing.TB) tree {
	tb.Helper()
	t := tree{}
	t.put(orders.Config(), configOf(tb, everyMinute("orders")))
	t.own(orders.Instance(one), "").own(orders.Instance(two), "").own(orders.Leader(), one)
	t.put(orders.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 30, Counter: 1, Total: 2}))
	for n, owner := range []string{one, two} {
		t.put(orders.ItemInstance(n), owner)
		t.put(orders.ItemRecord(n), jobtree.EncodeRecord(ran(tb, noon, jobtree.Success)))
	}
	return t
}

func words(reasons []operate.Reason) (all []operate.ReasonWord) {
	for _, r := range reasons {
		all = append(all, r.Word)
	}
	return all
}

// lateAndOperated has an item not have run for two minutes, and something be done to the job some time before noon.
func lateAndOperated(tb testing.TB, t tree, verb operate.Verb, before time.Duration) {
	tb.Helper()
	t.put(orders.ItemRecord(1), jobtree.EncodeRecord(ran(tb, noon.Add(-2*time.Minute), jobtree.Success)))
	var o jobtree.Operated
	if n, is := t[orders.Operated()]; is {
		var err error
		o, err = jobtree.DecodeOperated(n)
		require.NoError(tb, err)
	}
	o.Operations = append(o.Operations, jobtree.Operation{ID: string(verb), Verb: string(verb), When: noon.Add(-before)})
	t.put(orders.Operated(), jobtree.EncodeOperated(o))
}

func TestStatusOfAJob(t *testing.T) {
	t.Parallel()
	set := func(tb testing.TB, change func(*job.Config)) string {
		c := everyMinute("orders")
		change(&c)
		return configOf(tb, c)
	}
	type reasons = []operate.ReasonWord
	for name, test := range map[string]struct {
		change  func(testing.TB, tree)
		status  operate.Status
		reasons reasons
		shown   string
	}{
		"all in order": {func(testing.TB, tree) {}, operate.OK, nil, "OK"},
		"nobody lives": {
			func(_ testing.TB, t tree) { t.remove(orders.Instance(one), orders.Instance(two), orders.Leader()) },
			operate.Crashed,
			reasons{operate.NoInstance},
			"CRASHED",
		},
		"disabled, and nobody lives": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.Disabled = true })).remove(orders.Instance(one), orders.Instance(two))
			},
			operate.Crashed,
			reasons{operate.NoInstance, operate.DisabledJob},
			"CRASHED",
		},
		"all servers disabled": {
			func(_ testing.TB, t tree) {
				t.put(orders.Server("10.0.0.1"), "DISABLED").put(orders.Server("10.0.0.2"), "DISABLED")
			},
			operate.Disabled,
			reasons{operate.DisabledServers},
			"DISABLED",
		},
		"one of two servers disabled": {
			func(_ testing.TB, t tree) { t.put(orders.Server("10.0.0.1"), "DISABLED") }, operate.OK, nil, "OK",
		},
		"disabled as it began": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.Disabled = true }))
			},
			operate.Disabled,
			reasons{operate.DisabledJob},
			"DISABLED",
		},
		"an owner is gone": {
			func(_ testing.TB, t tree) { t.remove(orders.Instance(two)) },
			operate.ShardingFlag,
			reasons{operate.OwnerGone},
			"SHARDING_FLAG",
		},
		"no item has an owner": {
			func(_ testing.TB, t tree) { t.remove(orders.ItemInstance(0), orders.ItemInstance(1)) },
			operate.ShardingFlag,
			reasons{operate.Unassigned},
			"SHARDING_FLAG",
		},
		"one item has no owner": {
			func(_ testing.TB, t tree) { t.remove(orders.ItemInstance(0)) }, operate.OK, nil, "OK",
		},
		"nobody leads": {
			func(_ testing.TB, t tree) { t.remove(orders.Leader()) }, operate.OK, reasons{operate.NoLeader}, "NO_LEADER",
		},
		"nobody leads, and an owner is gone": { // as at every election
			func(_ testing.TB, t tree) { t.remove(orders.Leader(), orders.Instance(one)) },
			operate.ShardingFlag,
			reasons{operate.OwnerGone, operate.NoLeader},
			"SHARDING_FLAG",
		},
		"nobody leads what is disabled": {
			func(_ testing.TB, t tree) {
				t.put(orders.Server("10.0.0.1"), "DISABLED").put(orders.Server("10.0.0.2"), "DISABLED").remove(orders.Leader())
			},
			operate.Disabled,
			reasons{operate.DisabledServers},
			"DISABLED",
		},
		"nobody leads as all have left": {
			func(_ testing.TB, t tree) {
				t.own(orders.Instance(one), "SHUTDOWN").own(orders.Instance(two), "SHUTDOWN").remove(orders.Leader())
			},
			operate.OK,
			nil,
			"OK",
		},
		"a configuration that is no JSON": {
			func(_ testing.TB, t tree) { t.put(orders.Config(), "{") }, operate.OK, reasons{operate.Paused}, "PAUSED",
		},
		"a configuration that cannot be used": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.TimeZone = "Mars" }))
			},
			operate.OK,
			reasons{operate.Paused},
			"PAUSED",
		},
		"a script that nobody can run": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.Type, c.ScriptCommandLine = job.TypeScript, "/opt/x 'it" })).remove(orders.Leader())
			},
			operate.OK,
			reasons{operate.Paused},
			"PAUSED",
		},
		"calls that nobody understands": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.Class = httpjob.Class })).remove(orders.Leader())
			},
			operate.OK,
			reasons{operate.Paused},
			"PAUSED",
		},
		"calls that only the leader's version understands": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.Class = httpjob.Class }))
			},
			operate.OK, nil, "OK",
		},
		"no configuration": {
			func(_ testing.TB, t tree) { t.remove(orders.Config()) }, operate.OK, reasons{operate.Paused}, "PAUSED",
		},
		"paused, and nobody lives": {
			func(_ testing.TB, t tree) {
				t.put(orders.Config(), "{").remove(orders.Instance(one), orders.Instance(two))
			},
			operate.Crashed,
			reasons{operate.Paused, operate.NoInstance},
			"CRASHED",
		},
		"overdue": {
			func(tb testing.TB, t tree) {
				t.put(orders.ItemRecord(1), jobtree.EncodeRecord(ran(tb, noon.Add(-2*time.Minute), jobtree.Success)))
			},
			operate.OK,
			reasons{operate.Overdue},
			"OVERDUE",
		},
		"late by settings that are new": {
			func(tb testing.TB, t tree) {
				lateAndOperated(tb, t, operate.VerbEnableJob, 2*time.Minute)
				lateAndOperated(tb, t, operate.VerbSettings, 30*time.Second)
				lateAndOperated(tb, t, operate.VerbTrigger, 10*time.Second)
			},
			operate.OK, nil, "OK",
		},
		"late by settings that are not new": {
			func(tb testing.TB, t tree) {
				lateAndOperated(tb, t, operate.VerbSettings, 90*time.Second)
				lateAndOperated(tb, t, operate.VerbTrigger, 10*time.Second)
			},
			operate.OK,
			reasons{operate.Overdue},
			"OVERDUE",
		},
		"late, and operated by a clock that is ahead": {
			func(tb testing.TB, t tree) {
				lateAndOperated(tb, t, operate.VerbSettings, 90*time.Second)
				lateAndOperated(tb, t, operate.VerbEnableJob, -31*time.Second)
			},
			operate.OK,
			reasons{operate.Overdue},
			"OVERDUE",
		},
		"late by settings of a clock that is a little ahead": {
			func(tb testing.TB, t tree) { lateAndOperated(tb, t, operate.VerbSettings, -30*time.Second) },
			operate.OK, nil, "OK",
		},
		"late, but not for long": {
			func(tb testing.TB, t tree) {
				for n := range 2 {
					t.put(orders.ItemRecord(n), jobtree.EncodeRecord(ran(tb, noon.Add(-time.Minute), jobtree.Success)))
				}
			},
			operate.OK, nil, "OK",
		},
		"long ago, and disabled": {
			func(tb testing.TB, t tree) {
				t.put(orders.ItemRecord(1), jobtree.EncodeRecord(ran(tb, noon.Add(-time.Hour), jobtree.Success)))
				t.put(orders.ItemDisabled(1), "")
			},
			operate.OK, nil, "OK",
		},
		"a run that takes long": {
			func(tb testing.TB, t tree) {
				t.put(orders.ItemRecord(1), jobtree.EncodeRecord(begun(tb, noon.Add(-time.Hour)))).own(orders.ItemRunning(1), "")
			},
			operate.OK, nil, "OK",
		},
		"a run whose session is gone": {
			func(tb testing.TB, t tree) {
				t.put(orders.ItemRecord(1), jobtree.EncodeRecord(begun(tb, noon.Add(-time.Hour))))
			},
			operate.OK,
			reasons{operate.Overdue},
			"OVERDUE",
		},
		"executions are not recorded": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.Failover, c.Unmonitored = false, true }))
				t.put(orders.ItemRecord(1), jobtree.EncodeRecord(ran(tb, noon.Add(-time.Hour), jobtree.Success)))
			},
			operate.OK, nil, "OK",
		},
		"a lost execution waits": {
			func(tb testing.TB, t tree) {
				lost, err := begun(tb, noon.Add(-time.Hour)).DeclareLost(40, noon, 3)
				require.NoError(tb, err)
				t.put(orders.ItemRecord(0), jobtree.EncodeRecord(lost))
			},
			operate.OK,
			reasons{operate.Waiting},
			"WAITING",
		},
		"what is left of one that made room waits": {
			func(tb testing.TB, t tree) {
				yielded, err := begun(tb, noon.Add(-time.Hour)).End(jobtree.End{Token: 40, Time: noon, Outcome: jobtree.Interrupted, Yielded: true})
				require.NoError(tb, err)
				t.put(orders.ItemRecord(0), jobtree.EncodeRecord(yielded))
			},
			operate.OK,
			reasons{operate.Waiting},
			"WAITING",
		},
		"a lost execution was given up": {
			func(tb testing.TB, t tree) {
				again := begun(tb, noon)
				again.Reruns = 1
				lost, err := again.DeclareLost(40, noon, 1)
				require.NoError(tb, err)
				t.put(orders.ItemRecord(0), jobtree.EncodeRecord(lost))
			},
			operate.OK,
			reasons{operate.GaveUp},
			"GAVE_UP",
		},
		"a record that cannot be read": {
			func(_ testing.TB, t tree) { t.put(orders.ItemRecord(0), "{") }, operate.OK, reasons{operate.Unreadable}, "UNREADABLE",
		},
		"several things at once": {
			func(tb testing.TB, t tree) {
				t.put(orders.ItemRecord(0), "{").remove(orders.Instance(two))
				t.put(orders.ItemRecord(1), jobtree.EncodeRecord(ran(tb, noon.Add(-time.Hour), jobtree.Success)))
			},
			operate.ShardingFlag,
			reasons{operate.OwnerGone, operate.Overdue, operate.Unreadable},
			"SHARDING_FLAG",
		},
		"Java's server of which nobody lives counts": {
			func(_ testing.TB, t tree) {
				t.remove(orders.Instance(one), orders.Instance(two)).own(orders.Instance(java), "")
				t.put(orders.ItemInstance(0), java).put(orders.ItemInstance(1), java)
				t.put(orders.Server("10.0.0.9"), "DISABLED").put(orders.Server("10.0.0.8"), "")
			},
			operate.OK, nil, "OK",
		},
		"items that Java ran since": {
			func(tb testing.TB, t tree) {
				t.own(orders.Instance(java), "").put(orders.ItemInstance(1), java)
				t.put(orders.ItemRecord(1), jobtree.EncodeRecord(ran(tb, noon.Add(-time.Hour), jobtree.Success)))
			},
			operate.OK, nil, "OK",
		},
		"being removed": {
			func(tb testing.TB, t tree) {
				t.put(orders.Operated(), jobtree.EncodeOperated(jobtree.Operated{Removing: "AB12"}))
			},
			operate.OK,
			reasons{operate.Removing},
			"REMOVING",
		},
		"moving to another registry": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.Disabled = true }))
				t.put(orders.Operated(), jobtree.EncodeOperated(jobtree.Operated{Moving: &jobtree.Moving{To: "b", Move: "M1", Since: noon}}))
			},
			operate.Disabled,
			reasons{operate.Moving, operate.DisabledJob},
			"DISABLED",
		},
		"enabled since a move stopped it": {
			func(_ testing.TB, t tree) {
				t.put(orders.Operated(), jobtree.EncodeOperated(jobtree.Operated{Moving: &jobtree.Moving{To: "b", Move: "M1", Since: noon}}))
			},
			operate.OK, nil, "OK",
		},
		"held by migrate": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.Disabled = true }))
				t.put(orders.Move(), `{"id":"M","state":"drained","when":"2026-02-03T04:05:06Z"}`)
			},
			operate.Disabled,
			reasons{operate.Moving, operate.DisabledJob},
			"DISABLED",
		},
		"moved here by migrate": {
			func(_ testing.TB, t tree) {
				t.put(orders.Move(), `{"id":"M","state":"moved","when":"2026-02-03T04:05:06Z"}`)
			},
			operate.OK, nil, "OK",
		},
		"being removed, and little is left": {
			func(tb testing.TB, t tree) {
				clear(t)
				t.put(orders.Operated(), jobtree.EncodeOperated(jobtree.Operated{Removing: "AB12"}))
			},
			operate.Crashed,
			reasons{operate.Removing, operate.Paused, operate.NoInstance},
			"CRASHED",
		},
		"a jitter": {
			func(tb testing.TB, t tree) {
				t.put(orders.Config(), set(tb, func(c *job.Config) { c.Jitter = 55 * time.Second }))
				t.put(orders.ItemRecord(1), jobtree.EncodeRecord(ran(tb, noon.Add(-2*time.Minute), jobtree.Success)))
			},
			operate.OK, nil, "OK",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := good(t)
			test.change(t, nodes)
			row, found := nodes.read().Job("orders")
			require.True(t, found)
			require.Equal(t, test.status, row.Status, row.Reasons)
			require.Equal(t, test.reasons, words(row.Reasons), row.Reasons)
			require.Equal(t, test.shown, row.Shown())
			require.Subset(t, operate.WordsOfJobs(), append(asTexts(words(row.Reasons)), row.Shown(), string(row.Status)))
			for _, r := range row.Reasons {
				require.NotContains(t, r.Text, "\n")
			}
		})
	}
}

func asTexts(words []operate.ReasonWord) []string {
	texts := []string{}
	for _, w := range words {
		texts = append(texts, string(w))
	}
	return texts
}

func TestStatusOfAnItem(t *testing.T) {
	t.Parallel()
	type reasons = []operate.ReasonWord
	for name, test := range map[string]struct {
		change  func(tree)
		status  operate.Status
		reasons reasons
	}{
		"waits for its next fire":     {func(tree) {}, operate.Pending, nil},
		"disabled":                    {func(t tree) { t.put(orders.ItemDisabled(1), "") }, operate.Disabled, reasons{operate.DisabledItem}},
		"disabled while it runs":      {func(t tree) { t.put(orders.ItemDisabled(1), "").own(orders.ItemRunning(1), "") }, operate.Disabled, reasons{operate.DisabledItem}},
		"runs":                        {func(t tree) { t.own(orders.ItemRunning(1), "") }, operate.Running, nil},
		"runs, and its owner is gone": {func(t tree) { t.own(orders.ItemRunning(1), "").remove(orders.Instance(two)) }, operate.Running, nil},
		"its owner is gone":           {func(t tree) { t.remove(orders.Instance(two)) }, operate.ShardingFlag, reasons{operate.OwnerGone}},
		"has no owner":                {func(t tree) { t.remove(orders.ItemInstance(1)) }, operate.ShardingFlag, reasons{operate.Unassigned}},
		"the total count was lowered": {func(t tree) {
			t.put(orders.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 30, Counter: 2, Total: 1}))
		}, operate.ShardingFlag, reasons{operate.Surplus}},
		"the total count was lowered, and it has no owner": {func(t tree) {
			t.put(orders.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 30, Counter: 2, Total: 1})).remove(orders.ItemInstance(1))
		}, operate.ShardingFlag, reasons{operate.Surplus}},
		"the total count was lowered, and it runs": {func(t tree) {
			t.put(orders.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 30, Counter: 2, Total: 1})).own(orders.ItemRunning(1), "")
		}, operate.Running, reasons{operate.Surplus}},
		"a record that cannot be read":  {func(t tree) { t.put(orders.ItemRecord(1), "x") }, operate.Pending, reasons{operate.Unreadable}},
		"a disabled server is no owner": {func(t tree) { t.put(orders.Server("10.0.0.2"), "DISABLED") }, operate.Pending, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := good(t)
			test.change(nodes)
			items := nodes.read().Items("orders")
			require.Len(t, items, 2)
			require.Equal(t, test.status, items[1].Status)
			require.Equal(t, test.reasons, words(items[1].Reasons))
			if surplus := slices.Contains(test.reasons, operate.Surplus); surplus && test.status != operate.Running {
				require.Equal(t, "SURPLUS", items[1].Shown())
			}
			require.Subset(t, operate.WordsOfItems(), append(asTexts(test.reasons), string(test.status), items[1].Shown()))
		})
	}
}

// Why an instance pauses a job, as a setting of a call that it cannot use, stands in its log and not in the registry.
func TestAJobWithoutOwnersTellsWhereToLook(t *testing.T) {
	t.Parallel()
	nodes := good(t)
	nodes.remove(orders.ItemInstance(0), orders.ItemInstance(1))
	row, _ := nodes.read().Job("orders")
	require.Equal(t, operate.ShardingFlag, row.Status)
	require.Contains(t, row.Reasons[0].Text, "the log of the instances says why")
}

// A job that is disabled as a whole says nothing of its servers: they are not disabled, and there is nothing to enable.
func TestADisabledJobDisablesNoServer(t *testing.T) {
	t.Parallel()
	nodes, cfg := good(t), everyMinute("orders")
	cfg.Disabled = true
	nodes.put(orders.Config(), configOf(t, cfg)).put(orders.Server("10.0.0.2"), "DISABLED")
	ns := nodes.read()
	row, _ := ns.Job("orders")
	require.Equal(t, operate.Disabled, row.Status)
	all := []operate.Reason{{Word: operate.DisabledServers, Text: "the server is disabled in all its jobs"}}
	servers := ns.Servers()
	require.Equal(t, operate.ServerRow{Server: "10.0.0.1", Status: operate.OK, Instances: []string{one}, Jobs: []string{"orders"}}, servers[0])
	require.Equal(t, operate.ServerRow{Server: "10.0.0.2", Status: operate.Disabled, Instances: []string{two}, Jobs: []string{"orders"}, Disabled: []string{"orders"}, Reasons: all}, servers[1])
	instances := ns.Instances()
	require.Equal(t, operate.OK, instances[0].Status)
	require.Empty(t, instances[0].Reasons)
	require.Equal(t, operate.Disabled, instances[1].Status)
}

// Whether a job can be enabled does not follow from its status: one of which no instance lives is CRASHED, and one whose
// servers were disabled one by one has nothing to enable.
func TestWhetherAJobIsDisabled(t *testing.T) {
	t.Parallel()
	off := everyMinute("orders")
	off.Disabled = true
	nobody := func(t tree) { t.remove(orders.Instance(one), orders.Instance(two)) }
	servers := func(t tree) {
		t.put(orders.Server("10.0.0.1"), "DISABLED").put(orders.Server("10.0.0.2"), "DISABLED")
	}
	for name, test := range map[string]struct {
		change func(tree)
		want   bool
	}{
		"in order":                   {func(tree) {}, false},
		"nobody lives":               {nobody, false},
		"disabled":                   {func(nodes tree) { nodes.put(orders.Config(), configOf(t, off)) }, true},
		"disabled, and nobody lives": {func(nodes tree) { nodes.put(orders.Config(), configOf(t, off)); nobody(nodes) }, true},
		"all servers disabled":       {servers, false},
		"disabled with all its servers, beside Java": {func(nodes tree) {
			servers(nodes)
			nodes.put(orders.Operated(), jobtree.EncodeOperated(jobtree.Operated{DisabledServers: []string{}}))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := good(t)
			test.change(nodes)
			row, _ := nodes.read().Job("orders")
			require.Equal(t, test.want, row.Disabled)
		})
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	nodes := good(t)
	nodes.own(orders.ItemRunning(1), "").own(orders.ItemFailover(0), one)
	again, err := ran(t, noon.Add(-time.Minute), jobtree.Failure).Begin(jobtree.Begin{
		Instance: two, Session: 5, Source: job.Scheduled, Fire: noon, Time: noon.Add(time.Millisecond), Base: 1000,
	})
	require.NoError(t, err)
	nodes.put(orders.ItemRecord(1), jobtree.EncodeRecord(again))
	slow := everyMinute("slow")
	slow.Cron, slow.ShardingTotalCount = "@delay 10s", 1
	nodes.put("/slow/config", configOf(t, slow)).own("/slow/instances/"+one, "").own("/slow/leader/election/instance", one)
	nodes.put("/slow/sharding/0/instance", one).put("/slow/servers/10.0.0.1", "DISABLED").put("/slow/servers/10.0.0.3", "")
	nodes.put("/slow/sharding/0/record", jobtree.EncodeRecord(ran(t, noon, jobtree.Success)))
	nodes.put("/remains/leader/sharding/necessary", "").put("/nothing", "else")
	ns := nodes.read()
	require.Equal(t, registry.Revision(99), ns.Revision())
	require.Equal(t, []string{"orders", "slow"}, ns.Names())

	current := operate.ExecutionRow{
		Job: "orders", Item: 1, Instance: two, Source: job.Scheduled, Fire: noon, Begin: noon.Add(time.Millisecond),
		Outcome: "running", Token: 1000 + int64(revision),
	}
	before := operate.ExecutionRow{
		Job: "orders", Item: 1, Instance: one, Source: job.Scheduled, Fire: noon.Add(-time.Minute), Begin: noon.Add(-59 * time.Second),
		End: noon.Add(-58 * time.Second), Outcome: "failure", Token: 1040, Round: "r1", Error: "exit 3",
	}
	of0 := before
	of0.Item, of0.Fire, of0.Begin, of0.End = 0, noon, noon.Add(time.Second), noon.Add(2*time.Second)
	of0.Outcome = "success"
	require.Equal(t, []operate.ExecutionRow{of0, current, before}, ns.Executions("orders"))
	require.Equal(t, time.Second, of0.Took(noon))
	require.Equal(t, time.Minute, current.Took(current.Begin.Add(time.Minute)))

	job, found := ns.Job("orders")
	require.True(t, found)
	require.Equal(t, operate.JobRow{
		Job: "orders", Status: operate.OK, Class: "orders", Type: "SIMPLE", Cron: "0 * * * * ?", Items: 2, RunningItems: 1, Instances: 2,
		Leader: one, Next: noon.Add(time.Minute), Recorded: true, Last: &current, Revision: revision,
	}, job)
	items := ns.Items("orders")
	require.Equal(t, operate.ItemRow{
		Job: "orders", Status: operate.Pending, Owner: one, Server: "10.0.0.1", Failover: true, LastFire: noon,
		Counts: operate.Counts{Success: 1}, Last: &of0,
	}, items[0])
	require.Equal(t, operate.Running, items[1].Status)

	require.Equal(t, []operate.InstanceRow{
		{
			Instance: one, Server: "10.0.0.1", Status: operate.OK, Jobs: []string{"orders", "slow"}, Leads: []string{"orders", "slow"}, Items: 2,
			Reasons: []operate.Reason{{Word: operate.DisabledServers, Text: "the server is disabled in 1 of its 2 jobs"}},
		},
		{Instance: two, Server: "10.0.0.2", Status: operate.OK, Jobs: []string{"orders"}, Items: 1, Running: 1},
	}, ns.Instances())
	require.Equal(t, []operate.ServerRow{
		{
			Server: "10.0.0.1", Status: operate.OK, Instances: []string{one}, Jobs: []string{"orders", "slow"}, Disabled: []string{"slow"},
			Reasons: []operate.Reason{{Word: operate.DisabledServers, Text: "the server is disabled in 1 of its 2 jobs"}},
		},
		{Server: "10.0.0.2", Status: operate.OK, Instances: []string{two}, Jobs: []string{"orders"}},
		{
			Server: "10.0.0.3", Status: operate.Crashed, Jobs: []string{"slow"},
			Reasons: []operate.Reason{{Word: operate.NoInstance, Text: "no instance lives there"}},
		},
	}, ns.Servers())

	delayed, _ := ns.Job("slow")
	require.Equal(t, operate.OK, delayed.Status, "Java counts the server on which nobody lives")
	require.Zero(t, delayed.Next, "nobody may run it")
	nodes.put("/slow/servers/10.0.0.1", "")
	delayed, _ = nodes.read().Job("slow")
	require.Equal(t, noon.Add(12*time.Second), delayed.Next)

	nodes.own(orders.Instance(two), "SHUTDOWN")
	nodes.put(orders.Operated(), jobtree.EncodeOperated(jobtree.Operated{Operations: []jobtree.Operation{{ID: "AB12", Verb: "reshard", Who: "anna", When: noon}}}))
	instances := nodes.read().Instances()
	require.Equal(t, []operate.Reason{{Word: operate.Leaving, Text: "it is asked to leave orders"}}, instances[1].Reasons)
	require.Equal(t, "LEAVING", instances[1].Shown())
	require.Equal(t, []operate.Operation{{Job: "orders", ID: "AB12", Verb: operate.VerbReshard, Who: "anna", When: noon}}, nodes.read().Operations("orders"))
	require.Empty(t, nodes.read().Operations("slow"))
	require.Empty(t, nodes.read().Operations("none"))

	_, found = ns.Job("none")
	require.False(t, found)
	require.Empty(t, ns.Items("none"))
	require.Empty(t, ns.Executions("none"))
}

// What runs is counted where it runs, also when the item has another owner by now.
func TestInstancesCountWhatTheyRun(t *testing.T) {
	t.Parallel()
	nodes := good(t) // item 0 is of one, item 1 of two
	nodes.own(orders.ItemRunning(0), two).own(orders.ItemRunning(1), two)
	rows := nodes.read().Instances()
	require.Equal(t, [2]int{0, 2}, [2]int{rows[0].Running, rows[1].Running})

	nodes.remove(orders.Instance(two))
	rows = nodes.read().Instances()
	require.Equal(t, operate.InstanceRow{
		Instance: two, Server: "10.0.0.2", Status: operate.OK, Jobs: []string{}, Running: 2,
		Reasons: []operate.Reason{{Word: operate.Leaving, Text: "it has left, and still runs orders (items 0 and 1)"}},
	}, rows[1])
	require.Equal(t, "LEAVING", rows[1].Shown())
}

// A job of which an item fails at each fire does not look well because another item succeeds.
func TestTheLastOfAJobIsTheWorstOfItsRound(t *testing.T) {
	t.Parallel()
	later := func(r jobtree.Record, err error) jobtree.Record {
		require.NoError(t, err)
		return r
	}
	begins := jobtree.Begin{Instance: two, Session: 5, Source: job.Scheduled, Fire: noon, Time: noon.Add(900 * time.Millisecond)}
	failed := jobtree.End{Token: 40, Time: noon.Add(2 * time.Second), Outcome: jobtree.Failure, Error: "exit 3"}
	for name, test := range map[string]struct {
		first, second jobtree.Record
		item          int
	}{
		"one fails":                   {ran(t, noon, jobtree.Success), ran(t, noon, jobtree.Failure), 1},
		"the lower one fails":         {ran(t, noon, jobtree.Failure), ran(t, noon, jobtree.Success), 0},
		"one is interrupted":          {ran(t, noon, jobtree.Success), ran(t, noon, jobtree.Interrupted), 1},
		"one runs":                    {ran(t, noon, jobtree.Success), begun(t, noon), 1},
		"one runs, and one failed":    {ran(t, noon, jobtree.Failure), begun(t, noon), 0},
		"both succeed":                {ran(t, noon, jobtree.Success), ran(t, noon, jobtree.Success), 0},
		"one failed a fire ago":       {ran(t, noon, jobtree.Success), ran(t, noon.Add(-time.Minute), jobtree.Failure), 0},
		"one began earlier elsewhere": {ran(t, noon, jobtree.Success), later(later(jobtree.Record{}.Begin(begins)).End(failed)), 1},
	} {
		nodes := good(t)
		nodes.put(orders.ItemRecord(0), jobtree.EncodeRecord(test.first)).put(orders.ItemRecord(1), jobtree.EncodeRecord(test.second))
		row, _ := nodes.read().Job("orders")
		require.Equal(t, test.item, row.Last.Item, name)
	}
}

func TestARunThatNeverBeganIsNotShown(t *testing.T) {
	t.Parallel()
	nodes := good(t)
	next, err := ran(t, noon, jobtree.Success).Begin(jobtree.Begin{
		Instance: two, Session: 5, Source: job.Scheduled, Fire: noon.Add(time.Minute), Time: noon.Add(time.Minute),
	})
	require.NoError(t, err)
	undone, err := next.Undo(44, noon.Add(time.Minute))
	require.NoError(t, err)
	nodes.put(orders.ItemRecord(0), jobtree.EncodeRecord(undone))
	rows := nodes.read().Executions("orders")
	require.Len(t, rows, 2)
	require.Equal(t, noon, rows[0].Fire)
	require.Equal(t, rows[0], *nodes.read().Items("orders")[0].Last)
}

// Whatever a tree holds, the rows agree with each other.
func TestRowsAgree(t *testing.T) {
	t.Parallel()
	record := ran(t, noon.Add(-time.Hour), jobtree.Success)
	lost, err := begun(t, noon).DeclareLost(40, noon, 3)
	require.NoError(t, err)
	values := map[string][]string{
		orders.Config():      {configOf(t, everyMinute("orders")), "{", ""},
		orders.Server("x"):   {"", "DISABLED"},
		orders.Instance(one): {"", "TRIGGER"}, orders.Instance(java): {""}, orders.Leader(): {one, java},
		orders.Epoch(): {jobtree.EncodeEpoch(jobtree.Epoch{Term: 30, Counter: 1, Total: 3}), "?"},
	}
	for n := range 5 {
		values[orders.ItemInstance(n)] = []string{one, two, java, ""}
		values[orders.ItemRecord(n)] = []string{jobtree.EncodeRecord(record), jobtree.EncodeRecord(lost), "{"}
		values[orders.ItemRunning(n)] = []string{one, two, java}
		values[orders.ItemDisabled(n)] = []string{""}
		values[orders.ItemFailover(n)] = []string{one}
	}
	rapid.Check(t, func(t *rapid.T) {
		nodes := tree{}
		for path, choices := range values {
			if rapid.Bool().Draw(t, path) {
				nodes.put(path, rapid.SampledFrom(choices).Draw(t, "value"))
			}
		}
		ns := nodes.read()
		row, found := ns.Job("orders")
		items := ns.Items("orders")
		require.Equal(t, found, len(ns.Names()) == 1)
		if !found {
			require.Empty(t, items)
			return
		}
		var running, disabled, owned, ofRuns int
		for n, it := range items {
			require.Equal(t, n, it.Item)
			if n >= row.Items {
				continue
			}
			switch it.Status {
			case operate.Running:
				running++
			case operate.Disabled:
				disabled++
			}
			if it.Owner == one || it.Owner == java {
				owned++
			}
		}
		require.Equal(t, [2]int{running, disabled}, [2]int{row.RunningItems, row.DisabledItems})
		require.Equal(t, row.Status != operate.OK || len(row.Reasons) > 0, row.Shown() != "OK")
		require.Contains(t, operate.WordsOfJobs(), string(row.Status))
		require.Subset(t, operate.WordsOfJobs(), asTexts(words(row.Reasons)))
		for _, it := range items {
			require.Contains(t, operate.WordsOfItems(), string(it.Status))
			require.Subset(t, operate.WordsOfItems(), asTexts(words(it.Reasons)))
		}
		for _, s := range ns.Servers() {
			require.Contains(t, operate.WordsOfServers(), string(s.Status))
			require.Subset(t, operate.WordsOfServers(), asTexts(words(s.Reasons)))
		}
		for _, e := range ns.Executions("orders") {
			require.Contains(t, operate.Outcomes(), e.Outcome)
		}
		all, ofInstances := ns.Instances(), 0
		for _, in := range all {
			require.Contains(t, operate.WordsOfInstances(), string(in.Status))
			require.Subset(t, operate.WordsOfInstances(), asTexts(words(in.Reasons)))
			require.True(t, len(in.Jobs) > 0 || in.Running > 0, "it takes part, or runs something")
			ofRuns += in.Running
		}
		require.LessOrEqual(t, running, ofRuns, "whoever runs it")
		instances := slices.DeleteFunc(all, func(in operate.InstanceRow) bool { return len(in.Jobs) == 0 })
		require.Len(t, instances, row.Instances)
		for _, in := range instances {
			ofInstances += in.Items
		}
		require.LessOrEqual(t, ofInstances, owned)
		if row.Status == operate.Crashed {
			require.Empty(t, instances)
			require.Zero(t, row.Next)
		}
	})
}

func TestReading(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(t.Context())) })
	var writes []registry.Write
	for _, name := range []string{"orders", "orders-2", "Ärger"} {
		writes = append(writes, registry.Put(jobtree.For(name).Config(), configOf(t, everyMinute(name))))
	}
	_, err := reg.Commit(t.Context(), registry.Txn{Then: writes})
	require.NoError(t, err)
	before := reg.Stats().ReadRequests
	ns, err := operate.ReadNamespace(t.Context(), reg, noon)
	require.NoError(t, err)
	require.Equal(t, before+1, reg.Stats().ReadRequests, "one request, however many jobs")
	require.Equal(t, []string{"orders", "orders-2", "Ärger"}, ns.Names())
	require.Equal(t, noon, ns.Time())
	ns, err = operate.ReadJob(t.Context(), reg, "orders", noon)
	require.NoError(t, err)
	require.Equal(t, []string{"orders"}, ns.Names())
	st, found := ns.State("orders")
	require.True(t, found)
	require.Equal(t, "0 * * * * ?", st.Config.Value.Cron)
	_, found = ns.State("orders-2")
	require.False(t, found)

	require.NoError(t, reg.Close(t.Context()))
	_, err = operate.ReadNamespace(t.Context(), reg, noon)
	require.ErrorIs(t, err, registry.ErrClosed)
	_, err = operate.ReadJob(t.Context(), reg, "orders", noon)
	require.ErrorIs(t, err, registry.ErrClosed)
}

// BenchmarkListJobs makes the list of all jobs from the nodes that one request brought.
func BenchmarkListJobs(b *testing.B) {
	for _, jobs := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			var nodes []registry.Node
			for j := range jobs {
				name := fmt.Sprintf("job-%05d", j)
				for _, n := range good(b) {
					n.Path = "/" + name + n.Path[len("/orders"):]
					if n.Path == jobtree.For(name).Config() {
						c := everyMinute(name)
						c.TimeZone = "Europe/Berlin"
						n.Value = configOf(b, c)
					}
					nodes = append(nodes, n)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if rows := operate.NewNamespace(nodes, 1, noon, false).Jobs(); len(rows) != jobs {
					b.Fatalf("%d rows", len(rows))
				}
			}
		})
	}
}
