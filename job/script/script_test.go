//go:build unix

package script_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var item = job.ShardingContext{
	JobName: "report", TaskID: "report@-@1@-@READY@-@10.0.0.1@-@5", Item: 1, TotalCount: 3, ItemParameter: "B c",
	JobParameter: "p=1", TriggerParameter: "day=2", Fire: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Source: job.Scheduled, Token: 17, Offset: "9",
}

// write makes a shell script and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.sh")
	syscall.ForkLock.RLock() // whoever forks meanwhile would hold it open for a moment, and it could not be run
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
	return path
}

// run runs a command line as a job would.
func run(ctx context.Context, t *testing.T, j script.Job, line string) error {
	t.Helper()
	cfg := job.Config{Name: "report", Cron: "0 0 * * * ?", ShardingTotalCount: 3}
	cfg.Type, cfg.ScriptCommandLine = job.TypeScript, line
	require.NoError(t, cfg.Validate())
	code, err := j.Configure(cfg)
	require.NoError(t, err)
	return code(ctx, item)
}

// heard returns a job that keeps the output.
func heard() (script.Job, *bytes.Buffer) {
	var out bytes.Buffer
	return script.Job{Output: func(job.ShardingContext) io.Writer { return &out }}, &out
}

func TestWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		`/opt/job.sh`:                         {"/opt/job.sh"},
		` a  b	c `:                            {"a", "b", "c"},
		`/opt/job.sh --mode="fast x" 'y "z"'`: {"/opt/job.sh", "--mode=fast x", `y "z"`},
		`a "" b`:                              {"a", "", "b"},
		`a\ b`:                                {"a b"},
		`get http://h/?a=1&b=2;c (d) $HOME |`: {"get", "http://h/?a=1&b=2;c", "(d)", "$HOME", "|"},
		"a `b` #c >d":                         {"a", "`b`", "#c", ">d"},
	} {
		words, err := script.Words(line)
		require.NoError(t, err, line)
		require.Equal(t, want, words, line)
	}
	for _, line := range []string{"", " ", `a "b`, `a 'b`, `a \`} {
		_, err := script.Words(line)
		require.ErrorIs(t, err, script.ErrCommandLine, line)
	}
}

func TestAScriptGetsItsContext(t *testing.T) {
	t.Parallel()
	j, out := heard()
	j.Dir, j.Env = t.TempDir(), []string{"MINE=x"}
	path := write(t, `printf '%s\n' "$#" "$1" "$2" "$MINE"; pwd; env | grep ^ELASTICRON_ | grep -v ^ELASTICRON_INSTALL | sort >&2; cat`)
	require.NoError(t, run(t.Context(), t, j, path+` 'a b'`))
	dir, err := filepath.EvalSymlinks(j.Dir)
	require.NoError(t, err)
	json := `{"jobName":"report","taskId":"report@-@1@-@READY@-@10.0.0.1@-@5","shardingTotalCount":3,"jobParameter":"p\u003d1","shardingItem":1,"shardingParameter":"B c"}`
	require.Equal(t, strings.Join([]string{
		"2", "a b", json, "x", dir,
		"ELASTICRON_CONTEXT=" + json,
		"ELASTICRON_FIRE=2026-01-02T03:04:05Z",
		"ELASTICRON_ITEM=1",
		"ELASTICRON_ITEM_PARAMETER=B c",
		"ELASTICRON_JOB=report",
		"ELASTICRON_JOB_PARAMETER=p=1",
		"ELASTICRON_OFFSET=9",
		"ELASTICRON_SOURCE=scheduled",
		"ELASTICRON_TASK_ID=report@-@1@-@READY@-@10.0.0.1@-@5",
		"ELASTICRON_TOKEN=17",
		"ELASTICRON_TOTAL_COUNT=3",
		"ELASTICRON_TRIGGER_PARAMETER=day=2",
	}, "\n")+"\n", out.String())
}

// A process may have all items of a job, whose task id then lists them.
func TestAScriptOfManyItems(t *testing.T) {
	t.Parallel()
	j, out := heard()
	code, err := j.Configure(job.Config{Type: job.TypeScript, ScriptCommandLine: write(t, `printf '%s\n%s' "$ELASTICRON_TASK_ID" "$1"`)})
	require.NoError(t, err)
	many := item
	for _, total := range []int{900, 30_000, job.MaxShardingTotalCount} {
		id := job.TaskID{Job: "report", Items: make([]int, total), Instance: "10.0.0.1@-@5"}
		for n := range id.Items {
			id.Items[n] = n
		}
		many.TaskID = id.String()
		out.Reset()
		require.NoError(t, code(t.Context(), many), total)
		got, context, _ := strings.Cut(out.String(), "\n")
		require.Equal(t, many.JSON(), context)
		require.Contains(t, context, `"taskId":"`+got+`"`)
		if total == 900 {
			require.Equal(t, many.TaskID, got)
			continue
		}
		require.LessOrEqual(t, len(got), 255)
		require.True(t, strings.HasPrefix(got, "report@-@0,1,2,"), got)
		require.True(t, strings.HasSuffix(got, ",...@-@READY@-@10.0.0.1@-@5"), got)
	}
}

// What no variable can hold is said by name.
func TestZeroCharacters(t *testing.T) {
	t.Parallel()
	var j script.Job
	code, err := j.Configure(job.Config{Type: job.TypeScript, ScriptCommandLine: "true"})
	require.NoError(t, err)
	for name, change := range map[string]func(*job.ShardingContext){
		"ELASTICRON_JOB_PARAMETER":     func(sc *job.ShardingContext) { sc.JobParameter = "a\x00b" },
		"ELASTICRON_ITEM_PARAMETER":    func(sc *job.ShardingContext) { sc.ItemParameter = "a\x00b" },
		"ELASTICRON_TRIGGER_PARAMETER": func(sc *job.ShardingContext) { sc.TriggerParameter = "a\x00b" },
		"ELASTICRON_OFFSET":            func(sc *job.ShardingContext) { sc.Offset = "a\x00b" },
	} {
		sc := item
		change(&sc)
		failed := new(script.Error)
		require.ErrorAs(t, code(t.Context(), sc), &failed)
		require.ErrorContains(t, failed, "script true: variable "+name+" has a zero character")
		require.Equal(t, -1, failed.ExitCode)
	}
	_, err = j.Configure(job.Config{Type: job.TypeScript, ScriptCommandLine: "true a\x00b"})
	require.ErrorIs(t, err, job.ErrInvalidConfig)
	require.ErrorContains(t, err, "ScriptCommandLine")
}

func TestAScriptThatFails(t *testing.T) {
	t.Parallel()
	path := write(t, "echo one; echo two >&2; exit 3")
	err := run(t.Context(), t, script.Job{}, path)
	var failed *script.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 3, failed.ExitCode)
	require.Equal(t, "one\ntwo", failed.Output)
	require.EqualError(t, err, "script "+path+": exit status 3: one\ntwo")

	err = run(t.Context(), t, script.Job{}, write(t, "kill -9 $$"))
	require.ErrorAs(t, err, &failed)
	require.Equal(t, -1, failed.ExitCode)
	require.ErrorContains(t, err, "signal: killed")
}

func TestAScriptThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "job.sh")
	require.NoError(t, os.WriteFile(closed, []byte("#!/bin/sh\n"), 0o600))
	for line, want := range map[string]error{
		"/does/not/exist":         fs.ErrNotExist,
		"no-such-command-in-path": exec.ErrNotFound,
		closed:                    fs.ErrPermission,
		t.TempDir():               fs.ErrPermission,
	} {
		err := run(t.Context(), t, script.Job{}, line)
		require.ErrorIs(t, err, want, line)
		var failed *script.Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, -1, failed.ExitCode)
		require.Equal(t, line, failed.Command)
	}
}

// gone waits until a process is no more, or only waits to be forgotten by its parent.
func gone(t *testing.T, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if runtime.GOOS == "linux" {
			return err != nil || strings.Contains(string(stat), ") Z ")
		}
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}, time.Minute, 10*time.Millisecond)
}

// written waits until a file is there.
func written(t *testing.T, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > 0
	}, time.Minute, 10*time.Millisecond)
}

// A script that must stop is told so, with all that it started, and has the grace to tidy up.
func TestAScriptIsToldToStop(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, test := range map[string]struct{ trap, output string }{
		"and ends":            {"", ""},
		"and tidies up":       {`trap 'echo tidy; exit 0' TERM;`, "tidy"},
		"and does not listen": {`trap '' TERM;`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := t.TempDir()
			// The child says itself that it is another program: until then it has the trap of its shell, and may take the signal.
			path := write(t, test.trap+" sh -c 'echo $$ >"+pids+"/child; exec sleep 600' & until test -s "+pids+"/child; do :; done; echo $$ >"+pids+"/self; while :; do wait; done")
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				written(t, pids+"/self")
				cancel(boom)
			}()
			j := script.Job{Grace: time.Minute}
			if name == "and does not listen" {
				j.Grace = 100 * time.Millisecond
			}
			err := run(ctx, t, j, path)
			require.ErrorIs(t, err, boom)
			var failed *script.Error
			require.ErrorAs(t, err, &failed)
			require.Contains(t, failed.Output, test.output)
			gone(t, pids+"/self")
			gone(t, pids+"/child")
		})
	}
}

// At a stop a script that does not listen is killed before its item is given up, as the process may end then. That its time was
// over before, or its session lost, changes nothing.
func TestAStopDoesNotWaitForTheGrace(t *testing.T) {
	t.Parallel()
	lost := errors.New("session lost")
	for name, before := range map[string]error{"while it runs": nil, "when its time was over": job.ErrTimeout, "when its session was lost": lost} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := t.TempDir()
			path := write(t, "trap '' TERM; sleep 600 & echo $! >"+pids+"/child; echo $$ >"+pids+"/self; while :; do wait; done")
			all, stop := context.WithCancel(t.Context())
			of, end := context.WithCancelCause(execution.WithStop(t.Context(), all))
			attempt, cancel := context.WithCancelCause(execution.With(of))
			defer cancel(nil)
			var stopped time.Time
			go func() {
				written(t, pids+"/self")
				switch before {
				case job.ErrTimeout: //nolint:errorlint // the very one
					cancel(before)
				case lost:
					end(before)
				}
				stopped = time.Now()
				stop()
				end(execution.ErrStopped)
			}()
			err := run(attempt, t, script.Job{Grace: time.Minute}, path)
			require.Less(t, time.Since(stopped), 30*time.Second)
			require.ErrorIs(t, err, cmp.Or(before, execution.ErrStopped))
			gone(t, pids+"/self")
			gone(t, pids+"/child")
		})
	}
}

// session is one that is lost when it is told to, and whose item others may run a moment later.
type session chan struct{}

func (s session) Done() <-chan struct{} { return s }
func (session) Held() time.Duration     { return 100 * time.Millisecond }

// A script whose session is lost is gone before others may run its item, whatever its grace is, and also if its time was over
// before.
func TestALostSessionDoesNotWaitForTheGrace(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]error{"while it runs": nil, "when its time was over": job.ErrTimeout} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := t.TempDir()
			path := write(t, "trap 'echo x >"+pids+"/told' TERM; sleep 600 & echo $! >"+pids+"/child; echo $$ >"+pids+"/self; while :; do sleep 0.01; done")
			under, lost := make(session), errors.New("session lost")
			of, end := context.WithCancelCause(execution.WithSession(t.Context(), under))
			attempt, cancel := context.WithCancelCause(execution.With(of))
			defer cancel(nil)
			go func() {
				written(t, pids+"/self")
				if before != nil {
					cancel(before)
					written(t, pids+"/told")
				}
				close(under)
				end(lost)
			}()
			require.ErrorIs(t, run(attempt, t, script.Job{Grace: time.Hour}, path), cmp.Or(before, lost))
			gone(t, pids+"/self")
			gone(t, pids+"/child")
		})
	}
}

// What a shell has started has the grace as well, though the shell ends at once, and whoever has the output.
func TestAWrapperIsToldToStop(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, redirect := range map[string]string{"with the output": "", "without it": " >/dev/null 2>&1"} {
		for outcome, trap := range map[string]string{"tidies up": "sleep 0.3; echo >saved; exit 0", "does not listen": ""} {
			t.Run(name+" "+outcome, func(t *testing.T) {
				t.Parallel()
				j := script.Job{Dir: t.TempDir(), Grace: time.Minute}
				if trap == "" {
					j.Grace = 100 * time.Millisecond
				}
				inner := write(t, "trap '"+trap+"' TERM; echo $$ >began; while :; do sleep 0.01; done")
				ctx, cancel := context.WithCancelCause(t.Context())
				go func() {
					written(t, j.Dir+"/began")
					cancel(boom)
				}()
				began := time.Now()
				require.ErrorIs(t, run(ctx, t, j, write(t, inner+redirect+"\necho after")), boom)
				require.Less(t, time.Since(began), time.Minute, "it is over when all have ended")
				if trap != "" {
					require.FileExists(t, j.Dir+"/saved")
				}
				gone(t, j.Dir+"/began")
			})
		}
	}
}

func TestATimeLimit(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), t, script.Job{TimeLimit: 50 * time.Millisecond}, write(t, "sleep 600"))
	require.ErrorIs(t, err, job.ErrTimeout)
}

// What floods its output costs no memory beyond the tail.
func TestAFloodOfOutput(t *testing.T) {
	t.Parallel()
	path := write(t, "i=0; while [ $i -lt 200 ]; do head -c 65536 /dev/zero | tr '\\0' x; i=$((i+1)); done; echo end; exit 1")
	err := run(t.Context(), t, script.Job{TailBytes: 100}, path)
	var failed *script.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "..."+strings.Repeat("x", 96)+"end", failed.Output)
}

// A process that a script leaves behind with its output ends with the grace; the script has succeeded.
func TestAGrandchildHoldsTheOutput(t *testing.T) {
	t.Parallel()
	pids := t.TempDir()
	path := write(t, "sleep 600 & echo $! >"+pids+"/child; echo done")
	j, out := heard()
	j.Grace = time.Second
	require.NoError(t, run(t.Context(), t, j, path))
	require.Equal(t, "done\n", out.String())
	gone(t, pids+"/child")
}

// It has succeeded also if its time is over while that process has its grace.
func TestTheTimeIsOverWhenTheScriptHasEnded(t *testing.T) {
	t.Parallel()
	pids := t.TempDir()
	path := write(t, "sleep 600 & echo $! >"+pids+"/child; echo $$ >"+pids+"/self")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		written(t, pids+"/self")
		text, _ := os.ReadFile(pids + "/self")
		self, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		for !errors.Is(syscall.Kill(self, 0), syscall.ESRCH) { // until it is waited for
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * time.Second) // that it was is noticed within, which cannot be seen from here
		cancel(job.ErrTimeout)
	}()
	require.NoError(t, run(ctx, t, script.Job{Grace: 6 * time.Second}, path))
	gone(t, pids+"/child")
}

// spoilt is a writer that does what none should.
type spoilt func()

func (s spoilt) Write(p []byte) (int, error) { s(); return len(p), nil }

// The application's writer is called on a goroutine of os/exec. What it does there is an error of the item, and no more.
func TestAWriterThatMisbehaves(t *testing.T) {
	t.Parallel()
	path := write(t, "echo done")
	for name, test := range map[string]struct {
		to   io.Writer
		want error
	}{
		"there is none":          {nil, nil},
		"panics":                 {spoilt(func() { panic(io.ErrClosedPipe) }), io.ErrClosedPipe},
		"ends its goroutine":     {spoilt(runtime.Goexit), job.ErrGoexit},
		"does as writers should": {spoilt(func() {}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), t, script.Job{Output: func(job.ShardingContext) io.Writer { return test.to }}, path)
			require.ErrorIs(t, err, test.want)
		})
	}
}

func TestOutputIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	path := write(t, `printf 'one\n\ntwo\r\nthree'; head -c 9000 /dev/zero | tr '\0' x`)
	require.NoError(t, run(t.Context(), t, script.Job{Logger: slog.New(slog.NewTextHandler(&log, nil))}, path))
	text := log.String()
	for _, want := range []string{"output=one\n", "output=two\n", "output=threexxx", "job=report item=1"} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 4, strings.Count(text, "msg=script"), "a line that is too long becomes two")
}

func TestConfigure(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Name: "report", Cron: "0 0 * * * ?", ShardingTotalCount: 3}
	_, err := script.Job{}.Configure(cfg)
	require.ErrorContains(t, err, `Type "SIMPLE" must be SCRIPT`)
	cfg.Type, cfg.ScriptCommandLine = job.TypeScript, `sh -c "`
	_, err = script.Job{}.Configure(cfg)
	require.ErrorIs(t, err, script.ErrCommandLine)
	require.ErrorIs(t, err, job.ErrInvalidConfig)
	cfg.ScriptCommandLine, cfg.Props = "", map[string]string{script.Property: "true"}
	code, err := script.Job{}.Configure(cfg)
	require.NoError(t, err)
	require.NoError(t, code(t.Context(), item))
}
