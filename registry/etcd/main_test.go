package etcd_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/integration/etcdserver"
)

// shared is the server of all tests that neither stop nor fill one. Each test has a namespace.
var shared = sync.OnceValues(func() (*etcdserver.Server, error) {
	server, err := etcdserver.Start(context.Background(), etcdserver.WithFastTest())
	if err == nil {
		closeAtEnd(server.Close)
	}
	return server, err
})

// sharedCluster is the cluster of all cases that break none.
var sharedCluster = sync.OnceValues(func() (*etcdserver.Cluster, error) {
	cluster, err := etcdserver.StartCluster(context.Background(), 3, clusterOptions()...)
	if err == nil {
		closeAtEnd(cluster.Close)
	}
	return cluster, err
})

// atEnd closes what was shared.
var (
	atEndMu sync.Mutex
	atEnd   []func() error
)

func closeAtEnd(end func() error) {
	atEndMu.Lock()
	defer atEndMu.Unlock()
	atEnd = append(atEnd, end)
}

// TestMain fails if a goroutine outlives the tests.
func TestMain(m *testing.M) {
	waitTogether()
	code := m.Run()
	for _, end := range atEnd {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	// Two goroutines of a stream of etcd's client may wait for each other, see closeWatches, and a third one for their end. A
	// stream that nobody has closed has a goroutine that is none of these.
	if leak := goleak.Find(
		goleak.IgnoreAnyFunction("go.etcd.io/etcd/client/v3.(*watchGRPCStream).run.func1"),
		goleak.IgnoreAnyFunction("go.etcd.io/etcd/client/v3.(*watchGRPCStream).serveSubstream.func1"),
		goleak.IgnoreAnyFunction("go.etcd.io/etcd/client/v3.(*watchGRPCStream).close"),
		goleak.IgnoreAnyFunction("go.etcd.io/etcd/client/v3.(*watchGRPCStream).serveWatchClient"),
	); code == 0 && leak != nil {
		fmt.Fprintln(os.Stderr, leak)
		code = 1
	}
	os.Exit(code)
}

// waitTogether runs more tests at a time than there are processors, unless told how many: most of
// them wait for leases to end and servers to start.
func waitTogether() {
	flag.Parse()
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "test.parallel" })
	if !told {
		_ = flag.Set("test.parallel", "4")
	}
}
