package serverprocess

import (
	"os"
	"os/exec"
	"syscall"
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

// Freeze stops the process with SIGSTOP.
func (p *Process) Freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (p *Process) Thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
