package serverprocess

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// nobody is the user and the group of unprivileged servers where this process is root, by number: those
// of every Linux.
const nobody = 65534

// attributes puts a server into a process group of its own, so that an interrupt at the terminal does
// not reach it before the test, and has it killed when the test dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func dropRights(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
}

// HandOver gives a folder to the user of unprivileged servers.
func HandOver(folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(folder, nobody, nobody)
}

// Freeze stops the process with SIGSTOP, and returns when none of its threads runs any more: the signal is only on its way
// when it was sent, and another processor may do some more of the process until it arrives.
func (p *Process) Freeze() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for end := time.Now().Add(endTimeout); ; time.Sleep(time.Millisecond) {
		switch frozen, err := p.frozen(); {
		case err != nil || frozen:
			return err
		case time.Now().After(end):
			return fmt.Errorf("process %d still runs %s after SIGSTOP", p.PID(), endTimeout)
		}
	}
}

// frozen tells whether all threads have stopped.
func (p *Process) frozen() (bool, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.PID()))
	if err != nil {
		return false, err
	}
	for _, name := range threads {
		fields, err := behindName(name)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) { // it has ended
			continue
		}
		if err != nil {
			return false, err
		}
		if len(fields) == 0 || string(fields[0]) != "T" {
			return false, nil
		}
	}
	return len(threads) > 0, nil
}

// Thaw lets a frozen process go on.
func (p *Process) Thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
