// Package serverprocess starts the real servers of tests as processes of their own, signals them and
// ends them: by process id only, and so that they die with the test however that ends (on Linux). [Output] keeps what
// a process says.
package serverprocess

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// endTimeout is how long a process has to end by its own signal before it gets SIGKILL.
const endTimeout = 10 * time.Second

// Process is one run of a server. Its methods may be called concurrently.
type Process struct {
	cmd  *exec.Cmd
	gone chan struct{}
}

// Option sets something of a process.
type Option func(*exec.Cmd)

// Unprivileged takes root's rights from the process where this one has them; see [HandOver].
func Unprivileged() Option { return dropRights }

// Start runs a command whose output is appended to a file.
func Start(command []string, log string, chosen ...Option) (*Process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(command[0], command[1:]...), gone: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = attributes()
	for _, set := range chosen {
		set(p.cmd)
	}
	started := make(chan error, 1) // holds the one answer
	go p.live(out, started)
	return p, <-started
}

// live starts the process and waits for its end on one thread: the system kills the process when the
// thread that started it ends.
func (p *Process) live(out *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.gone)
	defer out.Close() //nolint:errcheck // what matters of it was written by the process
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // it was killed
	}
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Gone returns a channel that is closed when the process has ended.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// State tells how the process ended. It must be gone.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Kill ends the process with SIGKILL, and returns when it is gone. It may be gone before.
func (p *Process) Kill() error {
	err := p.cmd.Process.Kill()
	<-p.gone
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// End ends the process with a signal, and with SIGKILL if that takes too long. It returns when the
// process is gone.
func (p *Process) End(signal os.Signal) {
	_ = p.cmd.Process.Signal(signal) // it may be gone
	select {
	case <-p.gone:
	case <-time.After(endTimeout):
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}

// LogTail returns the last 8 KiB of what a server wrote to its log, or why that cannot be read.
func LogTail(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	const most = 8 << 10
	return string(text[max(0, len(text)-most):])
}
