package javapeer_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/integration/zookeeper"
)

// rarely is a cron that does not fire while a test runs: the operator does.
const rarely = "0 0 0 1 1 ? 2099"

// tree3 is what an instance of 3.0.4 has in ZooKeeper while it runs two items of a job with failover, after an
// operator has triggered it.
var tree3 = []string{
	`P  "io.github.elasticron.javapeer.PeerJob"`,
	`P config "cron: 0 0 0 1 1 ? 2099\ndescription: ''\ndisabled: false\nfailover: true\njobName: orders\njobParameter: all\n` +
		`maxTimeDiffSeconds: -1\nmisfire: true\nmonitorExecution: true\noverwrite: false\nreconcileIntervalMinutes: 10\n` +
		`shardingItemParameters: 0=Berlin,1=Oslo\nshardingTotalCount: 2\nstaticSharding: false\ntimeZone: GMT+08:00\n"`,
	`P instances ""`,
	`E instances/10.0.0.7@-@1 "jobInstanceId: 10.0.0.7@-@1\nserverIp: 10.0.0.7\n"`,
	`P leader ""`,
	`P leader/election ""`,
	`E leader/election/instance "10.0.0.7@-@1"`,
	`P leader/election/latch ""`,
	`P leader/sharding ""`,
	`P servers ""`,
	`P servers/10.0.0.7 "ENABLED"`,
	`P sharding ""`,
	`P sharding/0 ""`,
	`P sharding/0/instance "10.0.0.7@-@1"`,
	`P sharding/0/running "10.0.0.7@-@1"`,
	`P sharding/1 ""`,
	`P sharding/1/instance "10.0.0.7@-@1"`,
	`P sharding/1/running "10.0.0.7@-@1"`,
	`P trigger ""`,
}

// The peer of 3.0.4 does what its user asks, and its tree is the one that the codecs are written for.
func TestAPeerOf3RunsAJob(t *testing.T) {
	t.Parallel()
	cluster := javapeer.Cluster{Servers: zookeeper.Start(t).Address(), Namespace: "peers", Session: 20 * time.Second}
	peer := javapeer.Start(t, javapeer.WithRelease(javapeer.ElasticJob3), javapeer.WithIP("10.0.0.7"))
	peer.Last("orders", javapeer.UntilTold)
	job := javapeer.NewJob("orders", rarely, 2)
	job.ItemParameters, job.JobParameter, job.Failover, job.TimeZone = "0=Berlin,1=Oslo", "all", true, "GMT+08:00"
	belief, err := peer.Join(cluster, job)
	require.NoError(t, err)
	require.True(t, belief.Leader)
	require.Regexp(t, `^10\.0\.0\.7@-@\d+$`, belief.Instance)

	console := peer.Console(cluster)
	require.NoError(t, console.Trigger("orders"))
	events := peer.WaitEvents("orders", func(events []javapeer.Event) bool { return len(events) == 2 })
	require.Equal(t, "all", events[0].JobParameter)
	require.Equal(t, 2, events[0].Total)
	require.Equal(t, "orders@-@0,1@-@READY@-@"+belief.Instance, events[0].Task)

	conn := client(t, cluster)
	tree := func() []string { return treeOf(t, conn, cluster.Namespace, "orders") }
	require.Eventually(t, func() bool { return slices.Equal(tree3, tree()) }, time.Minute, 50*time.Millisecond, "%q", tree())
	items, err := console.Items("orders")
	require.NoError(t, err)
	require.Len(t, items, 2)
	require.Equal(t, "RUNNING", items[0].Status)
	text, err := console.Dump(peer, "orders")
	require.NoError(t, err)
	masked := strings.Replace(belief.Instance, "10.0.0.7", "ip1", 1) // a dump hides addresses
	require.Contains(t, text, "/orders/sharding/0/running | "+masked)
	peer.Last("orders", 0)
	peer.WaitEvents("orders", ended(0, 1))

	require.NoError(t, console.Disable("orders", ""))
	require.Contains(t, tree(), `P servers/10.0.0.7 "DISABLED"`)
	jobs, err := console.Jobs()
	require.NoError(t, err)
	require.Equal(t, []javapeer.JobInfo{{Job: "orders", Status: "DISABLED", Cron: rarely, Items: 2, Instances: 1}}, jobs)
	require.NoError(t, console.Enable("orders", ""))
	servers, err := console.Servers()
	require.NoError(t, err)
	require.Equal(t, []javapeer.ServerInfo{{ServerIP: "10.0.0.7", Instances: 1, Jobs: 1}}, servers)

	settings, err := console.Settings("orders")
	require.NoError(t, err)
	settings["description"] = "by hand"
	require.NoError(t, console.UpdateSettings(settings))
	require.Contains(t, strings.Join(tree(), "\n"), `description: by hand\n`)

	require.NoError(t, console.Shutdown("orders", ""))
	require.Eventually(t, func() bool {
		belief, err := peer.Belief("orders")
		return err == nil && belief.Shutdown
	}, time.Minute, 50*time.Millisecond)
	require.True(t, peer.Exit())
}

// Every type of job can be declared, and says that it ran.
func TestTheTypesOf3(t *testing.T) {
	t.Parallel()
	cluster := javapeer.Cluster{Servers: zookeeper.Start(t).Address(), Namespace: "peers", Session: 20 * time.Second}
	peer := javapeer.Start(t, javapeer.WithRelease(javapeer.ElasticJob3))
	conn := client(t, cluster)
	console := peer.Console(cluster)
	contexts := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { contexts <- r.Header.Get("shardingContext") }))
	t.Cleanup(server.Close)
	script, written := filepath.Join(t.TempDir(), "script"), filepath.Join(t.TempDir(), "written")
	require.NoError(t, os.WriteFile(script, []byte("printf %s \"$1\" > "+written), 0o600))
	run := func(t *testing.T, job javapeer.Job, root string) *javapeer.Peer {
		t.Helper()
		peer := peer.In(t)
		_, err := peer.Join(cluster, job)
		require.NoError(t, err)
		require.Contains(t, treeOf(t, conn, cluster.Namespace, job.Name), `P  "`+root+`"`)
		if job.Cron == "" {
			require.NoError(t, peer.Execute(job.Name))
		} else {
			require.NoError(t, console.Trigger(job.Name))
		}
		return peer
	}
	t.Run("dataflow", func(t *testing.T) {
		job := javapeer.NewJob("dataflow", rarely, 1)
		job.Type, job.Props = javapeer.TypeDataflow, map[string]string{"streaming.process": "true"}
		peer.In(t).Feed(job.Name, 3)
		events := run(t, job, javapeer.DataflowClass).WaitEvents(job.Name, counts(javapeer.EventFetch, 4))
		require.True(t, counts(javapeer.EventEnd, 3)(events), "%v", events)
	})
	t.Run("listeners", func(t *testing.T) {
		job := javapeer.NewJob("listeners", rarely, 1)
		job.Listeners = []string{javapeer.ListenerEach, javapeer.ListenerOnce}
		peer := run(t, job, javapeer.Class)
		peer.WaitEvents(job.Name, counts(javapeer.EventAfter, 1))
		events := peer.WaitEvents(job.Name, counts(javapeer.EventAfterOnce, 1))
		require.True(t, counts(javapeer.EventBefore, 1)(events), "%v", events)
		require.True(t, counts(javapeer.EventBeforeOnce, 1)(events), "%v", events)
	})
	t.Run("one-off", func(t *testing.T) {
		run(t, javapeer.NewJob("one-off", "", 1), javapeer.Class).WaitEvents("one-off", counts(javapeer.EventEnd, 1))
	})
	t.Run("script", func(t *testing.T) {
		job := javapeer.NewJob("script", rarely, 1)
		job.Script = "/bin/sh " + script
		run(t, job, javapeer.TypeScript)
		require.Eventually(t, func() bool {
			text, err := os.ReadFile(written)
			return err == nil && strings.Contains(string(text), `"jobName":"script"`)
		}, time.Minute, 50*time.Millisecond)
	})
	t.Run("http", func(t *testing.T) {
		job := javapeer.NewJob("http", rarely, 1)
		job.Type, job.Props = javapeer.TypeHTTP, map[string]string{"http.uri": server.URL, "http.method": "GET"}
		run(t, job, javapeer.TypeHTTP)
		select {
		case text := <-contexts:
			require.Contains(t, text, `"jobName":"http"`)
		case <-time.After(time.Minute):
			t.Fatal("nobody called")
		}
	})
}

// counts tells whether there are as many events of a kind.
func counts(kind string, want int) func([]javapeer.Event) bool {
	return func(events []javapeer.Event) bool {
		found := 0
		for _, e := range events {
			if e.Kind == kind {
				found++
			}
		}
		return found >= want
	}
}

// A setting that 2.1.5 does not have is no setting of its jobs.
func TestAPeerOf2RefusesWhatItHasNot(t *testing.T) {
	t.Parallel()
	peer := javapeer.Start(t)
	job := javapeer.NewJob("orders", rarely, 1)
	job.TimeZone = "GMT+08:00"
	_, err := peer.Join(javapeer.Cluster{}, job)
	require.ErrorContains(t, err, "Elastic-Job-Lite 2.1.5 has not all of its settings")
}
