package zookeeper

import "syscall"

// attributes puts a server into a process group of its own, so that an interrupt at the terminal does
// not reach it before the test, and has it killed when the test dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func (p *process) freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

func (p *process) thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
