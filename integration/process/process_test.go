//go:build linux

package process_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// child is a process that the test started.
type child struct {
	t     *testing.T
	name  string
	log   string // where its standard error goes
	cmd   *exec.Cmd
	ready chan struct{} // closed when it said so
	gone  chan struct{} // closed when it has ended with err
	err   error
}

// instanceCommand returns the command that is this binary as an instance.
func instanceCommand(t *testing.T, settings instanceSettings) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(settings)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envInstance+"="+string(text))
	return cmd
}

// launch starts a process. It is killed when the test ends, if it still lives then.
func launch(t *testing.T, dir, name string, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{
		t: t, name: name, log: filepath.Join(dir, name+".log"), cmd: cmd,
		ready: make(chan struct{}), gone: make(chan struct{}),
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.OpenFile(c.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer log.Close()
	c.cmd.Stderr = log
	_, err = c.cmd.StdinPipe() // stays open for as long as this process lives
	require.NoError(t, err)
	stdout, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	go c.follow(stdout)
	t.Cleanup(c.cleanUp)
	return c
}

// follow waits for the word and for the end.
func (c *child) follow(stdout io.Reader) {
	defer close(c.gone)
	word := make([]byte, len(saysReady))
	if _, err := io.ReadFull(stdout, word); err == nil && string(word) == saysReady {
		close(c.ready)
	}
	_, _ = io.Copy(io.Discard, stdout)
	c.err = c.cmd.Wait()
}

// signal sends a signal to the process, by its id, if it lives.
func (c *child) signal(s syscall.Signal) {
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Errorf("signal %s to %s: %v", s, c.name, err)
	}
}

// kill ends the process without a word, and returns when it is gone.
func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	<-c.gone
}

// term asks the process to end, and returns when it has. It must end well, or with a status that is
// excused then.
func (c *child) term(excused func(status int) bool) {
	c.signal(syscall.SIGTERM)
	select {
	case <-c.gone:
	case <-time.After(waitTimeout):
		c.t.Errorf("%s did not end within %s of SIGTERM\n%s", c.name, waitTimeout, c.logTail())
		c.kill()
		return
	}
	if c.err != nil && !excused(c.cmd.ProcessState.ExitCode()) {
		c.t.Errorf("%s ended badly: %v\n%s", c.name, c.err, c.logTail())
	}
}

// awaitReady waits until the process does what it is there for, and tells whether it came to that.
func (c *child) awaitReady() error {
	select {
	case <-c.ready:
		return nil
	case <-c.gone:
		return fmt.Errorf("%s ended before it was ready: %w\n%s", c.name, c.err, c.logTail())
	case <-time.After(waitTimeout):
		return fmt.Errorf("%s was not ready within %s\n%s", c.name, waitTimeout, c.logTail())
	}
}

// cleanUp makes sure that nothing is left of the process, and that it complained of no fault of its own.
func (c *child) cleanUp() {
	c.kill()
	text, err := os.ReadFile(c.log)
	if err != nil {
		c.t.Error(err)
	}
	for _, fault := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if bytes.Contains(text, []byte(fault)) {
			c.t.Errorf("%s: %s\n%s", c.name, fault, c.logTail())
		}
	}
}

// logTail returns the end of what the process logged.
func (c *child) logTail() []byte {
	text, _ := os.ReadFile(c.log)
	return text[max(0, len(text)-8<<10):]
}

// process is one process that runs jobs, from its start to its end.
type process struct {
	*child
	id      string
	journal string
	killed  time.Time // zero = it was not
}

// awaitEvent waits until the process has written down an event of an execution, and returns it.
func (p *process) awaitEvent(kind string, token int64) event {
	p.t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); <-look.C {
		events, err := readJournal(p.journal)
		require.NoError(p.t, err)
		for _, e := range events {
			if e.Kind == kind && e.Token == token {
				return e
			}
		}
	}
	require.Fail(p.t, fmt.Sprintf("%s wrote nothing of %s of token %d", p.id, kind, token))
	return event{}
}
