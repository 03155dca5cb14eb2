package migrate_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/zookeeper"
)

// What all tests share; each has namespaces of its own.
var (
	program string             // the built command
	target  *etcdserver.Server // etcd
	// keeper is the ZooKeeper of tests that do not stop it, started by the first of them. It removes no empty containers, as
	// of latches, which it would once in a minute: tests hold that nothing of a source is changed.
	keeper = sync.OnceValues(func() (*zookeeper.Server, error) {
		return zookeeper.Launch(context.Background(), zookeeper.WithJavaFlags("-Dznode.container.checkIntervalMs=86400000"))
	})
	// kept is what to close of it.
	kept atomic.Pointer[zookeeper.Server]
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "elasticron-migrate")
	if err != nil {
		return failed("make a folder", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "elasticron")
	build := exec.Command("go", "build", "-o", program, "github.com/elasticron/elasticron/cmd/elasticron")
	if text, err := build.CombinedOutput(); err != nil {
		return failed("build the command: "+string(text), err)
	}
	if target, err = etcdserver.Start(context.Background(), etcdserver.WithFastTest()); err != nil {
		return failed("start etcd", err)
	}
	code := m.Run()
	if s := kept.Load(); s != nil {
		if err := s.Close(); err != nil {
			return failed("close ZooKeeper", err)
		}
	}
	if err := target.Close(); err != nil {
		return failed("close etcd", err)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		return failed("look for goroutines", err)
	}
	return code
}

// shared returns the ZooKeeper of tests that do not stop it.
func shared(t *testing.T) *zookeeper.Server {
	t.Helper()
	zookeeper.Need(t)
	server, err := keeper()
	require.NoError(t, err)
	kept.Store(server)
	return server
}

func failed(what string, err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	return 1
}
