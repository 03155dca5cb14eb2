package migrate_test

import (
	"fmt"
	"strings"
	"testing"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry/memory"
)

// javaConfig is what the adapter of 2.1.5 writes.
const javaConfig = `{"jobName":"orders","jobClass":"com.acme.OrderJob","jobType":"SIMPLE","cron":"0 0/5 * * * ?","shardingTotalCount":3,"shardingItemParameters":"0\u003dA,1\u003dB,2\u003dC","jobParameter":"","failover":true,"misfire":true,"description":"","jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler","executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},"monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":-1,"jobShardingStrategyClass":"","reconcileIntervalMinutes":10,"disabled":false,"overwrite":false}`

// newConfig is what 3.0.5 writes.
const newConfig = "cron: 0/5 * * * * ?\ndescription: ''\ndisabled: false\nfailover: true\njobName: orders\njobParameter: ''\n" +
	"label: blue\nmaxTimeDiffSeconds: -1\nmisfire: true\nmonitorExecution: true\noverwrite: false\n" +
	"reconcileIntervalMinutes: 10\nshardingItemParameters: 0=A,1=B\nshardingTotalCount: 2\nstaticSharding: false\ntimeZone: GMT+08:00\n"

// A tree as 2.1.5 leaves it when its instances have stopped.
func TestATreeOfJava2(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source,
		"/orders", "",
		"/orders/config", javaConfig,
		"/orders/servers", "", "/orders/servers/10.0.0.1", "", "/orders/servers/10.0.0.2", "DISABLED",
		"/orders/instances", "",
		"/orders/sharding", "", "/orders/sharding/0", "", "/orders/sharding/0/instance", "10.0.0.1@-@7",
		"/orders/sharding/1", "", "/orders/sharding/1/instance", "10.0.0.1@-@7", "/orders/sharding/1/disabled", "",
		"/orders/sharding/2", "", "/orders/sharding/2/instance", "10.0.0.2@-@7", "/orders/sharding/2/misfire", "",
		"/orders/leader/election/latch", "", "/orders/leader/sharding/necessary", "", "/orders/systemTime/current", "",
	)
	j := w.one(apply)
	require.Equal(t, migrate.Created, j.Action)
	require.Equal(t, migrate.Format2, j.Format)
	require.Equal(t, []string{
		"cron is read in UTC from now on; Java reads it in the time zone of its host",
		"not copied: missed fires of items 2",
	}, j.Notes)
	got := w.nodes(w.target)
	delete(got, "/orders/leader/tokens")
	require.Equal(t, map[string]string{
		"/orders/config": javaConfig, "/orders/servers/10.0.0.2": "DISABLED", "/orders/sharding/1/disabled": "",
	}, got)
}

// Java reads a cron that names no zone in that of its host; where no Java has read the job, nothing changes.
func TestTheZoneOfACronIsNotedWhereJavaMayHaveReadIt(t *testing.T) {
	t.Parallel()
	const note = "cron is read in UTC from now on; Java reads it in the time zone of its host"
	w := newWorld(t)
	w.has(w.source, "/orders/config", javaConfig)
	require.Equal(t, []string{note}, w.one(migrate.Options{}).Notes)
	report, err := migrate.Run(t.Context(), w.source, w.target, migrate.Options{})
	require.NoError(t, err)
	require.Empty(t, report.Jobs[0].Notes)

	w.has(w.source, "/orders", "com.acme.OrderJob", "/orders/config", strings.Replace(newConfig, "timeZone: GMT+08:00\n", "", 1))
	report, err = migrate.Run(t.Context(), w.source, w.target, migrate.Options{})
	require.NoError(t, err)
	require.Equal(t, migrate.Format3, report.Jobs[0].Format)
	require.Contains(t, report.Jobs[0].Notes, note, "3.x is Java, wherever its nodes were put")
}

func TestATreeOfJava3(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source,
		"/orders", "com.acme.OrderJob",
		"/orders/config", newConfig,
		"/orders/servers/10.0.0.1", "ENABLED", "/orders/servers/10.0.0.2", "DISABLED",
		"/orders/instances", "", "/orders/trigger", "", "/orders/trigger/10.0.0.1@-@7", "",
		"/orders/sharding/0/instance", "10.0.0.1@-@7", "/orders/sharding/0/disabled", "",
		"/orders/sharding/7/disabled", "", "/orders/leader/failover/items/1", "",
	)
	j := w.one(apply)
	require.Equal(t, migrate.Created, j.Action)
	require.Equal(t, migrate.Format3, j.Format)
	require.Equal(t, []string{
		"kept in config.elasticJob3, where they mean nothing: label",
		"not copied: disabled marks of items 7, which are beyond the sharding total count",
		"run again in the target: lost executions of items 1",
	}, j.Notes)
	got := w.nodes(w.target)
	delete(got, "/orders/leader/tokens")
	delete(got, "/orders/sharding/1/record")
	require.Equal(t, map[string]string{
		"/orders/config": configOf(t, func(c *job.Config) {
			c.Cron, c.ShardingTotalCount, c.ShardingItemParameters = "0/5 * * * * ?", 2, "0=A,1=B"
			c.Failover, c.TimeZone, c.Unknown = true, "Etc/GMT-8", `"elasticJob3":{"label":"blue"}`
		}),
		"/orders/servers/10.0.0.2": "DISABLED", "/orders/sharding/0/disabled": "", "/orders/leader/failover/items/1": "",
	}, got)
}

// Where servers start disabled, one that an operator enabled says something.
func TestServersThatStartDisabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source,
		"/orders/config", configOf(t, func(c *job.Config) { c.Disabled = true }),
		"/orders/servers/10.0.0.1", "", "/orders/servers/10.0.0.2", "DISABLED",
	)
	created := w.one(apply)
	require.Equal(t, migrate.Created, created.Action)
	require.Contains(t, fmt.Sprint(created), "enable the job to have it run")
	got := w.nodes(w.target)
	require.Contains(t, got, "/orders/servers/10.0.0.1")
	require.Equal(t, "DISABLED", got["/orders/servers/10.0.0.2"])
	require.Equal(t, migrate.Unchanged, w.one(apply).Action)
	w.has(w.target, "/orders/servers/10.0.0.3", "", "/orders/servers/10.0.0.4", "DISABLED")
	require.Equal(t, migrate.Differs, w.one(apply).Action)
	require.Equal(t, migrate.Updated, w.one(migrate.Options{Apply: true, Overwrite: true}).Action)
	got = w.nodes(w.target)
	require.NotContains(t, got, "/orders/servers/10.0.0.3")
	require.Contains(t, got, "/orders/servers/10.0.0.4", "disabled is what it would be without the node")
}

// besideJava is a registry that Java instances use, too.
type besideJava struct{ *memory.Registry }

func (besideJava) JavaLayout() (string, bool) { return "/", true }

// Beside Java, a job is disabled on all of its servers. Those stay disabled when it is enabled in the target that were before.
func TestAJobThatAnOperatorDisabledBesideJava(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source,
		"/orders/config", configOf(t, nil), "/orders/instances/10.0.0.1@-@7!", "",
		"/orders/servers/10.0.0.1", "", "/orders/servers/10.0.0.2", "DISABLED", "/orders/servers/10.0.0.3", "",
	)
	op, err := operate.New(besideJava{w.source}, operate.By("anna", "test"))
	require.NoError(t, err)
	_, err = op.DisableJob(t.Context(), "orders", operate.Options{})
	require.NoError(t, err)
	for n := 1; n <= 3; n++ {
		require.Equal(t, "DISABLED", w.nodes(w.source)[fmt.Sprintf("/orders/servers/10.0.0.%d", n)])
	}
	stays := w.nodes(w.source)["/orders/config"]
	w.has(w.source, "/orders/config", configOf(t, nil)) // by a Java process with overwrite
	require.Contains(t, fmt.Sprint(w.one(migrate.Options{EvenIfRunning: true})), "each server is copied as it is")
	w.has(w.source, "/orders/config", stays)
	require.Equal(t, migrate.Created, w.one(migrate.Options{Apply: true, EvenIfRunning: true}).Action)
	there, err := operate.New(w.target, operate.By("anna", "test"))
	require.NoError(t, err)
	_, err = there.EnableJob(t.Context(), "orders", operate.Options{})
	require.NoError(t, err)
	got := w.nodes(w.target)
	require.Empty(t, got["/orders/servers/10.0.0.1"])
	require.Equal(t, "DISABLED", got["/orders/servers/10.0.0.2"])
	require.Empty(t, got["/orders/servers/10.0.0.3"])
}

// What this version cannot read is told, and the servers are copied as they are.
func TestOperationsOfTheSourceThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil), "/orders/operated", `{"format":9}`, "/orders/servers/10.0.0.2", "DISABLED")
	created := w.one(apply)
	require.Equal(t, migrate.Created, created.Action)
	require.Contains(t, fmt.Sprint(created), "what operators did cannot be read, so each server is copied as it is")
	require.Equal(t, "DISABLED", w.nodes(w.target)["/orders/servers/10.0.0.2"])
}

// A server that was paused or stopped before 2.1 is disabled, unless it has started with 2.1 since, which has not heeded that.
func TestFlagsOfFormerVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source,
		"/orders/config", configOf(t, func(*job.Config) {}), "/orders/sharding/0/instance", "10.0.0.1@-@7",
		"/orders/servers/10.0.0.1", "", "/orders/servers/10.0.0.1/paused", "", "/orders/servers/10.0.0.2/stoped", "", "/orders/servers/10.0.0.2/hostName", "h",
		"/orders/servers/10.0.0.2/shutdown", "", "/orders/servers/10.0.0.3/paused", "", "/orders/servers/10.0.0.3", "",
	)
	report := w.one(apply)
	require.Equal(t, migrate.Created, report.Action)
	require.Contains(t, fmt.Sprint(report), "paused or stopped (10.0.0.1 paused, 10.0.0.2 shutdown, 10.0.0.2 stoped)")
	require.Contains(t, fmt.Sprint(report), "which does not heed them (10.0.0.3 paused)")
	got := w.nodes(w.target)
	require.Equal(t, "DISABLED", got["/orders/servers/10.0.0.1"])
	require.Equal(t, "DISABLED", got["/orders/servers/10.0.0.2"])
	require.NotContains(t, got, "/orders/servers/10.0.0.1/paused")
	require.NotContains(t, got, "/orders/servers/10.0.0.3")
	require.Equal(t, migrate.Unchanged, w.one(apply).Action, "a repetition changes nothing")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		nodes []string
		want  []string
	}{
		"no config":      {[]string{"/orders/servers/10.0.0.1", ""}, []string{"no config node"}},
		"an empty one":   {[]string{"/orders/config", ""}, []string{"must be a JSON object", "an empty one"}},
		"no text at all": {[]string{"/orders/config", " "}, []string{"must be a JSON object"}},
		"null":           {[]string{"/orders/config", "null"}, []string{"mapping"}},
		"poison": {
			[]string{"/orders/config", `{"jobName":"orders","jobType":"SIMPLE","jobClass":"c","cron":"0 0 * * * ?","shardingTotalCount":2,"misfire":null}`},
			[]string{"/orders/config", "misfire", "null"},
		},
		"cut off":        {[]string{"/orders/config", `{"jobName":"orders",`}, []string{"JSON object"}},
		"no item":        {[]string{"/orders/config", `{"jobName":"orders","jobType":"SIMPLE","jobClass":"c","cron":"0 0 * * * ?","shardingTotalCount":0}`}, []string{"shardingTotalCount"}},
		"broken YAML":    {[]string{"/orders/config", "jobName: [orders"}, []string{"no YAML"}},
		"YAML of braces": {[]string{"/orders/config", "{jobName: orders, shardingTotalCount: x}"}, []string{"shardingTotalCount", "whole number"}},
		"settings that make no sense": {
			[]string{"/orders/config", "jobName: orders\ncron: 0 61 * * * ?\nshardingTotalCount: 0\n"},
			[]string{"cron", "61", "shardingTotalCount"},
		},
		"another job's config": {[]string{"/orders/config", `{"jobName":"x","jobType":"SIMPLE","jobClass":"c","cron":"0 0 * * * ?","shardingTotalCount":1}`}, []string{`job "x"`}},
		"1.x": {
			[]string{"/orders/config", "", "/orders/config/cron", "0 0 * * * ?", "/orders/config/jobClass", "c", "/orders/execution/0/completed", ""},
			[]string{"Elastic-Job 1.x", "not read"},
		},
		"1.x, and an empty node with children is none": {
			[]string{"/orders/config/cron", "0 0 * * * ?", "/orders/config/jobClass", "c"},
			[]string{"Elastic-Job 1.x", "not read"},
		},
		"2.0": {
			[]string{"/orders/config", javaConfig, "/orders/servers/10.0.0.1/hostName", "h", "/orders/execution/0/completed", ""},
			[]string{"Elastic-Job 2.0", "not read"},
		},
		"an instance lives":             {[]string{"/orders/config", javaConfig, "/orders/instances/10.0.0.1@-@7!", ""}, []string{"still running", "live instances 10.0.0.1@-@7"}},
		"an item runs":                  {[]string{"/orders/config", javaConfig, "/orders/sharding/2/running!", ""}, []string{"still running", "executions of items 2"}},
		"an execution of 3.x":           {[]string{"/orders/config", newConfig, "/orders/instances/10.0.0.1@-@7!", "", "/orders/sharding/1/running", "10.0.0.1@-@7"}, []string{"live instances 10.0.0.1@-@7; executions of items 1"}},
		"one of 3.x in a session":       {[]string{"/orders/config", newConfig, "/orders/sharding/1/running!", "10.0.0.1@-@7"}, []string{"executions of items 1"}},
		"where tokens start is garbage": {[]string{"/orders/config", javaConfig, "/orders/leader/tokens", "x"}, []string{"/orders/leader/tokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.has(w.source, test.nodes...)
			w.has(w.source, "/payments/config", `{"jobName":"payments","jobType":"SIMPLE","jobClass":"c","cron":"0 0 * * * ?","shardingTotalCount":1}`)
			report := w.run(apply)
			require.False(t, report.Complete())
			require.Len(t, report.Jobs, 2)
			require.Equal(t, migrate.Refused, report.Jobs[0].Action)
			for _, want := range test.want {
				require.Contains(t, report.Jobs[0].Reason, want)
			}
			require.Equal(t, migrate.Created, report.Jobs[1].Action, "the others go on")
			for path := range w.nodes(w.target) {
				require.NotContains(t, path, "/orders")
			}
		})
	}
}

func TestOfMuchThatRunsSomeIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", javaConfig)
	for n := range 12 {
		w.has(w.source, fmt.Sprintf("/orders/sharding/%d/running", n), "")
	}
	require.Equal(t, "it is still running: executions of items 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more", w.one(apply).Reason)
}

// A tree that 2.1 took over from 2.0 may have remains of it.
func TestRemainsOfAFormerTreeDoNoHarm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source,
		"/orders/config", javaConfig, "/orders/servers/10.0.0.1", "DISABLED", "/orders/servers/10.0.0.1/hostName", "h",
		"/orders/execution/0/completed", "", "/orders/sharding/0/instance", "10.0.0.1@-@7",
	)
	require.Equal(t, migrate.Created, w.one(apply).Action)
	require.Equal(t, "DISABLED", w.nodes(w.target)["/orders/servers/10.0.0.1"])
}

// A job that is new in the target goes on from the checkpoints of the source. One that has run there has its own, and the
// report does not show them.
func TestCheckpointsAreCopiedWithANewJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil), "/orders/offset/0", "secret page 7")
	w.has(w.target, "/orders/offset/1", "of a job that was removed")
	created := w.one(apply)
	require.Equal(t, migrate.Created, created.Action)
	require.NotContains(t, fmt.Sprint(created), "secret page")
	require.Equal(t, "secret page 7", w.nodes(w.target)["/orders/offset/0"])
	require.NotContains(t, w.nodes(w.target), "/orders/offset/1")
	require.NotContains(t, fmt.Sprint(w.one(apply)), "not copied")

	w.has(w.target, "/orders/offset/0", "secret page 9", "/orders/sharding/0/record", `{}`)
	again := w.one(apply)
	require.Equal(t, migrate.Unchanged, again.Action)
	require.Contains(t, again.Notes, "not copied: checkpoints of items 0, as the target has the job and its own")
	require.Equal(t, "secret page 9", w.nodes(w.target)["/orders/offset/0"])
}

// Whoever looks at a copy, and repeats the migration when the source has stopped, has the target go on from where the source
// came to.
func TestCheckpointsOfACopyThatNobodyRuns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		there  []string // what else the target has
		copied bool
	}{
		"nobody":       {copied: true},
		"an instance":  {there: []string{"/orders/instances/10.0.0.1@-@7!", ""}},
		"an execution": {there: []string{"/orders/sharding/3/record", `{}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.has(w.source, "/orders/config", configOf(t, nil), "/orders/offset/0", "secret page 7")
			require.Equal(t, migrate.Created, w.one(apply).Action)
			w.has(w.source, "/orders/offset/0", "secret page 9")
			w.has(w.target, test.there...)
			again := w.one(apply)
			require.NotContains(t, fmt.Sprint(again), "secret page")
			if !test.copied {
				require.Contains(t, again.Notes, "not copied: checkpoints of items 0, as the target has the job and its own")
				require.Equal(t, "secret page 7", w.nodes(w.target)["/orders/offset/0"])
				return
			}
			require.Equal(t, migrate.Updated, again.Action)
			require.Contains(t, again.Notes, "copied again, as nothing has run in the target: checkpoints of items 0")
			require.Equal(t, "secret page 9", w.nodes(w.target)["/orders/offset/0"])
			require.Equal(t, migrate.Unchanged, w.one(apply).Action)
		})
	}
}
