//go:build linux

package process_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

var (
	duration = flag.Duration("process.duration", 30*time.Second, "for how long TestProcesses hurts processes")
	seed     = flag.Uint64("process.seed", 0, "what decides what TestProcesses does; 0 = something new")
)

// What this binary is when it is not the test, and what it is then told.
const (
	envRole      = "ELASTICRON_PROCESS_ROLE"
	envSettings  = "ELASTICRON_PROCESS_SETTINGS"
	roleInstance = "instance"
	roleMember   = "member"
)

// saysReady is what a process prints when it does what it is there for.
const saysReady = "ready"

// patience is for what takes a moment, and only takes as long if it never comes.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	switch os.Getenv(envRole) {
	case roleInstance:
		os.Exit(be(runInstance))
	case roleMember:
		os.Exit(be(runMember))
	}
	flag.Parse()
	// These tests wait for processes, and hardly compute: more of them than processors may run.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code := m.Run()
	if server, err := shared(); err == nil {
		_ = server.Close()
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// shared is the etcd of all tests that do not hurt it. Each has a namespace.
var shared = sync.OnceValues(func() (*embedded.Server, error) {
	return embedded.Start(context.Background(), embedded.WithFastTest(), embedded.WithRetention(0))
})

// be makes this process one that the test started, and returns its exit status.
func be[Settings any](run func(Settings) error) int {
	go dieWithParent()
	var set Settings
	err := json.Unmarshal([]byte(os.Getenv(envSettings)), &set)
	if err == nil {
		err = run(set)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// dieWithParent ends this process when the other end of its standard input is gone. The kernel would
// do that too, but only for as long as the thread that started it lives.
func dieWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(2)
}
