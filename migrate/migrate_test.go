package migrate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
)

func TestADryRunWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil), "/orders/sharding/3/disabled", "")
	dry := w.run(migrate.Options{})
	require.False(t, dry.Applied)
	require.Empty(t, w.nodes(w.target))
	applied := w.run(apply)
	require.True(t, applied.Applied)
	require.Equal(t, dry.Jobs, applied.Jobs, "it does what it said that it would")
	require.Len(t, applied.Jobs[0].Changes, 3)
}

func TestItCanBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil), "/orders/sharding/3/disabled", "", "/orders/servers/10.0.0.1", "DISABLED")
	require.Equal(t, migrate.Created, w.one(apply).Action)
	before, _, err := w.target.List(t.Context(), registry.Root)
	require.NoError(t, err)
	w.has(w.source, "/payments/nothing", "") // the source goes on, the job does not
	for range 3 {
		j := w.run(migrate.Options{Apply: true, Jobs: []string{"orders"}}).Jobs[0]
		require.Equal(t, migrate.Unchanged, j.Action)
		require.Empty(t, j.Changes)
	}
	after, _, err := w.target.List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestWhatDiffersIsLeftUnlessAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source,
		"/orders/config", configOf(t, nil),
		"/orders/sharding/1/disabled", "", "/orders/servers/10.0.0.1", "DISABLED",
	)
	w.has(w.target,
		"/orders/config", configOf(t, func(c *job.Config) { c.Cron, c.TimeZone, c.Description = "0 0 * * * ?", "", "a & b" }),
		"/orders/sharding/2/disabled", "", "/orders/servers/10.0.0.1", "", "/orders/servers/10.0.0.2", "DISABLED", "/orders/servers/10.0.0.3", "",
		"/orders/sharding/0/record", `{"state":"idle"}`,
	)
	before := w.nodes(w.target)
	changes := []string{
		`config.cron: "0 0 * * * ?" -> "0 0/5 * * * ?"`,
		`config.description: "a & b" -> ""`,
		`config.timeZone: + "Europe/Berlin"`,
		`servers/10.0.0.1: "" -> DISABLED`,
		`sharding/1/disabled: + ""`,
		`servers/10.0.0.2: - DISABLED`,
		`sharding/2/disabled: - ""`,
	}
	j := w.one(apply)
	require.Equal(t, migrate.Differs, j.Action)
	require.Equal(t, changes, texts(j.Changes))
	require.Equal(t, before, w.nodes(w.target))

	j = w.one(migrate.Options{Overwrite: true})
	require.Equal(t, migrate.Updated, j.Action)
	require.Equal(t, before, w.nodes(w.target), "a dry run")

	j = w.one(migrate.Options{Apply: true, Overwrite: true, Who: "anna", Reason: "as in the old cluster"})
	require.Equal(t, migrate.Updated, j.Action)
	require.Equal(t, changes, texts(j.Changes[:len(changes)]))
	require.Equal(t, "leader/tokens", j.Changes[len(changes)].Node)
	op := w.operations()[0]
	require.Equal(t, []string{"migrate", "anna", "migrate", "as in the old cluster", before["/orders/config"]}, []string{op.Verb, op.Who, op.How, op.Reason, op.Before})
	require.True(t, strings.HasPrefix(op.Changed, "server 10.0.0.1 enabled -> disabled; item 1 enabled -> disabled; server 10.0.0.2 disabled -> none"), op.Changed)
	require.Equal(t, w.get("/orders/operated").Revision, w.get("/orders/config").Revision, "in one transaction")
	after := w.nodes(w.target)
	delete(after, "/orders/leader/tokens")
	delete(after, "/orders/operated")
	require.Equal(t, map[string]string{
		"/orders/config": configOf(t, nil), "/orders/sharding/1/disabled": "", "/orders/servers/10.0.0.1": "DISABLED",
		"/orders/servers/10.0.0.3": "", "/orders/sharding/0/record": `{"state":"idle"}`,
	}, after)
	require.Equal(t, migrate.Unchanged, w.one(apply).Action)
}

// operations are what is written down of the job "orders" in the target.
func (w *world) operations() []jobtree.Operation {
	w.Helper()
	operated, err := jobtree.DecodeOperated(w.get("/orders/operated"))
	require.NoError(w, err)
	return operated.Operations
}

// What was done to the job in the target is not lost, also if this version cannot read it.
func TestOperationsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil))
	w.has(w.target, "/orders/config", configOf(t, func(c *job.Config) { c.Description = "x" }), "/orders/operated", `{"format":9}`)
	before := w.nodes(w.target)
	j := w.one(migrate.Options{Apply: true, Overwrite: true})
	require.Equal(t, migrate.Refused, j.Action)
	require.Contains(t, j.Reason, "in the target: what was done to the job cannot be read")
	require.Equal(t, before, w.nodes(w.target))
	require.Equal(t, migrate.Refused, w.one(migrate.Options{Overwrite: true}).Action, "a dry run says what the run would")
	j = w.one(migrate.Options{Apply: true})
	require.Equal(t, migrate.Differs, j.Action, "which would write nothing, and so needs to read nothing")
	require.NotEmpty(t, j.Changes)
	require.Equal(t, before, w.nodes(w.target))
}

func TestEachJobIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil), "/broken/config", "{")
	var heard []string
	opts := migrate.Options{Progress: func(done, of int) { heard = append(heard, fmt.Sprint(done, " of ", of)) }}
	require.Len(t, w.run(opts).Jobs, 2)
	require.Equal(t, []string{"1 of 2", "2 of 2"}, heard)
	_, err := migrate.Run(t.Context(), w.source, w.target, migrate.Options{Who: strings.Repeat("x", 201)})
	require.ErrorIs(t, err, migrate.ErrInvalidOption)
	require.ErrorContains(t, err, "Who is ")
}

func texts(changes []migrate.Change) []string {
	var all []string
	for _, c := range changes {
		all = append(all, c.String())
	}
	return all
}

// The same settings in other words are the same: the Java console writes them in another order.
func TestSettingsAreComparedByWhatTheyMean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil))
	other := `{"timeZone":"Europe/Berlin", "misfire":true,"jobName":"orders","jobType":"SIMPLE","jobClass":"com.acme.OrderJob","cron":"0 0/5 * * * ?","shardingTotalCount":"4"}`
	w.has(w.target, "/orders/config", other)
	j := w.one(apply)
	require.Equal(t, migrate.Updated, j.Action)
	require.Equal(t, []string{"leader/tokens"}, []string{j.Changes[0].Node})
	require.Equal(t, other, w.nodes(w.target)["/orders/config"], "written again as it is, for the sake of tokens")
	require.Equal(t, migrate.Unchanged, w.one(apply).Action)
}

func TestAConfigThatTheTargetCannotReadDiffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil))
	w.has(w.target, "/orders/config", "{")
	require.Equal(t, migrate.Differs, w.one(apply).Action)
	require.Equal(t, migrate.Updated, w.one(migrate.Options{Apply: true, Overwrite: true}).Action)
	w.has(w.target, "/orders/leader/tokens", "{")
	j := w.one(migrate.Options{Apply: true, Overwrite: true})
	require.Equal(t, migrate.Refused, j.Action)
	require.Contains(t, j.Reason, "in the target: /orders/leader/tokens")
}

// Both registries would run a job if one that says that its home is the other got another text.
func TestAJobWhoseHomeIsElsewhereStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"home":"two"}`, jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "two", Move: "m", Config: configOf(t, nil)})} {
		w := newWorld(t)
		w.has(w.source, "/orders/config", configOf(t, nil))
		w.has(w.target, "/orders/config", text)
		j := w.one(migrate.Options{Apply: true, Overwrite: true})
		require.Equal(t, migrate.Refused, j.Action)
		require.Contains(t, j.Reason, `"two"`)
		require.Equal(t, text, w.nodes(w.target)["/orders/config"])
	}
}

func TestAJobThatRunsIsCopiedOnDemand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil), "/orders/instances/10.0.0.1@-@7!", "", "/orders/sharding/0/running!", "")
	require.Equal(t, migrate.Refused, w.one(apply).Action)
	j := w.one(migrate.Options{Apply: true, EvenIfRunning: true})
	require.Equal(t, migrate.Created, j.Action)
	require.Equal(t, []string{"it is still running: live instances 10.0.0.1@-@7; executions of items 0"}, j.Notes)
}

func TestTheTimeZoneOfJobsThatHaveNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", javaConfig, "/berlin/config", configOf(t, func(c *job.Config) { c.Name = "berlin" }))
	report := w.run(migrate.Options{Apply: true, TimeZone: "Asia/Shanghai"})
	require.True(t, report.Complete())
	nodes := w.nodes(w.target)
	require.Contains(t, nodes["/orders/config"], `"timeZone":"Asia/Shanghai"`)
	require.Contains(t, nodes["/berlin/config"], `"timeZone":"Europe/Berlin"`)
	for _, j := range report.Jobs {
		require.Empty(t, j.Notes)
	}
}

func TestAStrategyOfTheirOwnIsNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, func(c *job.Config) { c.ShardingStrategy = "com.acme.ByMoon" }))
	require.Equal(t, []string{"sharding strategy com.acme.ByMoon is none of ours: register one of that name"}, w.one(apply).Notes)
}

func TestChosenJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.has(w.source, "/"+name+"/config", configOf(t, func(c *job.Config) { c.Name = name }))
	}
	report := w.run(migrate.Options{Jobs: []string{"c", "a", "c", "z", "a/b"}, Apply: true})
	got := map[string]migrate.Action{}
	for _, j := range report.Jobs {
		got[j.Name] = j.Action
	}
	require.Equal(t, map[string]migrate.Action{"a": migrate.Created, "c": migrate.Created, "z": migrate.Refused, "a/b": migrate.Refused}, got)
	require.Len(t, report.Jobs, 4)
	require.NotContains(t, w.nodes(w.target), "/b/config")
}

// A job of more marks than a transaction takes gets its config last, so that nobody sees it half done.
func TestAJobLargerThanATransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, func(c *job.Config) { c.ShardingTotalCount = 300 }))
	for n := range 300 {
		w.has(w.source, fmt.Sprintf("/orders/sharding/%d/disabled", n), "")
	}
	require.Equal(t, migrate.Created, w.one(apply).Action)
	nodes, _, err := w.target.List(t.Context(), "/orders")
	require.NoError(t, err)
	require.Len(t, nodes, 302)
	for _, n := range nodes {
		require.LessOrEqual(t, n.Created, nodes[0].Created, "no node is newer than the config")
	}
	require.Equal(t, "/orders/config", nodes[0].Path)
	require.Equal(t, migrate.Unchanged, w.one(apply).Action)
}

// interfering is a target that somebody else writes to between comparison and commit.
type interfering struct {
	migrate.Target
	before func()
}

func (i interfering) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	i.before()
	return i.Target.Commit(ctx, txn)
}

func TestSomebodyElseChangesTheTarget(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"the config": "/orders/config", "a mark": "/orders/sharding/1/disabled", "the tokens": "/orders/leader/tokens",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.has(w.source, "/orders/config", configOf(t, nil), "/orders/sharding/1/disabled", "")
			target := interfering{w.target, func() { w.has(w.target, path, "theirs") }}
			report, err := migrate.Run(t.Context(), w.source, target, apply)
			require.NoError(t, err)
			require.Equal(t, migrate.Failed, report.Jobs[0].Action)
			require.Contains(t, report.Jobs[0].Reason, "run it again")
			require.False(t, report.Complete())
			require.Equal(t, map[string]string{path: "theirs"}, w.nodes(w.target))
		})
	}
}

// Nothing is written into a job that somebody else creates, also if what belongs to a new one takes several transactions.
func TestSomebodyElseCreatesALargeJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, func(c *job.Config) { c.ShardingTotalCount = 150 }))
	for item := range 150 {
		w.has(w.source, fmt.Sprintf("/orders/sharding/%d/disabled", item), "")
	}
	target := interfering{w.target, func() { w.has(w.target, "/orders/config", "theirs") }}
	report, err := migrate.Run(t.Context(), w.source, target, apply)
	require.NoError(t, err)
	require.Equal(t, migrate.Failed, report.Jobs[0].Action)
	require.Equal(t, map[string]string{"/orders/config": "theirs"}, w.nodes(w.target))
}

// An operator who is faster is neither overwritten nor forgotten, whatever he did to the job.
func TestSomebodyOperatesTheTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil))
	theirs := configOf(t, func(c *job.Config) { c.Description = "theirs" })
	w.has(w.target, "/orders/config", theirs)
	once := true
	target := interfering{w.target, func() {
		if once {
			once = false
			w.has(w.target, "/orders/operated", `{"operations":[{"id":"A","verb":"disable item","target":"item 3","who":"bert"}]}`)
		}
	}}
	opts := migrate.Options{Apply: true, Overwrite: true}
	report, err := migrate.Run(t.Context(), w.source, target, opts)
	require.NoError(t, err)
	require.Equal(t, migrate.Failed, report.Jobs[0].Action)
	require.Equal(t, theirs, w.nodes(w.target)["/orders/config"])
	require.Equal(t, migrate.Updated, w.one(opts).Action)
	require.Equal(t, []string{"bert", "unknown"}, []string{w.operations()[0].Who, w.operations()[1].Who})
}

// An answer that gets lost is asked for again, and what was done is recognised.
func TestALostAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil))
	w.target.LoseAnswers(2)
	require.Equal(t, migrate.Created, w.one(apply).Action)

	w = newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil))
	w.has(w.target, "/orders/config", configOf(t, func(c *job.Config) { c.Description = "theirs" }))
	w.target.LoseAnswers(1)
	require.Equal(t, migrate.Updated, w.one(migrate.Options{Apply: true, Overwrite: true}).Action)
	require.Len(t, w.operations(), 1, "it is written down once")
}

// broken answers everything with an error.
type broken struct{ migrate.Target }

var errBroken = errors.New("no luck")

func (broken) Children(context.Context, string) ([]string, error) { return nil, errBroken }

func (broken) List(context.Context, string) ([]registry.Node, registry.Revision, error) {
	return nil, 0, errBroken
}

func (broken) Commit(context.Context, registry.Txn) (registry.Revision, error) { return 0, errBroken }

// unwritable can be read.
type unwritable struct{ migrate.Target }

func (unwritable) Commit(context.Context, registry.Txn) (registry.Revision, error) {
	return 0, errBroken
}

func TestRegistriesThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil), "/a/config", "")
	run := func(source, target migrate.Target, opts migrate.Options) error {
		report, err := migrate.Run(t.Context(), source, target, opts)
		require.Less(t, len(report.Jobs), 2)
		return err
	}
	for want, err := range map[string]error{
		"list the jobs of the source: no luck":       run(broken{w.source}, w.target, apply),
		"job orders: read from the source: no luck":  run(broken{w.source}, w.target, migrate.Options{Jobs: []string{"orders"}}),
		"job orders: read from the target: no luck":  run(w.source, broken{w.target}, apply),
		"job orders: write to the target: no luck":   run(w.source, unwritable{w.target}, apply),
		`TimeZone is "Mars", must be empty for UTC`:  run(w.source, w.target, migrate.Options{TimeZone: "Mars"}),
		`TimeZone is "Local", must be empty for UTC`: run(w.source, w.target, migrate.Options{TimeZone: "Local"}),
	} {
		require.ErrorContains(t, err, want)
	}
	_, err := migrate.Run(t.Context(), newWorld(t).source, w.target, apply)
	require.ErrorIs(t, err, migrate.ErrNoJobs)
}

// foreign has a job that belongs to somebody else.
type foreign struct{ migrate.Target }

func (f foreign) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	if path == "/orders" {
		return nil, 0, &registry.OpError{Op: "list", Path: path, Err: registry.ErrDenied}
	}
	return f.Target.List(ctx, path)
}

func TestAJobOfSomebodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil), "/payments/config", configOf(t, func(c *job.Config) { c.Name = "payments" }))
	report, err := migrate.Run(t.Context(), foreign{w.source}, w.target, apply)
	require.NoError(t, err)
	require.Equal(t, migrate.Refused, report.Jobs[0].Action)
	require.Contains(t, report.Jobs[0].Reason, "denied")
	require.Equal(t, migrate.Created, report.Jobs[1].Action)
}

// The words and members of the report are API.
func TestTheReportAsJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", javaConfig, "/x/y", "")
	w.has(w.target, "/orders/config", configOf(t, func(c *job.Config) { c.TimeZone = "" }))
	text, err := json.Marshal(w.run(migrate.Options{}))
	require.NoError(t, err)
	require.JSONEq(t, `{"applied":false,"jobs":[
		{"name":"orders","format":"2.1","action":"differs","changes":[
			{"node":"config.failover","from":"false","to":"true"},
			{"node":"config.shardingItemParameters","from":"\"\"","to":"\"0=A,1=B,2=C\""},
			{"node":"config.shardingTotalCount","from":"4","to":"3"}],
		 "notes":["cron is read in UTC from now on; Java reads it in the time zone of its host"]},
		{"name":"x","action":"refused","reason":"it has no config node, and may be no job at all"}]}`, string(text))
}
