package linkcheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module    = "github.com/elasticron/elasticron"
	scheduler = module + "/scheduler"
	etcd      = module + "/registry/etcd"
	embedded  = module + "/registry/etcd/embedded"
)

// maxPackages is how many packages outside the standard library an application links at most, ours not
// counted: how many rooms our code has weighs nothing. The etcd client and gRPC alone are 152. Raise it only for
// what every application needs.
const maxPackages = 157

// denials are what no application of ours links, and why.
var denials = []struct {
	name, why string
	paths     []string
}{
	{
		"etcd's server", "an application is a client; the server alone more than doubles what it links",
		[]string{"go.etcd.io/etcd/server", "go.etcd.io/etcd/pkg", "go.etcd.io/raft", "go.etcd.io/bbolt", embedded},
	},
	{
		"test libraries", "what only tests run has no place in a binary",
		[]string{
			"testing", "github.com/stretchr/testify", "pgregory.net/rapid", "go.uber.org/goleak",
			module + "/registry/registrytest", module + "/clustertest",
		},
	},
	{
		"command lines", "flags and commands are the application's own affair",
		[]string{"github.com/spf13", module + "/cmd"},
	},
	{
		"metrics and traces", "they leave by a hook, and who wants an exporter imports it",
		[]string{"github.com/prometheus", "go.opentelemetry.io", "github.com/grpc-ecosystem/go-grpc-middleware", module + "/metrics"},
	},
	{
		"other backends", "an application chooses one; the in-memory one is for tests",
		[]string{module + "/registry/memory", module + "/registry/zkcompat"},
	},
	{
		"scripts, calls and messages", "kinds of jobs and error handlers are imported by who uses them",
		[]string{
			module + "/job/script", module + "/job/httpjob", module + "/job/internal/tail", module + "/job/internal/webcall", module + "/job/errorhandler/webhook",
			module + "/job/errorhandler/email", module + "/job/errorhandler/wechat", module + "/job/errorhandler/dingtalk",
			"github.com/wneessen/go-mail", "github.com/mattn/go-shellwords", "github.com/emersion",
		},
	},
	{
		"console, operations and history stores", "they are programs and choices of their own",
		[]string{module + "/console", module + "/worker", module + "/operate", module + "/history", "database/sql"},
	},
}

func TestApplicationsLinkOnlyWhatTheyRun(t *testing.T) {
	t.Parallel()
	linked := link(t, scheduler, etcd)
	for _, denial := range denials {
		require.Empty(t, linked.denied(denial.paths), "%s: %s", denial.name, denial.why)
	}
	require.LessOrEqual(t, len(linked.others()), maxPackages, "packages that an application links:\n%s", linked.byModule())
	t.Logf("an application links %d packages of others", len(linked.others()))
}

// A history links the store that it uses and no other, and a bus alone none.
func TestHistoriesLinkOnlyTheirStore(t *testing.T) {
	t.Parallel()
	drivers := []string{"modernc.org", "github.com/jackc", "github.com/go-sql-driver"}
	bus := link(t, module+"/history", module+"/history/observe")
	require.Empty(t, bus.denied(append(drivers, "database/sql", module+"/history/sqlstore")))
	require.Empty(t, link(t, module+"/history/sqlstore").denied(append(drivers, module+"/history/observe")))
	require.Empty(t, link(t, module+"/history/sqlite").denied(drivers[1:]))
}

// A test of a user's jobs links what the jobs do, the registry in memory and nothing to test with: no
// assertions of somebody else's, no server, no exporter.
func TestUsersTestsLinkNoServer(t *testing.T) {
	t.Parallel()
	linked := link(t, module+"/clustertest")
	require.Empty(t, linked.denied([]string{
		"github.com/stretchr/testify", "pgregory.net/rapid", "go.uber.org/goleak", "go.etcd.io", "google.golang.org",
		"github.com/prometheus", "go.opentelemetry.io", "github.com/go-zookeeper", "database/sql", module + "/cmd",
	}))
	require.LessOrEqual(t, len(linked.others()), 30, "packages:\n%s", linked.byModule())
}

// The embedded server links what applications must not, so the check must catch it.
func TestTheCheckCatchesAServer(t *testing.T) {
	t.Parallel()
	linked := link(t, embedded)
	require.Contains(t, linked.denied([]string{"go.etcd.io/etcd/server/v3/embed"}),
		embedded+" > go.etcd.io/etcd/server/v3/embed")
	require.NotEmpty(t, linked.denied([]string{"go.etcd.io/raft"}))
	require.Greater(t, len(linked.foreign), maxPackages)
	require.Empty(t, linked.denied([]string{"go.etcd.io/etcd/serv"}), "a path is no prefix of text")
}
