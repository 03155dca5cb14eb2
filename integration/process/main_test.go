//go:build linux

package process_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/integration/etcdserver"
)

var (
	duration = flag.Duration("process.duration", 90*time.Second, "for how long TestProcesses injects faults")
	seed     = flag.Uint64("process.seed", 0, "what decides what TestProcesses does; 0 = something new")
)

// envInstance has this binary be an instance, and is what that is told.
const envInstance = "ELASTICRON_PROCESS_INSTANCE"

// saysReady is what a process prints when it does what it is there for.
const saysReady = etcdserver.MemberReady

// statusNotClosed is the exit status of an instance that stopped while the store was not there: it could
// not end its session.
const statusNotClosed = 3

var errNotClosed = errors.New("session not ended")

// waitTimeout is for what takes a moment, and only takes as long if it never comes.
const waitTimeout = 90 * time.Second

func TestMain(m *testing.M) {
	if settings, set := os.LookupEnv(envInstance); set {
		os.Exit(beInstance(settings))
	}
	flag.Parse()
	// These tests wait for processes, and hardly compute: more of them than processors may run.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code := m.Run()
	closeShared()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// beInstance makes this process an instance, and returns its exit status.
func beInstance(settings string) int {
	go dieWithParent()
	var set instanceSettings
	err := json.Unmarshal([]byte(settings), &set)
	if err == nil {
		err = runInstance(set)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	switch {
	case errors.Is(err, errNotClosed):
		return statusNotClosed
	case err != nil:
		return 1
	default:
		return 0
	}
}

// dieWithParent ends this process when the other end of its standard input is gone. The kernel would
// do that too, but only for as long as the thread that started it lives.
func dieWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(2)
}
