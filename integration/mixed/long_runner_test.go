package mixed

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/zkcompat"
	"github.com/elasticron/elasticron/scheduler"
)

// envRunner holds what this binary is told when it is a Go process of a long run.
const envRunner = "ELASTICRON_MIXED_RUNNER"

type runnerSettings struct {
	Address, Namespace, ID, Journal string
	Layout                          jobtree.Layout
	Jobs                            []job.Config
}

// note is a line of a runner's journal: an execution began, was cancelled, or ended.
type note struct {
	Kind   string // as the events of Java processes
	Job    string
	Item   int
	Fire   time.Time
	Source job.Source
	Token  int64
	At     time.Time
	Failed string `json:",omitempty"`
}

// The kinds of notes.
const (
	noteBegin     = "begin"
	noteCancelled = "cancelled"
	noteEnd       = "end"
	noteStalled   = "stalled" // the process was given no processor since Fire
)

// journal is where a runner writes what its items do. A line is in the hands of the kernel before the execution goes
// on, so a SIGKILL loses nothing.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

func (j *journal) note(kind string, sc job.ShardingContext, failed error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := note{Kind: kind, Job: sc.JobName, Item: sc.Item, Fire: sc.Fire, Source: sc.Source, Token: sc.Token, At: time.Now()}
	if failed != nil {
		n.Failed = failed.Error()
	}
	line, err := json.Marshal(n)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil { // what happened is lost, so the process must not go on
		fmt.Fprintln(os.Stderr, "panic: journal:", err)
		os.Exit(1)
	}
}

// readJournal returns what a runner wrote, but for a line that it did not write to its end.
func readJournal(t *testing.T, path string) (notes []note) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(text[:strings.LastIndexByte(string(text), '\n')+1])) {
		var n note
		require.NoError(t, json.Unmarshal([]byte(line), &n), "%s: %s", path, line)
		notes = append(notes, n)
	}
	return notes
}

// runRunner is the main function of a runner, until SIGTERM.
func runRunner(text string) int {
	ctx, stop := signal.NotifyContext(context.Background(), sigTerm)
	defer stop()
	go func() { // a process that lost its parent ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := beRunner(ctx, text); err != nil {
		fmt.Fprintln(os.Stderr, "panic:", err)
		return 1
	}
	return 0
}

func beRunner(ctx context.Context, text string) error {
	var settings runnerSettings
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		return err
	}
	file, err := os.OpenFile(settings.Journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	j := &journal{file: file}
	reg, err := zkcompat.Open(ctx, zkcompat.Config{
		Servers: []string{settings.Address}, Namespace: settings.Namespace, SessionTimeout: sessionTimeout, ConnectionTimeout: patience,
	})
	if err != nil {
		return err
	}
	s, err := scheduler.New(reg, append(options(settings.Layout, settings.ID, os.Stderr),
		scheduler.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, nil))))...)
	if err != nil {
		return err
	}
	for _, cfg := range settings.Jobs {
		if _, err := s.Add(ctx, cfg, job.HandlerFunc(j.execute)); err != nil {
			return err
		}
	}
	go func() {
		<-s.Ready()
		fmt.Println("joined")
	}()
	stop := detectStalls(func(from time.Time) { j.note(noteStalled, job.ShardingContext{Fire: from}, nil) })
	err = s.Run(ctx)
	stop()
	_ = reg.Close(context.WithoutCancel(ctx)) // a session that is not closed ends by itself
	return err
}

// detectStalls tells whenever this process stood still, and since when, until it is stopped. On a busy machine, no
// promise about time holds meanwhile.
func detectStalls(tell func(from time.Time)) (stop func()) {
	over := make(chan struct{})
	var detector sync.WaitGroup
	detector.Go(func() {
		for last := time.Now(); ; last = time.Now() {
			select {
			case <-over:
				return
			case <-time.After(tick):
			}
			if time.Since(last) > 4*tick {
				tell(last)
			}
		}
	})
	return func() { close(over); detector.Wait() }
}

// execute takes as long as the job's parameter says.
func (j *journal) execute(ctx context.Context, sc job.ShardingContext) error {
	j.note(noteBegin, sc, nil)
	cancelled := sync.OnceFunc(func() { j.note(noteCancelled, sc, context.Cause(ctx)) })
	stop := context.AfterFunc(ctx, cancelled)
	lasts, err := time.ParseDuration(sc.JobParameter)
	if err == nil {
		select {
		case <-time.After(lasts):
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if !stop() {
		cancelled()
	}
	j.note(noteEnd, sc, err)
	return err
}

// runner is a Go process of a long run, as its test sees it.
type runner struct {
	t       *testing.T
	id      string
	journal string
	cmd     *exec.Cmd
	joined  chan struct{} // closed when it takes part
	gone    chan struct{} // closed when it has ended, with err
	err     error
	began   time.Time
	killed  time.Time // zero = it was not
}

// startRunner starts a Go process. It is killed when the test ends, if it lives then.
func (l *long) startRunner(ip string) *runner {
	l.t.Helper()
	l.started++
	r := &runner{t: l.t, id: fmt.Sprintf("%s@-@go%d", ip, l.started), joined: make(chan struct{}), gone: make(chan struct{}), began: time.Now()}
	r.journal = filepath.Join(l.folder, fmt.Sprintf("go%d.jsonl", l.started))
	settings, err := json.Marshal(runnerSettings{l.address, l.namespace, r.id, r.journal, l.layout, l.configs})
	require.NoError(l.t, err)
	self, err := os.Executable()
	require.NoError(l.t, err)
	r.cmd = exec.Command(self)
	r.cmd.Env = append(os.Environ(), envRunner+"="+string(settings))
	log, err := os.Create(strings.TrimSuffix(r.journal, "jsonl") + "log")
	require.NoError(l.t, err)
	defer log.Close() //nolint:errcheck // the process has it
	r.cmd.Stderr = log
	_, err = r.cmd.StdinPipe() // stays open for as long as this process lives
	require.NoError(l.t, err)
	out, err := r.cmd.StdoutPipe()
	require.NoError(l.t, err)
	require.NoError(l.t, r.cmd.Start())
	go r.follow(out)
	l.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.gone
		text, err := os.ReadFile(log.Name())
		if err != nil {
			l.t.Error(err)
		}
		for _, fault := range []string{"DATA RACE", "panic:", "fatal error:"} {
			if bytes.Contains(text, []byte(fault)) {
				l.t.Errorf("%s: %s\n%s", r.id, fault, text[max(0, len(text)-8<<10):])
			}
		}
	})
	l.runners = append(l.runners, r)
	return r
}

func (r *runner) follow(out io.Reader) {
	defer close(r.gone)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "joined" {
			close(r.joined)
		}
	}
	r.err = r.cmd.Wait()
}

// await waits until the process takes part.
func (r *runner) await() {
	r.t.Helper()
	select {
	case <-r.joined:
	case <-r.gone:
		require.Fail(r.t, "a Go process ended before it took part", "%s: %v", r.id, r.err)
	case <-time.After(patience):
		require.Fail(r.t, "a Go process does not take part", r.id)
	}
}

func (r *runner) signal(s os.Signal) {
	r.t.Helper()
	require.NoError(r.t, r.cmd.Process.Signal(s))
}

func (r *runner) kill() {
	r.t.Helper()
	r.signal(os.Kill)
	<-r.gone
	r.killed = time.Now()
}

// stop ends the process gracefully.
func (r *runner) stop() {
	r.t.Helper()
	r.signal(sigTerm)
	select {
	case <-r.gone:
		require.NoError(r.t, r.err, r.id)
	case <-time.After(patience):
		require.Fail(r.t, "a Go process does not stop", r.id)
	}
}
