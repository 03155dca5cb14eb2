package databases

import (
	"os"
	"os/exec"
	"runtime"
	"time"
)

// dieTimeout is how long a server has to end by its own signal before it gets SIGKILL.
const dieTimeout = 10 * time.Second

// process is one run of a server.
type process struct {
	cmd  *exec.Cmd
	gone chan struct{} // closed when it has ended
}

// start runs a command as the unprivileged user, its output appended to a file.
func start(command []string, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(command[0], command[1:]...), gone: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = attributes()
	started := make(chan error, 1) // holds the one answer
	go p.live(out, started)
	return p, <-started
}

// live starts the process and waits for its end on one thread: the system kills the process when the
// thread that started it ends.
func (p *process) live(out *os.File, started chan<- error) {
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

// end ends the process with a signal, and with SIGKILL if that takes too long.
func (p *process) end(signal os.Signal) {
	_ = p.cmd.Process.Signal(signal) // it may be gone
	select {
	case <-p.gone:
	case <-time.After(dieTimeout):
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}
