package migrate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

func TestJobsOfAllGenerations(t *testing.T) {
	t.Parallel()
	ns := unique("shop")
	j := newJava(t, shared(t), "")
	j.has(tree2(ns, "order_job", config2)...)
	j.has(tree2(ns, "sh_job", script2)...)
	j.has(tree3(ns, "new_job", "SCRIPT", config3)...)

	dry := j.migrate(ns)
	require.Zero(t, dry.status, dry.errOut)
	require.Contains(t, dry.out, "Nothing was written")
	require.Empty(t, nodes(t, ns))

	done := j.migrate(ns, "--apply", "--json")
	require.Zero(t, done.status, done.errOut)
	for name, job := range done.report(t) {
		require.Equal(t, migrate.Created, job.Action, name)
	}
	got := nodes(t, ns)
	for path, value := range map[string]string{
		"/order_job/config": config2, "/order_job/servers/10.0.0.2": "DISABLED", "/order_job/sharding/2/disabled": "",
		"/sh_job/config": script2, "/sh_job/servers/10.0.0.2": "DISABLED",
		"/new_job/servers/10.0.0.2": "DISABLED", "/new_job/sharding/1/disabled": "",
	} {
		require.Contains(t, got, path)
		require.Equal(t, value, got[path], path)
		delete(got, path)
	}
	require.Contains(t, got["/new_job/config"], `"elasticJob3":{"label":"blue"}`)
	require.Contains(t, got["/new_job/config"], `"timeZone":"Etc/GMT-8"`)
	for _, name := range []string{"order_job", "sh_job", "new_job"} {
		require.Contains(t, got, "/"+name+"/leader/tokens")
		delete(got, "/"+name+"/leader/tokens")
	}
	delete(got, "/new_job/config")
	require.Empty(t, got, "nothing else is copied")

	again := j.migrate(ns, "--apply", "--json")
	require.Zero(t, again.status, again.errOut)
	for name, job := range again.report(t) {
		require.Equal(t, migrate.Unchanged, job.Action, name)
	}
}

func TestWhatCannotBeCopiedKeepsNothingElseBack(t *testing.T) {
	t.Parallel()
	ns := unique("mixed")
	j := newJava(t, shared(t), "")
	j.has(tree2(ns, "order_job", config2)...)
	j.has(tree2(ns, "poison_job", poison2)...)
	j.has("/"+ns+"/old_job/config/cron", "0 0 * * * ?", "/"+ns+"/old_job/config/jobClass", "c", "/"+ns+"/old_job/execution/0/completed", "")
	j.has(tree2(ns, "live_job", strings.Replace(config2, "order_job", "live_job", 1))...)
	j.has("/"+ns+"/live_job/instances/10.0.0.1@-@7!", "", "/"+ns+"/live_job/sharding/0/running!", "")

	done := j.migrate(ns, "--apply", "--json")
	require.Equal(t, 1, done.status)
	require.Contains(t, done.errOut, "3 of 4 jobs")
	jobs := done.report(t)
	require.Equal(t, migrate.Created, jobs["order_job"].Action)
	for name, want := range map[string]string{
		"poison_job": "misfire is \"null\"", "old_job": "Elastic-Job 1.x", "live_job": "live instances 10.0.0.1@-@7; executions of items 0",
	} {
		require.Equal(t, migrate.Refused, jobs[name].Action, name)
		require.Contains(t, jobs[name].Reason, want)
	}
	forced := j.migrate(ns, "--apply", "--job", "live_job", "--even-if-running", "--json")
	require.Zero(t, forced.status, forced.errOut)
	require.Equal(t, migrate.Created, forced.report(t)["live_job"].Action)
}

func TestDigests(t *testing.T) {
	t.Parallel()
	ns := unique("private")
	j := newJava(t, shared(t), "shop:secret")
	j.has(tree2(ns, "order_job", config2)...)
	done := j.migrate(ns, "--json")
	require.Zero(t, done.status, done.errOut)
	require.Equal(t, migrate.Created, done.report(t)["order_job"].Action)
	for name, digest := range map[string]string{"another": "shop:wrong", "none": ""} {
		j.digest = digest
		refused := j.migrate(ns)
		require.Equal(t, 1, refused.status, name)
		require.Contains(t, refused.errOut, "denied", name)
		require.NotContains(t, refused.errOut, "wrong", "a password is no message")
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	j := newJava(t, zookeeper.Start(t), "")
	j.has(tree2("gone", "order_job", config2)...)
	empty := command(t, nil, "migrate", "--from", j.server.Address(), "--to", target.Endpoints()[0], "--namespace", "nobody")
	require.Equal(t, 1, empty.status)
	require.Contains(t, empty.errOut, "the namespace has no jobs: nobody")
	require.NoError(t, j.server.Kill())
	for _, args := range [][]string{
		{"--from", j.server.Address(), "--to", target.Endpoints()[0]},
		{"--from-etcd", target.Endpoints()[0], "--to", "http://127.0.0.1:1"},
	} {
		refused := command(t, nil, append([]string{"migrate", "--namespace", "gone"}, args...)...)
		require.Equal(t, 1, refused.status)
		require.Contains(t, refused.errOut, "registry unavailable")
		require.Empty(t, refused.out)
	}
}

// The copy is a job that Go instances run, under tokens above those of the source.
func TestTheCopyRuns(t *testing.T) {
	t.Parallel()
	ns := unique("moved")
	j := newJava(t, shared(t), "")
	j.has(tree2(ns, "order_job", config2)...)
	done := j.migrate(ns, "--apply")
	require.Zero(t, done.status, done.errOut)
	_, last, err := j.conn.Get("/" + ns + "/order_job/systemTime/current")
	require.NoError(t, err)

	reg := open(t, ns)
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	runs := make(chan job.ShardingContext, 100)
	cfg := job.Config{Name: "order_job", Cron: "0 0 0 1 1 ?", ShardingTotalCount: 1} // what is stored counts
	cfg.Class = "com.acme.OrderJob"
	_, err = s.Add(t.Context(), cfg, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		runs <- sc
		return nil
	}))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	seen := map[int]string{}
	for late := time.After(patience); len(seen) < 2; {
		select {
		case sc := <-runs:
			require.Greater(t, sc.Token, last.Mzxid)
			require.NotEqual(t, 2, sc.Item, "it is disabled")
			seen[sc.Item] = sc.ItemParameter
		case <-late:
			require.Fail(t, "not every item ran", "%v", seen)
		}
	}
	stop()
	require.NoError(t, <-ended)
	require.Equal(t, map[int]string{0: "A", 1: "B"}, seen)
}

// Tokens go on growing from cluster to cluster.
func TestFromEtcdToEtcd(t *testing.T) {
	t.Parallel()
	ns := unique("first")
	j := newJava(t, shared(t), "")
	j.has(tree2(ns, "order_job", config2)...)
	require.Zero(t, j.migrate(ns, "--apply").status)
	second := command(t, nil, "migrate", "--from-etcd", target.Endpoints()[0], "--to", target.Endpoints()[0],
		"--namespace", ns, "--to-namespace", ns+"-second", "--apply")
	require.Zero(t, second.status, second.errOut)
	require.Greater(t, base(t, ns+"-second"), base(t, ns))
	require.Equal(t, nodes(t, ns)["/order_job/config"], nodes(t, ns+"-second")["/order_job/config"])
}

func base(t *testing.T, namespace string) int64 {
	t.Helper()
	return baseOf(t, namespace, "order_job")
}

// baseOf returns where a job's tokens start in the target.
func baseOf(t *testing.T, namespace, name string) int64 {
	t.Helper()
	path := jobtree.For(name).Tokens()
	tokens, err := jobtree.DecodeTokens(registry.Node{Path: path, Value: nodes(t, namespace)[path]})
	require.NoError(t, err)
	return tokens.Base
}
