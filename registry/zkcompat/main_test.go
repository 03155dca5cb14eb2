package zkcompat_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/internal/standstill"
)

// shared is the server of all tests that neither stop nor freeze one. Each test has a namespace.
var shared = sync.OnceValues(func() (*zookeeper.Server, error) {
	server, err := zookeeper.Launch(context.Background())
	started.Store(server)
	return server, err
})

// started is the shared server, once it runs.
var started atomic.Pointer[zookeeper.Server]

// sharedServer returns it, or skips the test on a machine that cannot run it.
func sharedServer(tb testing.TB) *zookeeper.Server {
	tb.Helper()
	zookeeper.Need(tb)
	server, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	return server
}

// despiteStalls tells a story about the shared server that fails if that, or this process, stands still for slack. It is told
// again if it failed and one of them did. The story opens what it breaks anew each time.
func despiteStalls(t *testing.T, slack time.Duration, story func() error) {
	t.Helper()
	bystander := java(t)
	znode := "/bystander-of-" + namespaceOf(t)
	create(t, bystander, znode)
	standstill.RetryBeside(t, slack, func() { _, _ = bystander.Set(znode, nil, -1) }, story)
}

// TestMain runs more tests at a time than there are processors, unless told how many: most of them wait
// for sessions to end. It fails if a goroutine outlives them.
func TestMain(m *testing.M) {
	flag.Parse()
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "test.parallel" })
	if !told {
		_ = flag.Set("test.parallel", "8")
	}
	code := m.Run()
	if server := started.Load(); server != nil {
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
