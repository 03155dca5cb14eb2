//go:build linux

package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
	"github.com/elasticron/elasticron/worker/internal/kin"
	"github.com/elasticron/elasticron/worker/internal/output"
)

// lastBytes is how much of the end of its output the error of a script has.
const lastBytes = 4 << 10

// mark is the variable by which the processes of a run are known.
const mark = "ELASTICRON_RUN"

// Code is a [job.Handler] for scripts. Its methods are safe for concurrent use.
type Code struct {
	settings atomic.Pointer[Settings]
	kin      family
	log      *slog.Logger
	heard    func(job.ShardingContext, *output.Ends)
	running  sync.WaitGroup

	mu    sync.Mutex
	runs  map[*run]context.CancelCauseFunc
	ended error         // why none begins any more; nil if they do
	idle  chan struct{} // closed when none begins and none runs any more
}

var _ job.Handler = (*Code)(nil)

// family is what this process has started, as [kin.Kin] knows it.
type family interface {
	Start(cmd *exec.Cmd) (forget func(), err error)
	End(variable string) error
	Hidden(killed int) (pids []int)
}

var _ family = (*kin.Kin)(nil)

// New returns code with settings. heard is told of all output when a script has ended; nil: nobody is.
func New(s *Settings, kin family, log *slog.Logger, heard func(job.ShardingContext, *output.Ends)) *Code {
	c := &Code{kin: kin, log: log, heard: heard, runs: make(map[*run]context.CancelCauseFunc), idle: make(chan struct{})}
	c.settings.Store(s)
	return c
}

// Set changes the settings for runs that begin from now on.
func (c *Code) Set(s *Settings) { c.settings.Store(s) }

// ErrKilled is why a script ended that [Code.Kill] has ended.
var ErrKilled = errors.New("the worker ends at once")

// Stop asks all scripts to end, with SIGTERM and later SIGKILL as at the end of their contexts, and has none begin any
// more. Functions whose script ends by Stop or Kill return when their execution is cancelled, too: only then does the
// scheduler see that the item was interrupted, and it gives up what does not return soon after that. The timeout of the
// job does not end that.
func (c *Code) Stop(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(cause)
}

// Kill is like Stop, but ends all scripts at once, without SIGTERM.
func (c *Code) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.runs {
		r.hurry.Store(true) // so that the cancelling asks nobody to end
	}
	c.end(ErrKilled)
	for r := range c.runs {
		r.kill()
	}
}

// end cancels all runs. The caller holds mu.
func (c *Code) end(cause error) {
	if c.ended == nil && len(c.runs) == 0 {
		close(c.idle)
	}
	c.ended = cause
	for _, cancel := range c.runs {
		cancel(cause)
	}
}

// Idle is closed when no script runs after Stop or Kill.
func (c *Code) Idle() <-chan struct{} { return c.idle }

// enter puts a run on the list of those that Stop and Kill end; if it is too late, it returns why.
func (c *Code) enter(r *run, cancel context.CancelCauseFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.runs[r] = cancel
	}
	return c.ended
}

// leave takes a run off the list, and returns why none begins any more, if so.
func (c *Code) leave(r *run) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, r)
	if c.ended != nil && len(c.runs) == 0 {
		close(c.idle)
	}
	return c.ended
}

// LongestStop is how long one of the scripts may take from SIGTERM to SIGKILL: those that run have the settings with
// which they began.
func (c *Code) LongestStop() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	longest := c.settings.Load().Stop
	for r := range c.runs {
		longest = max(longest, r.s.Stop)
	}
	return longest
}

// Wait returns when no script runs any more. Nothing may begin meanwhile.
func (c *Code) Wait() { c.running.Wait() }

// Configure returns the function that runs the command line of a job. It refuses one whose command is not allowed, whatever is
// there; what is there is judged when it runs. To find out whether a command is on the list by another name, it follows links.
func (c *Code) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.Type != job.TypeScript {
		return nil, &job.FieldError{Field: "Type", Value: cfg.Type.String(), Reason: "must be SCRIPT, as the code is a script"}
	}
	words, err := script.CommandLine(cfg)
	if err != nil {
		return nil, err
	}
	commands := c.settings.Load().Commands
	if err := commands.Judge(words[0]); err != nil {
		return nil, &job.FieldError{
			Field: "ScriptCommandLine", Value: words[0],
			Reason: "must begin with the absolute path of a program that script.commands of this worker allows: " + commands.String(), Err: err,
		}
	}
	return func(ctx context.Context, sc job.ShardingContext) error {
		c.running.Add(1)
		defer c.running.Done()
		return c.run(ctx, sc, words)
	}, nil
}

// run runs a script for an item and returns when nothing of it is left.
func (c *Code) run(ctx context.Context, sc job.ShardingContext, words []string) error {
	settings := c.settings.Load()
	r := &run{
		Code: c, s: settings, sc: sc, ends: output.NewEnds(max(settings.Keep, lastBytes)),
		variable: mark + "=" + rand.Text(), log: c.log.With("job", sc.JobName, "item", sc.Item),
	}
	of, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := c.enter(r, cancel); err != nil {
		<-execution.Done(ctx)
		return err
	}
	// Others could begin the item while its script cleans up.
	off := execution.BeforeOthers(ctx, r.endNow)
	err := r.do(of, words)
	if cause := off(); err != nil && cause != nil { // and the script may have ended before its context did
		if cause = cmp.Or(context.Cause(of), cause); !errors.Is(err, cause) {
			err = fmt.Errorf("%w (%w)", cause, err)
		}
	}
	ended := c.leave(r)
	if c.heard != nil {
		c.heard(sc, r.ends)
	}
	if err == nil {
		return nil
	}
	if ended != nil && !errors.Is(context.Cause(of), job.ErrTimeout) { // or its time was over before
		<-execution.Done(ctx)
	}
	failed := &script.Error{Command: words[0], ExitCode: -1, Err: err}
	if r.cmd != nil && r.cmd.ProcessState != nil {
		failed.ExitCode, failed.Output = r.cmd.ProcessState.ExitCode(), r.ends.Last(lastBytes)
	}
	return failed
}
