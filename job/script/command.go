package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/internal/tail"
)

// errTimeLimit is the cause when [Job.TimeLimit] is over.
var errTimeLimit = fmt.Errorf("script took longer than its time limit: %w", job.ErrTimeout)

// Error is a script that did not succeed.
type Error struct {
	Command  string // the first word of the command line
	ExitCode int    // -1 if it was not started or was ended by a signal
	Output   string // the end of what it wrote
	Err      error  // why; the cause, if somebody ended it
}

// Error names the command, the reason and the end of the output.
func (e *Error) Error() string {
	text := fmt.Sprintf("script %s: %s", e.Command, e.Err)
	if e.Output != "" {
		text += ": " + e.Output
	}
	return text
}

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

// command is a job made ready to run.
type command struct {
	Job
	words []string
}

// run runs the script for an item and waits until nothing of it is left.
func (c command) run(ctx context.Context, sc job.ShardingContext) error {
	if c.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.TimeLimit, errTimeLimit)
		defer cancel()
	}
	variables := Variables(sc)
	if err := texts.CheckVariables(variables); err != nil {
		return &Error{Command: c.words[0], ExitCode: -1, Err: err}
	}
	end := tail.New(c.TailBytes)
	output, flush := c.output(sc, end)
	cmd := exec.CommandContext(ctx, c.words[0], append(c.words[1:len(c.words):len(c.words)], sc.JSON())...)
	cmd.Dir, cmd.Env = c.Dir, append(append(os.Environ(), c.Env...), variables...)
	// One writer for both streams, so that one goroutine serves it.
	cmd.Stdout, cmd.Stderr = output, output
	group := newGroup(cmd)
	cmd.Cancel, cmd.WaitDelay = group.terminate, c.Grace
	var cause error
	err := cmd.Start()
	if err == nil {
		stay := killedAtStop(ctx, group)
		alone := execution.BeforeOthers(ctx, group.kill)
		err = cmd.Wait()
		group.await(c.Grace)
		cause = alone()
		stay()
		group.kill() // what the script left behind, or what ignored the signal
		flush()
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the script has succeeded, and nobody had asked it to end; what held its output is gone
	}
	return c.failure(cmd, err, cmp.Or(context.Cause(ctx), cause), end)
}

// stopGrace is how long a script has at a stop, whatever its grace is: the item is given up a moment later, and the process
// may end.
const stopGrace = execution.LastWords * 3 / 4

// killedAtStop ends what is left of a group when a stop has cancelled all executions and stopGrace is over, unless what it
// returns is called before.
func killedAtStop(ctx context.Context, g interface{ kill() }) (stay func()) {
	var mu sync.Mutex
	over := false
	kill := func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			g.kill()
		}
	}
	off := context.AfterFunc(execution.Stop(ctx), func() { time.AfterFunc(stopGrace, kill) })
	return func() {
		off()
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

func (c command) failure(cmd *exec.Cmd, err, cause error, end *tail.Buffer) error {
	if err == nil {
		return nil
	}
	failed := &Error{Command: c.words[0], ExitCode: -1, Err: err}
	if cmd.ProcessState != nil {
		failed.ExitCode = cmd.ProcessState.ExitCode()
		failed.Output = end.String()
	}
	if cause != nil {
		failed.Err = fmt.Errorf("%w (%w)", cause, err)
	}
	return failed
}

// output returns where a script writes to, and what to call when it has ended.
func (c command) output(sc job.ShardingContext, end *tail.Buffer) (io.Writer, func()) {
	writers, flush := []io.Writer{end}, func() {}
	if c.Output != nil {
		if to := c.Output(sc); to != nil {
			writers = append(writers, to)
		}
	}
	if c.Logger != nil {
		log := &lines{log: c.Logger.With("job", sc.JobName, "item", sc.Item)}
		writers, flush = append(writers, log), log.flush
	}
	if len(writers) == 1 {
		return end, flush
	}
	return protected{io.MultiWriter(writers...)}, flush
}

// protected is a writer of the application. It is called on a goroutine of os/exec, where a panic would end the process.
type protected struct{ to io.Writer }

func (p protected) Write(part []byte) (n int, err error) {
	failed := protect.Call(func() error {
		n, err = p.to.Write(part)
		return err
	})
	return n, failed
}

// Variables returns the variables that tell a script what it runs, each "name=value".
func Variables(sc job.ShardingContext) []string {
	fire := ""
	if !sc.Fire.IsZero() {
		fire = sc.Fire.UTC().Format(time.RFC3339Nano)
	}
	return []string{
		"ELASTICRON_CONTEXT=" + sc.JSON(),
		"ELASTICRON_JOB=" + sc.JobName,
		"ELASTICRON_TASK_ID=" + texts.PassedTaskID(sc.TaskID),
		"ELASTICRON_ITEM=" + strconv.Itoa(sc.Item),
		"ELASTICRON_ITEM_PARAMETER=" + sc.ItemParameter,
		"ELASTICRON_TOTAL_COUNT=" + strconv.Itoa(sc.TotalCount),
		"ELASTICRON_JOB_PARAMETER=" + sc.JobParameter,
		"ELASTICRON_FIRE=" + fire,
		"ELASTICRON_TRIGGER_PARAMETER=" + sc.TriggerParameter,
		"ELASTICRON_SOURCE=" + string(sc.Source),
		"ELASTICRON_TOKEN=" + strconv.FormatInt(sc.Token, 10),
		"ELASTICRON_OFFSET=" + sc.Offset,
	}
}
