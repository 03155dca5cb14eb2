package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
)

// process is one child. Its fields are the director's; only the goroutine that reads its reports is
// not.
type process struct {
	label    string                  // "w1"
	instance string                  // empty until it said hello
	running  map[ticket]tally.Result // runs that began and gave no result yet
	killed   time.Time               // by the demo; zero = not
	stopping bool                    // it was asked to end

	cmd     *exec.Cmd
	answers *json.Encoder
}

// event is something that a process did: it reported, or it ended.
type event struct {
	from   *process
	report report
	ended  bool
	err    error // why it ended; nil for exit status 0
}

// startProcess starts a child that sends what it does to events. It always ends with an event that
// says that it ended, and events must be read until then.
func startProcess(command []string, set settings, logs *os.File, events chan<- event) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = logs
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", set.Label, err)
	}
	p := &process{
		label: set.Label, running: make(map[ticket]tally.Result),
		cmd: cmd, answers: json.NewEncoder(stdin),
	}
	go p.read(stdout, events)
	if err := p.answers.Encode(set); err != nil {
		return p, fmt.Errorf("start %s: %w", set.Label, err)
	}
	return p, nil
}

// read hands on the child's reports and, when there are no more, its end. A line that the child
// could not finish before it was killed is none.
func (p *process) read(stdout io.Reader, events chan<- event) {
	lines := json.NewDecoder(stdout)
	var fault error
	for {
		var r report
		if err := lines.Decode(&r); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				fault = fmt.Errorf("read reports: %w", err)
				_, _ = io.Copy(io.Discard, stdout) // it must not wait for a reader
			}
			break
		}
		events <- event{from: p, report: r}
	}
	events <- event{from: p, ended: true, err: errors.Join(fault, p.cmd.Wait())}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process as a crash would: it cannot say goodbye.
func (p *process) kill(now time.Time) error {
	p.killed = now
	return p.cmd.Process.Kill()
}

// stop asks the process to hand over, to finish what it runs, and to end.
func (p *process) stop() {
	if !p.stopping {
		p.stopping = true
		p.answer(answer{Stop: true})
	}
}

// answer tells the process something. One that is gone hears nothing, and that shows elsewhere.
func (p *process) answer(a answer) { _ = p.answers.Encode(a) }

// died tells whether a signal, whoever sent it, ended the process.
func died(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && !exit.Exited()
}
