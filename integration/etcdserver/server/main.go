// Server is the process of the etcd servers that package etcdserver starts.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/elasticron/elasticron/integration/etcdserver/internal/wire"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("got %d arguments, want a role and its settings: tests start this program", len(args))
	}
	switch role, settings := args[0], []byte(args[1]); role {
	case wire.RoleCluster:
		return be(runCluster, settings)
	case wire.RoleMember:
		return be(runMember, settings)
	default:
		return fmt.Errorf("there is no role %q", role)
	}
}

func be[Settings any](run func(Settings) error, text []byte) error {
	var set Settings
	if err := json.Unmarshal(text, &set); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	return run(set)
}

// standardInput reads until whoever started this process is gone, which ends the process at once,
// whatever still goes on.
type standardInput struct{}

func (standardInput) Read(p []byte) (int, error) {
	n, err := os.Stdin.Read(p)
	if err == io.EOF {
		os.Exit(0)
	}
	return n, err
}
