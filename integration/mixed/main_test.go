package mixed

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
)

// patience is for what takes a moment, and only takes as long if it never comes.
const patience = 90 * time.Second

// tick is how often the tree is looked at.
const tick = 50 * time.Millisecond

// sessionTimeout of every instance, Go and Java: how long a crash goes unnoticed. On a busy machine the server may stand still
// for some seconds.
const sessionTimeout = 8 * time.Second

// server is the ZooKeeper of all tests, started with the first.
var server = sync.OnceValues(func() (*zookeeper.Server, error) {
	return zookeeper.Launch(context.Background())
})

func TestMain(m *testing.M) {
	if settings := os.Getenv(envChild); settings != "" {
		os.Exit(runChild(settings))
	}
	if settings := os.Getenv(envRunner); settings != "" {
		os.Exit(runRunner(settings))
	}
	flag.Parse()
	// These tests wait for clocks and processes, and hardly compute: more of them than processors may run.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	code := m.Run()
	if used.Load() {
		if server, err := server(); err == nil {
			_ = server.Close()
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// used tells that the server was started, or tried to.
var used atomic.Bool

// need skips the test where there is no Java, and returns the address of the server.
func need(t *testing.T) string {
	t.Helper()
	zookeeper.Need(t)
	used.Store(true)
	s, err := server()
	if err != nil {
		t.Fatal(err)
	}
	return s.Address()
}
