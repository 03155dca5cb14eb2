//go:build unix

package script

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is the process group of a script.
type group struct {
	cmd *exec.Cmd
}

// newGroup has the command become the leader of a group of its own.
func newGroup(cmd *exec.Cmd) group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return group{cmd}
}

// terminate asks the whole group to end.
func (g group) terminate() error {
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// kill ends what is left of the group, whose number stays taken as long as one process of it lives.
func (g group) kill() {
	_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
}
