package zookeeper

import (
	"context"
	_ "embed"
	"sync"
	"testing"

	"github.com/elasticron/elasticron/integration/maven"
)

//go:embed pom.xml
var pom []byte

// jars fetches the server, once.
var jars = sync.OnceValues(func() (string, error) {
	return maven.Jars(context.Background(), "zookeeper", pom)
})

// Need skips the test where ZooKeeper cannot be had, with the reason, and fails it there in CI.
func Need(tb testing.TB) {
	tb.Helper()
	maven.Need(tb)
	_, err := jars()
	switch {
	case err == nil:
	case maven.CI():
		tb.Fatalf("NEEDED: the jars of ZooKeeper: %v", err)
	default:
		tb.Skipf("NEEDED: the jars of ZooKeeper, from Maven Central: %v", err)
	}
}

// Start starts a server that ends with the test. See [Need] for machines that cannot run it. A test
// that fails shows the end of the server's log.
func Start(tb testing.TB, chosen ...Option) *Server {
	tb.Helper()
	return StartEnsemble(tb, 1, chosen...)[0]
}

// StartEnsemble starts servers that hold one store together. It ends with the test, as by [Start].
func StartEnsemble(tb testing.TB, count int, chosen ...Option) []*Server {
	tb.Helper()
	Need(tb)
	servers, err := launch(tb.Context(), count, chosen)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		for _, s := range servers {
			if tb.Failed() {
				tb.Logf("ZooKeeper at %s wrote:\n%s", s.address, s.Log())
			}
			if err := s.Close(); err != nil {
				tb.Error(err)
			}
		}
	})
	return servers
}
