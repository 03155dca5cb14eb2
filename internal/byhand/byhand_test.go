package byhand_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/byhand"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

var (
	tree = jobtree.For("orders")
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

const ours = "10.0.0.1@-@go"

// stored is a job of four items with an instance of ours, changed.
func stored(t *testing.T, change func(*job.Config), more ...registry.Node) []registry.Node {
	t.Helper()
	cfg := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}
	if change != nil {
		change(&cfg)
	}
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	return append([]registry.Node{
		{Path: tree.Config(), Value: text, Created: 1, Revision: 3},
		{Path: tree.Instance(ours), Created: 4, Revision: 4, Session: 7},
	}, more...)
}

func stateOf(nodes []registry.Node, shared bool) *jobtree.State {
	snapshot := registry.NewSnapshot(1_000, nodes)
	if shared {
		return jobtree.SharedStateOf("orders", snapshot)
	}
	return jobtree.StateOf("orders", snapshot)
}

// asked is a request that was made at noon, as revision 9.
func asked(t *testing.T, items ...int) registry.Node {
	t.Helper()
	text, err := jobtree.EncodeTriggered(jobtree.Triggered{Items: items, Until: noon.Add(time.Hour)})
	require.NoError(t, err)
	return registry.Node{Path: tree.Triggered(), Value: text, Created: 9, Revision: 9}
}

// ran is the record of item 1, which runs for the request of revision 9.
func ran(t *testing.T) registry.Node {
	t.Helper()
	record, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: ours, Session: 7, Source: job.Manual, Trigger: 9, Time: noon})
	require.NoError(t, err)
	return registry.Node{Path: tree.ItemRecord(1), Value: jobtree.EncodeRecord(record), Created: 10, Revision: 10}
}

func TestWhatIsCommitted(t *testing.T) {
	t.Parallel()
	items := []int{3, 1}
	r, err := byhand.Decide(stateOf(stored(t, nil, asked(t, 2)), false), byhand.Ask{
		Items: items, Parameter: "k1", Fire: noon.Add(-time.Hour), Within: time.Minute, Replace: true,
	}, noon)
	require.NoError(t, err)
	require.Equal(t, []int{3, 1}, items, "the caller's own")
	require.Equal(t, []registry.Condition{registry.Unchanged(tree.Config(), 3), registry.Unchanged(tree.Triggered(), 9)}, r.Compare)
	require.Equal(t, []registry.Write{registry.Put(tree.Triggered(),
		`{"items":"1,3","total":4,"parameter":"k1","fire":"2026-03-01T11:00:00Z","until":"2026-03-01T12:01:00Z"}`)}, r.Writes)
	require.Equal(t, []int{2}, r.Pending, "what is replaced")
	require.False(t, r.Each)

	r, err = byhand.Decide(stateOf(stored(t, func(c *job.Config) { c.Unmonitored = true }, asked(t)), false), byhand.Ask{Within: time.Minute}, noon)
	require.NoError(t, err, "nobody knows whether one is pending")
	require.True(t, r.Each)
	require.Nil(t, r.Items)
}

func TestWhyARequestIsNotMade(t *testing.T) {
	t.Parallel()
	disabled := func(item int) registry.Node {
		return registry.Node{Path: tree.ItemDisabled(item), Created: 5, Revision: 5}
	}
	hour := byhand.Ask{Within: time.Hour}
	withItems := func(items ...int) byhand.Ask { return byhand.Ask{Items: items, Within: time.Hour} }
	for name, row := range map[string]struct {
		nodes []registry.Node
		ask   byhand.Ask
		why   byhand.Why
		items []int
	}{
		"no job":              {nil, hour, byhand.NotStored, nil},
		"unreadable":          {[]registry.Node{{Path: tree.Config(), Value: "{", Created: 1, Revision: 1}}, hour, byhand.Unusable, nil},
		"unusable":            {stored(t, func(c *job.Config) { c.Cron = "?" }), hour, byhand.Unusable, nil},
		"disabled":            {stored(t, func(c *job.Config) { c.Disabled = true }), hour, byhand.JobDisabled, nil},
		"nobody":              {stored(t, nil)[:1], hour, byhand.NobodyLives, nil},
		"a disabled server":   {stored(t, nil, registry.Node{Path: tree.Server("10.0.0.1"), Value: "DISABLED", Created: 5, Revision: 5}), hour, byhand.NobodyEnabled, nil},
		"no time":             {stored(t, nil), byhand.Ask{}, byhand.NoTime, nil},
		"unknown items":       {stored(t, nil), withItems(4, 0, -1), byhand.UnknownItems, []int{-1, 4}},
		"an item twice":       {stored(t, nil), withItems(1, 2, 1), byhand.TwiceNamed, []int{1}},
		"a disabled item":     {stored(t, nil, disabled(2)), withItems(1, 2), byhand.ItemsDisabled, []int{2}},
		"all items disabled":  {stored(t, nil, disabled(0), disabled(1), disabled(2), disabled(3)), hour, byhand.AllDisabled, nil},
		"no items":            {stored(t, nil), byhand.Ask{Items: []int{}, Within: time.Hour}, byhand.Unwritable, nil},
		"a long parameter":    {stored(t, nil), byhand.Ask{Parameter: strings.Repeat("x", 2_049), Within: time.Hour}, byhand.Unwritable, nil},
		"one that is pending": {stored(t, nil, asked(t), ran(t)), hour, byhand.Pending, []int{0, 2, 3}},
		"one that goes on": {
			stored(t, nil, asked(t), ran(t)), byhand.Ask{Within: time.Hour, AfterRuns: true}, byhand.Pending, []int{0, 1, 2, 3},
		},
		"one that runs":     {stored(t, nil, asked(t, 1), ran(t)), byhand.Ask{Within: time.Hour, AfterRuns: true}, byhand.Pending, []int{1}},
		"items for Java":    {stored(t, nil), byhand.Ask{Items: []int{1}, Within: time.Hour, Java: true}, byhand.BeyondJava, nil},
		"a text for Java":   {stored(t, nil), byhand.Ask{Parameter: "x", Within: time.Hour, Java: true}, byhand.BeyondJava, nil},
		"a fire for Java":   {stored(t, nil), byhand.Ask{Fire: noon, Within: time.Hour, Java: true}, byhand.BeyondJava, nil},
		"unusable for Java": {stored(t, func(c *job.Config) { c.Cron = "?" }), byhand.Ask{Within: time.Hour, Java: true}, byhand.Unusable, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := byhand.Decide(stateOf(row.nodes, row.ask.Java), row.ask, noon)
			var fault *byhand.Fault
			require.ErrorAs(t, err, &fault)
			require.Equal(t, row.why, fault.Why)
			require.Equal(t, row.items, fault.Items)
			require.Equal(t, fault.Why == byhand.Unusable || fault.Why == byhand.Unwritable, errors.Unwrap(fault) != nil)
			require.Contains(t, err.Error(), string(row.why))
			require.Empty(t, r.Writes)
		})
	}
	_, err := byhand.Decide(stateOf(stored(t, nil, asked(t, 1), ran(t)), false), hour, noon)
	require.NoError(t, err, "it has begun")
	_, err = byhand.Decide(stateOf(stored(t, nil, asked(t)), false), hour, noon.Add(2*time.Hour))
	require.NoError(t, err, "it is over")
	require.Equal(t, "items are disabled: [2]", (&byhand.Fault{Why: byhand.ItemsDisabled, Items: []int{2}}).Error())
}

// Java instances are asked by their own nodes, as they were read and as many as one transaction takes; those of this
// library are not.
func TestManyJavaInstances(t *testing.T) {
	t.Parallel()
	nodes := stored(t, nil)
	for n := range 250 {
		nodes = append(nodes, registry.Node{Path: tree.Instance(fmt.Sprintf("10.0.1.%d@-@7", n)), Created: 1, Revision: registry.Revision(5 + n), Session: 8})
	}
	s := stateOf(nodes, true)
	r, err := byhand.Decide(s, byhand.Ask{Within: time.Hour}, noon)
	require.NoError(t, err)
	require.Len(t, r.Writes, 1, "there are none")
	require.False(t, r.More)
	r, err = byhand.Decide(s, byhand.Ask{Within: time.Hour, Java: true}, noon)
	require.NoError(t, err)
	require.True(t, r.Each)
	require.True(t, r.More)
	require.Len(t, r.Writes, 101)
	for _, w := range r.Writes[1:] {
		require.Equal(t, jobtree.InstanceTriggered, w.Value)
		id := strings.TrimPrefix(w.Path, tree.Instances()+"/")
		require.NotEqual(t, ours, id)
		require.Contains(t, r.Compare, registry.Unchanged(w.Path, s.Instance(id).Revision))
	}
	r, err = byhand.Decide(stateOf(nodes[:101], true), byhand.Ask{Within: time.Hour, Java: true}, noon)
	require.NoError(t, err)
	require.False(t, r.More)
}
