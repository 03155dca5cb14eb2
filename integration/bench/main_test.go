package bench_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

var large = flag.Bool("large", false, "measure ten times as many jobs, which takes minutes")

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	code := m.Run()
	if err := store.close(); err != nil {
		fmt.Fprintln(os.Stderr, "close etcd:", err)
		return 1
	}
	err := goleak.Find()
	for began := time.Now(); err != nil && time.Since(began) < 10*time.Second; { // members of a cluster take 5 s to give each other up
		err = goleak.Find()
	}
	if err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// store is the server that all benchmarks share, each in a namespace of its own. The first that
// wants it starts it.
var store lazyServer

type lazyServer struct {
	once   sync.Once
	server *embedded.Server
	err    error
}

func (l *lazyServer) endpoints(b *testing.B) []string {
	b.Helper()
	l.once.Do(func() { l.server, l.err = embedded.Start(context.Background()) })
	require.NoError(b, l.err, "start etcd")
	return l.server.Endpoints()
}

func (l *lazyServer) close() error {
	if l.server == nil {
		return nil
	}
	return l.server.Close()
}

// openEtcd opens a handle on a namespace, of the shared server unless it is adjusted. It stays the caller's to close.
func openEtcd(b *testing.B, namespace string, adjust ...func(*etcd.Config)) *etcd.Registry {
	b.Helper()
	config := etcd.Config{
		Namespace: namespace,
		// A busy machine must neither repeat requests nor lose sessions: that is another benchmark.
		RequestTimeout: 10 * time.Second, SessionTTL: 30 * time.Second, DialTimeout: time.Minute,
	}
	for _, change := range adjust {
		change(&config)
	}
	if config.Endpoints == nil {
		config.Endpoints = store.endpoints(b)
	}
	reg, err := etcd.Open(b.Context(), config)
	require.NoError(b, err)
	return reg
}

var namespaces atomic.Int64

// newNamespace returns one that nothing else uses.
func newNamespace() string { return fmt.Sprintf("bench-%d", namespaces.Add(1)) }
