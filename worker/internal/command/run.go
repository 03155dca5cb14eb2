//go:build linux

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/elasticron/elasticron/internal/pgroup"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
	"github.com/elasticron/elasticron/worker/internal/cgroup"
	"github.com/elasticron/elasticron/worker/internal/output"
)

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

// endNow leaves no time any more to a run, which others may be about to repeat.
func (r *run) endNow() {
	r.hurry.Store(true)
	r.kill()
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
