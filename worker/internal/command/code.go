//go:build linux

package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/internal/pgroup"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
	"github.com/elasticron/elasticron/worker/internal/cgroup"
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
		r.hurry.Store(true)
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

// Configure returns the function that runs the command line of a job. Whether it is allowed is judged when it runs.
func (c *Code) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.Type != job.TypeScript {
		return nil, &job.FieldError{Field: "Type", Value: cfg.Type.String(), Reason: "must be SCRIPT, as the code is a script"}
	}
	words, err := script.CommandLine(cfg)
	if err != nil {
		return nil, err
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
	err := r.do(of, words)
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

// run is one run of a script.
type run struct {
	*Code
	s        *Settings
	sc       job.ShardingContext
	log      *slog.Logger
	ends     *output.Ends
	variable string
	cmd      *exec.Cmd
	group    *cgroup.Group // nil if there are none

	leader atomic.Int64 // the pid of the script, while it is not waited for
	hurry  atomic.Bool  // there is no SIGTERM any more
	told   time.Time    // when there was one; zero if there was none. To be read when the script was waited for
}

// kill sends SIGKILL to the script and its process group; what left the group follows when the script is waited for.
func (r *run) kill() {
	if pid := int(r.leader.Load()); pid != 0 {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // it may be gone
	}
}

func (r *run) do(ctx context.Context, words []string) error {
	told := script.Variables(r.sc)
	if err := texts.CheckVariables(told); err != nil {
		return err
	}
	variables, secrets, err := r.s.environment()
	if err != nil {
		return fmt.Errorf("variables: %w", err)
	}
	if r.s.Groups != nil {
		if r.group, err = r.s.Groups.New(r.s.Limits); err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
		defer r.closeGroup()
	}
	// Before the look at the command nothing is made that stays, and nothing that could take long comes between it and
	// the start.
	path, err := r.s.Commands.Resolve(words[0])
	if err != nil {
		return err
	}
	dir, err := r.s.directory(r.sc.JobName, r.sc.Item)
	if err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	out, closeOutput, err := r.output(secrets)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	defer closeOutput()
	r.cmd = exec.CommandContext(ctx, path, append(slices.Clone(words[1:]), r.sc.JSON())...) //nolint:gosec // it is on the list
	r.cmd.Args[0] = words[0]
	r.cmd.Dir, r.cmd.Env = dir, append(append(variables, told...), r.variable)
	r.cmd.Stdout, r.cmd.Stderr = out, out
	r.cmd.SysProcAttr = r.attributes()
	r.cmd.Cancel, r.cmd.WaitDelay = r.terminate, r.s.Stop
	return r.toTheEnd(ctx)
}

// attributes are what makes the process one of its own.
func (r *run) attributes() *syscall.SysProcAttr {
	// The process is killed when this one dies, before somebody else runs the item.
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if r.s.User != nil {
		a.Credential = &r.s.User.credential
	}
	if r.group != nil {
		a.UseCgroupFD, a.CgroupFD = true, r.group.FD()
	}
	return a
}

// explained says what is behind two errors of the system, which speaks of the program and means what runs it. That the program
// is there was looked at before.
func explained(err error) error {
	var failed *fs.PathError
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%w: it is no program, and no script whose first line names its interpreter, such as #!/bin/sh", err)
	case errors.Is(err, syscall.ENOENT) && errors.As(err, &failed) && failed.Op == "fork/exec":
		return fmt.Errorf("%w: it is there, but not what runs it: the interpreter of its first line, which must not end in a carriage return, or the loader", err)
	default:
		return err
	}
}

// toTheEnd starts the script, waits for it, and ends what it leaves behind.
func (r *run) toTheEnd(ctx context.Context) error {
	// Pdeathsig is about the thread that starts the process, which must live as long as this one does.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	forget, err := r.kin.Start(r.cmd)
	for tries := 0; tries < busyTries && errors.Is(err, syscall.ETXTBSY); tries++ {
		time.Sleep(busyPause)
		was := r.cmd                               // which cannot be started twice
		r.cmd = exec.CommandContext(ctx, was.Path) //nolint:gosec // it is on the list
		r.cmd.Args, r.cmd.Dir, r.cmd.Env, r.cmd.SysProcAttr = was.Args, was.Dir, was.Env, was.SysProcAttr
		r.cmd.Stdout, r.cmd.Stderr, r.cmd.Cancel, r.cmd.WaitDelay = was.Stdout, was.Stderr, was.Cancel, was.WaitDelay
		forget, err = r.kin.Start(r.cmd)
	}
	if err != nil {
		return withCause(ctx, explained(err))
	}
	r.leader.Store(int64(r.cmd.Process.Pid))
	if r.hurry.Load() { // Kill came before it could see the process
		r.kill()
	}
	err = r.cmd.Wait()
	r.leader.Store(0)
	forget()
	if !r.told.IsZero() { // a shell that is asked to end does not wait for the program that does its work
		pgroup.Await(r.lives, r.told.Add(r.s.Stop), r.hurry.Load)
	}
	oom, grouped := false, r.group != nil // which closeGroup forgets
	if grouped {
		oom = r.group.OutOfMemory()
		r.closeGroup()
	} else {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // what is left keeps the group's number taken
	}
	if left := r.kin.End(r.variable); left != nil {
		r.log.ErrorContext(ctx, "processes of a script are left", "error", left)
	}
	if !grouped { // else nothing of this run can be left, and what others have left ends with their groups
		r.tellHidden(ctx)
	}
	if err != nil && oom {
		err = fmt.Errorf("%w: %w", errMemory, err)
	}
	return withCause(ctx, err)
}

// tellHidden names what may be left of a run, or of one that goes on: nobody can tell.
func (r *run) tellHidden(ctx context.Context) {
	for _, pid := range r.kin.Hidden(r.cmd.Process.Pid) {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // which may be gone
		r.Code.log.WarnContext(ctx, "a process that a script has started hides its environment, and may stay when the script ends",
			"pid", pid, "command", strings.TrimSpace(string(name)))
	}
}

// A script that is just being written cannot be started, nor one that is open in a process that forks at the same
// moment.
const (
	busyTries = 100
	busyPause = 20 * time.Millisecond
)

var errMemory = errors.New("the script's processes reached the limit of memory")

// withCause adds why a script was told to end.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}

// terminate asks all processes of the run to end.
func (r *run) terminate() error {
	leader := r.cmd.Process.Pid
	if r.hurry.Load() {
		return r.cmd.Process.Kill()
	}
	r.told = time.Now()
	err := syscall.Kill(-leader, syscall.SIGTERM)
	if r.group != nil {
		for _, pid := range r.group.Processes() { // which may be gone
			if group, _ := syscall.Getpgid(pid); group != leader {
				_ = syscall.Kill(pid, syscall.SIGTERM)
			}
		}
	}
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// lives tells whether something lives of what was asked to end.
func (r *run) lives() bool {
	if r.group != nil {
		return len(r.group.Processes()) > 0
	}
	return pgroup.Lives(r.cmd.Process.Pid)
}

// closeGroup ends what is left of the run, once.
func (r *run) closeGroup() {
	if r.group == nil {
		return
	}
	if err := r.group.Close(); err != nil {
		r.log.Error("processes of a script are left", "error", err)
	}
	r.group = nil
}
