//go:build unix

package script

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/elasticron/elasticron/internal/pgroup"
)

// group is the process group of a script.
type group struct {
	cmd  *exec.Cmd
	told time.Time // when it was asked to end; zero if it was not
}

// newGroup has the command become the leader of a group of its own.
func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &group{cmd: cmd}
}

// terminate asks the whole group to end.
func (g *group) terminate() error {
	g.told = time.Now()
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// await gives what is left of a group that was asked to end the time that it has. A shell that is asked to end does not wait
// for the program that does its work.
func (g *group) await(grace time.Duration) {
	if !g.told.IsZero() {
		pgroup.Await(func() bool { return pgroup.Lives(g.cmd.Process.Pid) }, g.told.Add(grace), func() bool { return false })
	}
}

// kill ends what is left of the group, whose number stays taken as long as one process of it lives.
func (g *group) kill() {
	_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
}
