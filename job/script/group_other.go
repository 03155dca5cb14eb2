//go:build !unix

package script

import (
	"os/exec"
	"time"
)

// group is the process of a script: there are no process groups here.
type group struct {
	cmd *exec.Cmd
}

func newGroup(cmd *exec.Cmd) group { return group{cmd} }

func (g group) terminate() error { return g.cmd.Process.Kill() }

func (group) await(time.Duration) {}

func (group) kill() {}
