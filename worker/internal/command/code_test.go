//go:build linux

package command_test

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
	"github.com/elasticron/elasticron/worker/internal/allow"
	"github.com/elasticron/elasticron/worker/internal/cgroup"
	"github.com/elasticron/elasticron/worker/internal/command"
	"github.com/elasticron/elasticron/worker/internal/kin"
	"github.com/elasticron/elasticron/worker/internal/output"
)

func TestMain(m *testing.M) {
	kin.Patience = time.Minute
	goleak.VerifyTestMain(m)
}

func family() *kin.Kin {
	k, err := kin.Shared()
	if err != nil {
		panic(err)
	}
	return k
}

// stage runs scripts of a folder.
type stage struct {
	*testing.T
	dir      string
	settings command.Settings
	mu       sync.Mutex
	heard    string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	list, err := allow.NewCommands([]string{dir + "/*"})
	require.NoError(t, err)
	return &stage{T: t, dir: dir, settings: command.Settings{Commands: list, Stop: time.Minute, Keep: 1 << 10}}
}

// both runs a test with process groups, and with cgroups where there are any.
func both(t *testing.T, test func(*stage)) {
	t.Helper()
	t.Run("process group", func(t *testing.T) {
		t.Parallel()
		test(newStage(t))
	})
	t.Run("cgroup", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		own, err := cgroup.Own()
		if err == nil {
			s.settings.Groups, err = cgroup.Open(own, cgroup.Limits{})
		}
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { require.NoError(t, s.settings.Groups.Close()) })
		test(s)
	})
}

// script writes a script and returns its path.
func (s *stage) script(name, text string) string {
	s.Helper()
	path := filepath.Join(s.dir, name)
	syscall.ForkLock.RLock() // whoever forks meanwhile would hold it open for a moment, and it could not be run
	defer syscall.ForkLock.RUnlock()
	require.NoError(s, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755)) //nolint:gosec // as programs are
	return path
}

var item = job.ShardingContext{JobName: "orders", Item: 3, TotalCount: 4, Source: job.Scheduled, Token: 17, Fire: time.Unix(1767225600, 0)}

func (s *stage) run(ctx context.Context, line string) error {
	s.Helper()
	return s.runOf(ctx, item, line)
}

func (s *stage) runOf(ctx context.Context, sc job.ShardingContext, line string) error {
	s.Helper()
	code := command.New(&s.settings, family(), slog.New(slog.DiscardHandler), func(sc job.ShardingContext, ends *output.Ends) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heard = ends.String()
	})
	fn, err := code.Configure(job.Config{Name: "orders", Cron: "@daily", ShardingTotalCount: 4, Type: job.TypeScript, ScriptCommandLine: line})
	if err != nil {
		return err
	}
	defer code.Wait()
	return fn(ctx, sc)
}

// until returns a context that ends, with a cause, when files are there.
func (s *stage) until(cause error, files int) context.Context {
	ctx, cancel := context.WithCancelCause(s.Context())
	done := make(chan struct{})
	s.Cleanup(func() { cancel(nil); <-done })
	go func() {
		defer close(done)
		for len(s.pids()) < files && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		cancel(cause)
	}()
	return ctx
}

// pids are the processes that have said so: each has made a file of its number.
func (s *stage) pids() (pids []int) {
	names, _ := filepath.Glob(s.dir + "/pid.*")
	for _, name := range names {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(name), "."))
		if err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// allGone asserts that nobody of them lives.
func (s *stage) allGone() {
	s.Helper()
	for _, pid := range s.pids() {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err == nil && !strings.Contains(string(text), ") Z ") && strings.Contains(s.environ(pid), "ELASTICRON_RUN=") {
			s.Errorf("process %d lives: %s", pid, text)
		}
	}
}

func (*stage) environ(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return string(text)
}

var errStop = errors.New("the worker stops")

func TestAScript(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		path := s.script("report", `echo "$# $1 $ELASTICRON_JOB $ELASTICRON_ITEM $ELASTICRON_TOKEN"; exit 3`)
		err := s.run(s.Context(), path+" --fast")
		var failed *script.Error
		require.ErrorAs(s, err, &failed)
		require.Equal(s, 3, failed.ExitCode)
		require.Equal(s, "2 --fast orders 3 17", failed.Output)
		require.Equal(s, "2 --fast orders 3 17\n", s.heard)
		require.Equal(s, path, failed.Command)
	})
}

// The system says of a script without an interpreter that the script is not there, or has a wrong format.
func TestAScriptThatNothingRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := s.script("first", "true")
	write := func(text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("#!/bin/sh\r\ntrue\n")
	err := s.run(t.Context(), path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "it is there, but not what runs it: the interpreter of its first line, which must not end in a carriage return")
	write("true\n")
	require.ErrorContains(t, s.run(t.Context(), path), "no script whose first line names its interpreter, such as #!/bin/sh")
}

func TestOnlyWhatIsAllowedRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	require.NoError(t, os.Symlink("/bin/sh", s.dir+"/innocent"))
	for _, line := range []string{"/bin/sh -c 'exit 0'", s.dir + "/innocent -c 'exit 0'", "sh -c 'exit 0'", s.dir + "/../../../bin/sh"} {
		err := s.run(t.Context(), line)
		require.ErrorIs(t, err, allow.ErrRefused, line)
	}
	require.ErrorIs(t, s.run(t.Context(), s.dir+"/none"), fs.ErrNotExist)
	everything, err := allow.NewCommands([]string{"*"})
	require.NoError(t, err)
	s.settings.Commands = everything
	require.NoError(t, s.run(t.Context(), s.dir+"/innocent -c 'exit 0'"))
}

// A list that has become shorter counts for jobs that were configured before.
func TestSettingsCountFromTheNextRunOn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := s.script("report", "exit 0")
	code := command.New(&s.settings, family(), slog.New(slog.DiscardHandler), nil)
	fn, err := code.Configure(job.Config{Name: "orders", Type: job.TypeScript, ScriptCommandLine: path})
	require.NoError(t, err)
	require.NoError(t, fn(t.Context(), item))
	other, err := allow.NewCommands([]string{"/opt/*"})
	require.NoError(t, err)
	code.Set(&command.Settings{Commands: other, Stop: time.Second})
	require.ErrorIs(t, fn(t.Context(), item), allow.ErrRefused)
}

// A script that is being written begins when it is.
func TestAScriptThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := s.script("fresh", "exit 0")
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	closing := time.AfterFunc(30*time.Millisecond, func() { _ = file.Close() })
	defer closing.Stop()
	require.NoError(t, s.run(t.Context(), path))
}

func TestIgnoredSIGTERM(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		s.settings.Stop = 100 * time.Millisecond
		path := s.script("deaf", `trap '' TERM; : > `+s.dir+`/pid.$$; while :; do sleep 600; done`)
		err := s.run(s.until(errStop, 1), path)
		require.ErrorIs(s, err, errStop)
		s.allGone()
	})
}

func TestSIGTERMIsHeard(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		path := s.script("tidy", `trap 'echo tidy; exit 0' TERM; : > `+s.dir+`/pid.$$; while :; do sleep 0.01; done`)
		err := s.run(s.until(errStop, 1), path)
		require.ErrorIs(s, err, errStop)
		require.Contains(s, s.heard, "tidy\n") // and what the shell says of its sleep
		s.allGone()
	})
}

// What a shell has started has the time to end as well, though the shell ends at once.
func TestAWrapper(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		inner := s.script("inner", `trap 'sleep 0.3; echo tidy; exit 0' TERM; : > `+s.dir+`/pid.$$; while :; do sleep 0.01; done`)
		began := time.Now()
		err := s.run(s.until(errStop, 1), s.script("wrapper", inner+"; echo after"))
		require.ErrorIs(s, err, errStop)
		require.Contains(s, s.heard, "tidy\n") // and what the shell says of its sleep
		require.Less(s, time.Since(began), time.Minute, "it is over when all have ended")
		s.allGone()
	})
}

// A second signal ends what has the time of a script that has ended.
func TestAWrapperIsKilled(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		s.settings.Stop = time.Hour
		code := command.New(&s.settings, family(), slog.New(slog.DiscardHandler), nil)
		inner := s.script("inner", `trap ': > `+s.dir+`/pid.0' TERM; : > `+s.dir+`/pid.$$; while :; do sleep 0.01; done`)
		fn, err := code.Configure(job.Config{Name: "orders", Type: job.TypeScript, ScriptCommandLine: s.script("wrapper", inner+"; echo after")})
		require.NoError(s, err)
		told := s.until(nil, 2)
		ended := make(chan error)
		go func() { ended <- fn(s.until(errStop, 1), item) }()
		<-told.Done()
		code.Kill()
		require.ErrorIs(s, <-ended, errStop)
		s.allGone()
	})
}

// There is no grace for what is to end at once, and nothing begins any more.
func TestKill(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		s.settings.Stop = time.Hour
		code := command.New(&s.settings, family(), slog.New(slog.DiscardHandler), nil)
		path := s.script("deaf", `trap '' TERM; : > `+s.dir+`/pid.$$; setsid sleep 600 & while :; do sleep 600; done`)
		fn, err := code.Configure(job.Config{Name: "orders", Type: job.TypeScript, ScriptCommandLine: path})
		require.NoError(s, err)
		began := s.until(nil, 2)
		ended := make(chan error, 2)
		ctx, cancel := context.WithCancel(s.Context())
		defer cancel()
		for range 2 {
			go func() { ended <- fn(ctx, item) }()
		}
		<-began.Done()
		code.Kill()
		<-code.Idle()
		s.allGone()
		require.Empty(s, ended, "the item is held until its context ends")
		cancel()
		for range 2 {
			require.ErrorIs(s, <-ended, command.ErrKilled)
		}
		require.ErrorIs(s, fn(ctx, item), command.ErrKilled)
		code.Wait()
	})
}

// session is one that is lost when it is told to, and whose item others may run a moment later.
type session chan struct{}

func (s session) Done() <-chan struct{} { return s }
func (session) Held() time.Duration     { return 100 * time.Millisecond }

// A script whose session is lost is gone before others may run its item, however long it may take to end otherwise; also if
// something else had told it to end before, and with all that it has started.
func TestALostSession(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]error{"while it runs": nil, "when its time was over": job.ErrTimeout, "in a stop": errStop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(s *stage) {
				s.settings.Stop = time.Hour
				code := command.New(&s.settings, family(), slog.New(slog.DiscardHandler), nil)
				path := s.script("slow", `trap ': > `+s.dir+`/pid.0' TERM; setsid sleep 600 & : > `+s.dir+`/pid.$!; : > `+s.dir+`/pid.$$; while :; do sleep 0.01; done`)
				fn, err := code.Configure(job.Config{Name: "orders", Type: job.TypeScript, ScriptCommandLine: path})
				require.NoError(s, err)
				under, lost := make(session), errors.New("session lost")
				of, end := context.WithCancelCause(execution.WithSession(s.Context(), under))
				defer end(nil)
				attempt, cancel := context.WithCancelCause(execution.With(of))
				defer cancel(nil)
				began, told := s.until(nil, 2), s.until(nil, 3)
				ended := make(chan error, 1)
				go func() { ended <- fn(attempt, item) }()
				<-began.Done()
				switch before {
				case job.ErrTimeout: //nolint:errorlint // the very one
					cancel(before)
				case errStop:
					code.Stop(before)
				}
				if before != nil {
					<-told.Done()
					require.Empty(s, ended, "it has its time")
				}
				close(under)
				end(lost)
				require.ErrorIs(s, <-ended, cmp.Or(before, lost))
				s.allGone()
			})
		})
	}
}

// A script that ends before its context, as the session is over, has not failed: the loss of the session is the cause.
func TestALostSessionThatTheContextShowsLate(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		code := command.New(&s.settings, family(), slog.New(slog.DiscardHandler), nil)
		path := s.script("works", `: > `+s.dir+`/pid.$$; while :; do sleep 0.01; done`)
		fn, err := code.Configure(job.Config{Name: "orders", Type: job.TypeScript, ScriptCommandLine: path})
		require.NoError(s, err)
		under, lost := make(session), errors.New("session lost")
		of, end := context.WithCancelCause(execution.WithSession(s.Context(), under))
		defer end(nil)
		began, ended := s.until(nil, 1), make(chan error, 1)
		go func() { ended <- fn(execution.With(of), item) }()
		<-began.Done()
		close(under)
		select {
		case err := <-ended:
			require.ErrorIs(s, err, lost, "it passes for failed")
		case <-time.After(300 * time.Millisecond): // which is time enough to be killed
		}
		s.allGone()
		end(lost)
		require.ErrorIs(s, <-ended, lost)
	})
}

// What a stop has ended is held until its execution is cancelled, also if the job's timeout is over before: it was the stop.
// What the timeout has ended is not.
func TestATimeoutAfterAStop(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	code := command.New(&s.settings, family(), slog.New(slog.DiscardHandler), nil)
	fn, err := code.Configure(job.Config{Name: "orders", Type: job.TypeScript, ScriptCommandLine: s.script("long", `: > `+s.dir+`/pid.$$; exec sleep 600`)})
	require.NoError(t, err)
	whole, cancel := context.WithCancel(t.Context())
	defer cancel()
	attempt, timeout := context.WithCancelCause(execution.With(whole))
	defer timeout(nil)
	late, lateTimeout := context.WithCancelCause(execution.With(whole))
	defer lateTimeout(nil)
	began := s.until(nil, 2)
	ended, timedOut := make(chan error, 2), make(chan error, 1)
	go func() { ended <- fn(attempt, item) }()
	go func() { timedOut <- fn(late, item) }()
	<-began.Done()
	lateTimeout(job.ErrTimeout)
	code.Stop(errStop)
	require.ErrorIs(t, <-timedOut, job.ErrTimeout)
	<-code.Idle()
	go func() { ended <- fn(attempt, item) }() // which is refused
	timeout(job.ErrTimeout)
	require.Never(t, func() bool { return len(ended) > 0 }, 200*time.Millisecond, 10*time.Millisecond)
	cancel()
	for range 2 {
		require.ErrorIs(t, <-ended, errStop)
	}
	code.Wait()
}

// What leaves the process group and the session ends with the run all the same.
func TestSetsidEscape(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		s.settings.Stop = 100 * time.Millisecond
		inner := s.script("inner", `: > `+s.dir+`/pid.$$; trap '' TERM HUP; while :; do sleep 600; done`)
		path := s.script("escape", `setsid `+inner+` >/dev/null 2>&1 & setsid sh -c 'setsid `+inner+` & wait' & while [ $(ls `+s.dir+` | grep -c pid) -lt 2 ]; do sleep 0.01; done; exit 0`)
		require.NoError(s, s.run(s.Context(), path))
		require.Len(s, s.pids(), 2)
		s.allGone()
	})
}

// Without cgroups, what hides its environment may be left of a run. With them nothing can, and nobody looks for it: what is
// found then are the orphans of other runs, which end with their own cgroups.
func TestWhatHidesIsLookedForWithoutCgroups(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		asked, want := &askedForHidden{Kin: family()}, int64(1)
		if s.settings.Groups != nil {
			want = 0
		}
		code := command.New(&s.settings, asked, slog.New(slog.DiscardHandler), nil)
		fn, err := code.Configure(job.Config{Name: "orders", Cron: "@daily", ShardingTotalCount: 4, Type: job.TypeScript, ScriptCommandLine: s.script("ok", "exit 0")})
		require.NoError(s, err)
		require.NoError(s, fn(s.Context(), item))
		require.Equal(s, want, asked.times.Load())
	})
}

// askedForHidden counts how often it is asked for what hides.
type askedForHidden struct {
	*kin.Kin
	times atomic.Int64
}

func (k *askedForHidden) Hidden(killed int) []int {
	k.times.Add(1)
	return k.Kin.Hidden(killed)
}

// A bomb of 2^7 - 1 processes, each of which goes on when it is asked to end.
func TestForkBomb(t *testing.T) {
	t.Parallel()
	both(t, func(s *stage) {
		s.settings.Stop = 100 * time.Millisecond
		path := s.script("bomb", `: > `+s.dir+`/pid.$$; trap '' TERM; depth=${1%%[!0-9]*}; if [ "$depth" -gt 0 ]; then
			setsid $0 $((depth-1)) & $0 $((depth-1)) & fi; while :; do sleep 600; done`)
		err := s.run(s.until(errStop, 127), path+" 6")
		require.ErrorIs(s, err, errStop)
		require.Len(s, s.pids(), 127)
		s.allGone()
	})
}

func TestOutputFlood(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	logs := t.TempDir()
	s.settings.Files = output.Files{Directory: logs, Size: 1 << 20, Older: 1}
	path := s.script("flood", `echo begin; head -c 20000000 /dev/zero | tr '\0' x; echo; echo end; exit 1`)
	err := s.run(t.Context(), path)
	var failed *script.Error
	require.ErrorAs(t, err, &failed)
	require.Len(t, failed.Output, 4096+len("...")-1)
	require.True(t, strings.HasPrefix(s.heard, "begin\nxxx"))
	require.True(t, strings.HasSuffix(s.heard, "xxx\nend\n"))
	require.Less(t, len(s.heard), 9<<10)
	files, err := filepath.Glob(logs + "/orders/*")
	require.NoError(t, err)
	require.Equal(t, []string{logs + "/orders/3.log", logs + "/orders/3.log.1"}, files)
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(1<<20))
	}
}

// A run by hand stands for no fire, and then its heading has none.
func TestHeadingsOfAFile(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	logs := t.TempDir()
	s.settings.Files = output.Files{Directory: logs, Size: 1 << 20}
	path := s.script("report", "echo done")
	require.NoError(t, s.run(t.Context(), path))
	byHand := item
	byHand.Source, byHand.Fire, byHand.Token = job.Manual, time.Time{}, 18
	require.NoError(t, s.runOf(t.Context(), byHand, path))
	text, err := os.ReadFile(logs + "/orders/3.log")
	require.NoError(t, err)
	require.Regexp(t, `^--- \S+Z scheduled, fire 2026-01-01T00:00:00Z, token 17\ndone\n--- \S+Z manual, token 18\ndone\n$`, string(text))
}

func TestTheEnvironment(t *testing.T) {
	s := newStage(t)
	t.Setenv("PASSED", "yes")
	t.Setenv("NOT_PASSED", "no")
	file := filepath.Join(t.TempDir(), "env")
	require.NoError(t, os.WriteFile(file, []byte("# secrets\n\nTOKEN=sword fish=1\nSHORT=ab\nELASTICRON_JOB=mine\n"), 0o600))
	s.settings.Pass, s.settings.EnvFiles = []string{"PASSED", "NOT_THERE"}, []string{file}
	path := s.script("env", `env | grep '^[A-Z]*=\|^ELASTICRON_JOB=' | grep -v '^\(PWD\|SHLVL\|LANG\)=' | sort; printf 'swo'; sleep 0.05; printf 'rd fish=1\n'`)
	require.NoError(t, s.run(t.Context(), path))
	require.Equal(t, "ELASTICRON_JOB=orders\nPASSED=yes\nPATH="+os.Getenv("PATH")+"\nSHORT=ab\nTOKEN=[hidden]\n[hidden]\n", s.heard)

	require.NoError(t, os.WriteFile(file, []byte("A=b\nswordfish\n"), 0o600))
	err := s.run(t.Context(), path)
	require.ErrorContains(t, err, file+":2: the line must be NAME=value")
	require.NotContains(t, err.Error(), "swordfish")
	require.NoError(t, os.Remove(file))
	require.ErrorIs(t, s.run(t.Context(), path), fs.ErrNotExist)

	byHand := item
	byHand.TriggerParameter = "a\x00b"
	require.ErrorContains(t, s.runOf(t.Context(), byHand, path), "variable ELASTICRON_TRIGGER_PARAMETER has a zero character")
}

func TestTheFolder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	base := s.dir + "/work"
	require.NoError(t, os.Mkdir(base, 0o755)) //nolint:gosec // others may enter
	s.settings.Directory = base + "/{job}/{item}"
	path := s.script("where", "pwd; : > here")
	require.NoError(t, s.run(t.Context(), path))
	require.Equal(t, base+"/orders/3\n", s.heard)
	require.FileExists(t, base+"/orders/3/here")
	require.NoError(t, s.run(t.Context(), path), "it may be there")
	require.NoError(t, os.RemoveAll(base+"/orders/3"))
	require.ErrorIs(t, s.run(t.Context(), "/bin/sh -c pwd"), allow.ErrRefused)
	require.NoDirExists(t, base+"/orders/3", "what is refused leaves nothing behind")
	require.NoError(t, os.Symlink("/etc", base+"/orders/3"))
	require.Error(t, s.run(t.Context(), path), "a link leads out of it")
}

func TestAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		_, err := command.LookupUser("root")
		require.ErrorContains(t, err, "only root can run scripts as another")
		return
	}
	s := newStage(t)
	for dir := s.dir; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // the user has to get there
	}
	var err error
	s.settings.User, err = command.LookupUser("nobody")
	require.NoError(t, err)
	s.settings.Directory = s.dir + "/{job}-{item}"
	require.NoError(t, s.run(t.Context(), s.script("who", "id -un; echo $USER; : > mine")))
	require.Equal(t, "nobody\nnobody\n", s.heard)
	require.FileExists(t, s.dir+"/orders-3/mine")
	require.NoError(t, os.Chown(s.dir+"/orders-3", 1, 1), "as when script.user was another before")
	err = s.run(t.Context(), s.script("late", "true"))
	require.ErrorContains(t, err, "/orders-3 belongs to the user id 1, want that of script.user, ")
	require.NoError(t, os.Chmod(s.dir+"/orders-3", 0o755)) //nolint:gosec // somebody means others to get there
	require.NoError(t, s.run(t.Context(), s.script("late", "true")))

	require.NoError(t, os.RemoveAll(s.dir+"/orders-3"))
	require.NoError(t, os.Mkdir(s.dir+"/orders-3", 0o700), "as when the worker is killed before it has given it to the user")
	require.NoError(t, s.run(t.Context(), s.script("late", ": > mine")))
	require.FileExists(t, s.dir+"/orders-3/mine")
	require.NoError(t, os.Chown(s.dir+"/orders-3", 0, 0), "with something in it, somebody has made it so")
	err = s.run(t.Context(), s.script("late", "true"))
	require.ErrorContains(t, err, "/orders-3 belongs to the user id 0, want that of script.user, ")
	_, err = command.LookupUser("no-such-user")
	require.Error(t, err)
}

// Orphans that have ended are buried.
func TestNoZombiesStay(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := s.script("orphans", `for i in 1 2 3; do setsid sh -c ': > `+s.dir+`/pid.$$' & done; wait`)
	require.NoError(t, s.run(t.Context(), path))
	require.Eventually(t, func() bool {
		family().Bury()
		for _, pid := range s.pids() {
			if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil && strings.Contains(s.environ(pid), "ELASTICRON_RUN") {
				return false
			}
		}
		return true
	}, time.Minute, 5*time.Millisecond)
}
