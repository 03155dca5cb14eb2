package embedded_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain fails if a goroutine outlives the tests by more than the 5 s that etcd itself takes to
// give up the connections between the members of a cluster.
func TestMain(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for begin := time.Now(); err != nil && time.Since(begin) < 10*time.Second; {
		err = goleak.Find()
	}
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
