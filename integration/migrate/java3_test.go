package migrate_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// rarely is a cron that does not fire while a test runs: the operator does.
const rarely = "0 0 0 1 1 ? 2099"

// peer3 is a Java process of 3.x, and the namespace in which it takes part in jobs.
type peer3 struct {
	*javapeer.Peer
	cluster javapeer.Cluster
	ns      string
}

func newPeer3(t *testing.T, name string, session time.Duration) *peer3 {
	t.Helper()
	javapeer.ElasticJob3.Need(t)
	ns := unique(name)
	return &peer3{
		Peer:    javapeer.Start(t, javapeer.WithRelease(javapeer.ElasticJob3), javapeer.WithIP("10.0.0.7")),
		cluster: javapeer.Cluster{Servers: shared(t).Address(), Namespace: ns, Session: session},
		ns:      ns,
	}
}

// goes is a Go instance of a job in the target.
type goes struct {
	t    *testing.T
	mu   sync.Mutex
	runs []job.ShardingContext
	told chan struct{}
}

// startGo starts an instance that declares a job as Java did.
func startGo(t *testing.T, ns, name string) *goes {
	t.Helper()
	g := &goes{t: t, told: make(chan struct{}, 1)}
	s, err := scheduler.New(open(t, ns))
	require.NoError(t, err)
	cfg := job.Config{Name: name, Cron: rarely, ShardingTotalCount: 1} // what is stored counts
	cfg.Class = javapeer.Class
	_, err = s.Add(t.Context(), cfg, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.runs = append(g.runs, sc)
		select {
		case g.told <- struct{}{}:
		default:
		}
		return nil
	}))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return g
}

// wait waits until what ran so far is enough.
func (g *goes) wait(enough func([]job.ShardingContext) bool) []job.ShardingContext {
	g.t.Helper()
	for late := time.After(patience); ; {
		g.mu.Lock()
		runs := slices.Clone(g.runs)
		g.mu.Unlock()
		if enough(runs) {
			return runs
		}
		select {
		case <-g.told:
		case <-late:
			require.Fail(g.t, "waited in vain", "%v", runs)
		}
	}
}

// What real instances of 3.x store of jobs of every type becomes jobs here.
func TestJobsOf3(t *testing.T) {
	t.Parallel()
	p := newPeer3(t, "types", 20*time.Second)
	minutes := 3
	declared := []javapeer.Job{
		{Name: "simple", Executor: "SINGLE_THREAD", ErrorHandler: "IGNORE", Strategy: "ODEVITY", TimeZone: "GMT+08:00", ReconcileMinutes: &minutes},
		{Name: "http", Type: javapeer.TypeHTTP, Props: map[string]string{"http.uri": "http://127.0.0.1:1/", "http.method": "POST", "http.data": "a=1"}},
		{Name: "script", Script: `/bin/echo "a b"`},
		{Name: "dataflow", Type: javapeer.TypeDataflow, Props: map[string]string{"streaming.process": "true"}},
		{Name: "kept", ItemParameters: "0=😀,1=ü", JobParameter: "\U0001F680", Label: "blue", StaticSharding: true, Listeners: []string{javapeer.ListenerEach}, Description: "größer 😀"},
	}
	for _, j := range declared {
		j.Cron, j.Total, j.Misfire, j.Monitor = rarely, 2, true, true
		_, err := p.Join(p.cluster, j)
		require.NoError(t, err)
	}
	require.True(t, p.Exit())

	j := newJava(t, shared(t), "")
	done := j.migrate(p.ns, "--apply", "--json")
	require.Zero(t, done.status, done.errOut)
	got := map[string]job.Config{}
	for path, value := range nodes(t, p.ns) {
		if name, config := strings.CutSuffix(path, "/config"); config {
			c, err := jobtree.DecodeConfig(registry.Node{Path: path, Value: value, Revision: 1})
			require.NoError(t, err)
			got[name[1:]] = c
		}
	}
	base := job.Config{Cron: rarely, ShardingTotalCount: 2, Misfire: job.MisfireOnce}
	want := map[string]job.Config{}
	for name, change := range map[string]func(*job.Config){
		"simple": func(c *job.Config) {
			c.Class, c.ExecutorServiceHandler, c.ErrorHandler = javapeer.Class, "SINGLE_THREAD", "IGNORE"
			c.ShardingStrategy, c.TimeZone, c.ReconcileInterval = "ODEVITY", "Etc/GMT-8", 3*time.Minute
		},
		"http": func(c *job.Config) {
			c.Class, c.Props = "HTTP", map[string]string{"http.uri": "http://127.0.0.1:1/", "http.method": "POST", "http.data": "a=1"}
		},
		"script": func(c *job.Config) { c.Type, c.ScriptCommandLine = job.TypeScript, `/bin/echo "a b"` },
		"dataflow": func(c *job.Config) {
			c.Type, c.Class, c.StreamingProcess = job.TypeDataflow, javapeer.DataflowClass, true
		},
		"kept": func(c *job.Config) {
			c.Class, c.Description = javapeer.Class, "größer 😀"
			c.ShardingItemParameters, c.JobParameter = "0=😀,1=ü", "\U0001F680"
			c.Unknown = `"elasticJob3":{"jobListenerTypes":["PEER"],"label":"blue","staticSharding":true}`
		},
	} {
		c := base
		c.Name = name
		change(&c)
		text, err := jobtree.EncodeConfig(c)
		require.NoError(t, err)
		want[name], err = jobtree.DecodeConfig(registry.Node{Path: "/" + name + "/config", Value: text, Revision: 1})
		require.NoError(t, err)
	}
	require.Equal(t, want, got)
}

// A Java process dies while it runs an item with failover on. Its mark stays, and the item is run again by Go.
func TestWhatJavaHasLostGoRunsAgain(t *testing.T) {
	t.Parallel()
	p := newPeer3(t, "lost", 5*time.Second)
	p.Last("orders", javapeer.UntilTold)
	declared := javapeer.NewJob("orders", rarely, 2)
	declared.Failover, declared.TimeZone = true, "GMT+08:00"
	_, err := p.Join(p.cluster, declared)
	require.NoError(t, err)
	require.NoError(t, p.Console(p.cluster).DisableItem("orders", 1))
	require.NoError(t, p.Console(p.cluster).Trigger("orders"))
	p.WaitEvents("orders", func(events []javapeer.Event) bool { return len(events) == 1 })
	j := newJava(t, shared(t), "")
	require.Contains(t, j.migrate(p.ns).out, "it is still running: live instances 10.0.0.7@-@")
	p.Kill()
	var copied migrate.Job
	require.Eventually(t, func() bool { // until the server has ended the session
		done := command(t, nil, "migrate", "--from", j.server.Address(), "--to", strings.Join(target.Endpoints(), ","), "--namespace", p.ns, "--apply", "--json")
		copied = done.report(t)["orders"]
		return copied.Action != migrate.Refused
	}, 2*patience, time.Second)
	require.Equal(t, migrate.Created, copied.Action, copied.Reason)
	require.Contains(t, copied.Notes, "run again in the target: lost executions of items 0")

	runs := startGo(t, p.ns, "orders").wait(func(runs []job.ShardingContext) bool { return len(runs) > 0 })
	require.Equal(t, 0, runs[0].Item)
	require.Equal(t, job.Failover, runs[0].Source)
	require.Greater(t, runs[0].Token, baseOf(t, p.ns, "orders"))
}

// A job that Java runs each second is moved, taken back, and moved for good, and never runs on both sides.
func TestALiveJobOf3IsMoved(t *testing.T) {
	t.Parallel()
	p := newPeer3(t, "moved", 20*time.Second)
	declared := javapeer.NewJob("orders", "0/1 * * * * ?", 2)
	declared.Failover, declared.TimeZone = true, "GMT+08:00"
	_, err := p.Join(p.cluster, declared)
	require.NoError(t, err)
	call := func(way string) migrate.MovedJob {
		t.Helper()
		args := []string{
			"migrate", way, "--from", p.cluster.Servers, "--to", strings.Join(target.Endpoints(), ","), "--namespace", p.ns,
			"--job", "orders", "--wait", "1m", "--apply", "--json",
		}
		if way == "move" {
			args = append(args, "--settle", "2s")
		}
		done := command(t, nil, args...)
		var report migrate.MoveReport
		require.NoError(t, json.Unmarshal([]byte(done.out), &report), "%s%s", done.out, done.errOut)
		require.Zero(t, done.status, "%s%s", done.out, done.errOut)
		return report.Jobs[0]
	}
	began := func(events []javapeer.Event) int {
		return len(slices.DeleteFunc(events, func(e javapeer.Event) bool { return e.Kind != javapeer.EventBegin }))
	}
	p.WaitEvents("orders", func(events []javapeer.Event) bool { return began(events) > 3 })

	require.Equal(t, migrate.Moved, call("move").State)
	ofJava := began(p.Events("orders"))
	g := startGo(t, p.ns, "orders")
	runs := g.wait(func(runs []job.ShardingContext) bool { return len(runs) > 5 })
	require.Equal(t, ofJava, began(p.Events("orders")), "Java has stopped")
	for _, sc := range runs {
		require.Greater(t, sc.Token, baseOf(t, p.ns, "orders"))
	}

	require.Equal(t, migrate.Returned, call("return").State)
	g.mu.Lock()
	ofGo := len(g.runs)
	g.mu.Unlock()
	p.WaitEvents("orders", func(events []javapeer.Event) bool { return began(events) > ofJava+5 })
	g.mu.Lock()
	require.Len(t, g.runs, ofGo, "Go has stopped")
	g.mu.Unlock()

	require.Equal(t, migrate.Moved, call("move").State)
	require.Equal(t, migrate.Confirmed, call("confirm").State)
	ofJava = began(p.Events("orders"))
	more := g.wait(func(runs []job.ShardingContext) bool { return len(runs) > ofGo+5 })
	require.Equal(t, ofJava, began(p.Events("orders")))
	require.Greater(t, more[ofGo].Token, runs[len(runs)-1].Token, "tokens have gone on growing")
	belief, err := p.Belief("orders")
	require.NoError(t, err)
	require.False(t, belief.Shutdown, "Java still takes part, and may be asked to run the job again by whoever enables it")
}
