//go:build linux

package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/job/httpjob/callback"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/worker"
)

const soon = 60 * time.Second

// stage is a namespace, and folders for files and scripts.
type stage struct {
	*testing.T
	server *memory.Server
	dir    string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{"bin", "jobs", "log"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755)) //nolint:gosec // as such folders are
	}
	return &stage{T: t, server: memory.NewServer(), dir: dir}
}

func (s *stage) open() *memory.Registry {
	r := s.server.Open("shop", memory.WithTTL(time.Minute)) // so that a busy machine ends no session
	s.Cleanup(func() { require.NoError(s, r.Close(context.Background())) })
	return r
}

// script writes a script and returns its path.
func (s *stage) script(name, text string) string {
	s.Helper()
	path := filepath.Join(s.dir, "bin", name)
	syscall.ForkLock.RLock() // whoever forks meanwhile would hold it open for a moment, and it could not be run
	defer syscall.ForkLock.RUnlock()
	require.NoError(s, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755)) //nolint:gosec // as programs are
	return path
}

// parsed is a file of a worker, in which DIR is the folder of the stage.
func (s *stage) parsed(text string) worker.File {
	s.Helper()
	file, err := worker.Parse([]byte(strings.ReplaceAll(text, "DIR", s.dir)))
	require.NoError(s, err)
	return file
}

// store has the registry have a job.
func (s *stage) store(cfg job.Config) {
	s.Helper()
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(s, err)
	_, err = s.open().Commit(s.Context(), registry.Txn{Then: []registry.Write{registry.Put(jobtree.For(cfg.Name).Config(), text)}})
	require.NoError(s, err)
}

func everySecond(name, line string) job.Config {
	return job.Config{Name: name, Type: job.TypeScript, Cron: "* * * * * ?", ShardingTotalCount: 1, ScriptCommandLine: line}
}

// running is a worker that runs.
type running struct {
	*worker.Worker
	stage *stage
	stop  context.CancelFunc
	ended chan error
	told  *told
}

// told is what systemd hears.
type told struct {
	mu     sync.Mutex
	states []string
}

func (t *told) hear(state string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state, _, _ = strings.Cut(state, "\n")
	t.states = append(t.states, state)
}

func (t *told) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.states...)
}

func (s *stage) start(text string) *running {
	s.Helper()
	r := &running{stage: s, ended: make(chan error, 1), told: new(told)}
	var err error
	r.Worker, err = worker.New(s.open(), s.parsed(text), worker.WithNotify(r.told.hear))
	require.NoError(s, err)
	ctx, stop := context.WithCancel(s.Context())
	r.stop = stop
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.ended <- r.Run(ctx)
	}()
	s.Cleanup(func() { stop(); r.StopNow(); <-over })
	return r
}

// get asks a probe.
func (r *running) get(path string) (int, string) {
	r.stage.Helper()
	req, err := http.NewRequestWithContext(r.stage.Context(), http.MethodGet, "http://"+r.Address()+path, nil)
	require.NoError(r.stage, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(r.stage, err)
	return resp.StatusCode, string(body)
}

// ready is what /ready says.
func (r *running) ready() worker.Readiness {
	r.stage.Helper()
	_, text := r.get("/ready")
	var answer worker.Readiness
	_ = json.Unmarshal([]byte(text), &answer)
	return answer
}

func (s *stage) eventually(holds func() bool, what string) {
	s.Helper()
	require.Eventually(s, holds, soon, 10*time.Millisecond, what)
}

// lines counts the lines of a file; 0 if there is none.
func (s *stage) lines(name string) int {
	text, _ := os.ReadFile(filepath.Join(s.dir, name))
	return bytes.Count(text, []byte("\n"))
}

const withProbes = "listen: 127.0.0.1:0\n"

// A job of a file runs, its output is kept, the probes tell; when the worker stops, what runs comes to its end.
func TestAWorker(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.script("report", `echo "report $ELASTICRON_ITEM"; : > `+s.dir+`/runs; while [ ! -e `+s.dir+`/go ]; do sleep 0.01; done; echo done >> `+s.dir+`/done`)
	require.NoError(t, os.WriteFile(s.dir+"/jobs/report.yaml", fmt.Appendf(nil,
		"report: {config: {jobType: SCRIPT, scriptCommandLine: %s/bin/report, cron: '* * * * * ?', shardingTotalCount: 1}}\n", s.dir), 0o600))
	w := s.start(withProbes + `
jobs: {directory: DIR/jobs}
script: {commands: [DIR/bin/*], log: {directory: DIR/log}}
history: {file: DIR/kept/here/history.db}
`)
	s.eventually(func() bool { return w.ready().OK }, "ready")
	s.eventually(func() bool { _, err := os.Stat(s.dir + "/runs"); return err == nil }, "the job runs")
	s.eventually(func() bool {
		status, text := w.get("/metrics")
		return status == http.StatusOK && strings.Contains(text, `elasticron_executions_running{job_name="report"} 1`) &&
			strings.Contains(text, `elasticron_items_overdue{job_name="report"} 0`)
	}, "the job that runs is counted, and its health is told")
	status, _ := w.get("/live")
	require.Equal(t, http.StatusOK, status)
	s.eventually(func() bool { return slices.Equal([]string{"READY=1"}, w.told.all()) }, "systemd is told")

	w.stop()
	s.eventually(func() bool { status, _ := w.get("/ready"); return status == http.StatusServiceUnavailable }, "not ready any more")
	require.Contains(t, w.ready().Reasons, "the worker stops")
	require.Empty(t, w.ended, "the job still runs")
	require.Zero(t, s.lines("done"))
	require.NoError(t, os.WriteFile(s.dir+"/go", nil, 0o600))
	require.NoError(t, <-w.ended)
	require.Equal(t, 1, s.lines("done"))
	require.Equal(t, []string{"READY=1", "STOPPING=1"}, w.told.all())
	require.ErrorIs(t, w.Run(t.Context()), worker.ErrRan)

	folder, err := os.Stat(s.dir + "/kept")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), folder.Mode().Perm(), "outputs may hold secrets")
	store, err := sqlite.Open(t.Context(), s.dir+"/kept/here/history.db")
	require.NoError(t, err)
	defer store.Close()
	page, err := store.Executions(t.Context(), history.ExecutionQuery{Job: "report"})
	require.NoError(t, err)
	require.True(t, page.Rows[0].Success)
	output, err := store.Output(t.Context(), "report", page.Rows[0].ID)
	require.NoError(t, err)
	require.Equal(t, "report 0\n", output.Text)
	require.Equal(t, int64(len("report 0\n")), output.Bytes)
	require.Equal(t, page.Rows[0].Token, output.Token)
	require.NotZero(t, output.Token)
	kept, err := os.ReadFile(s.dir + "/log/report/0.log")
	require.NoError(t, err)
	require.Contains(t, string(kept), "report 0\n")
}

// A worker is ready when it has joined its jobs, for in a rollout another one leaves then. A job that it cannot join holds it
// up for some seconds.
func TestAWorkerIsReadyWhenItHasJoined(t *testing.T) {
	t.Parallel()
	for name, mends := range map[string]bool{"joined": true, "never": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.store(everySecond("count", s.script("count", "true")))
			s.server.SetFull(true) // so that no instance is written
			w := s.start(withProbes + "script: {commands: ['*']}\n")
			reasons := []string{"the worker has not joined its jobs yet"}
			s.eventually(func() bool { return slices.Equal(reasons, w.ready().Reasons) }, "it has a session, and that is all")
			require.Empty(t, w.told.all())
			if mends {
				s.server.SetFull(false)
			}
			s.eventually(func() bool { return w.ready().OK && len(w.told.all()) > 0 }, "ready")
			instances, err := s.open().Children(t.Context(), jobtree.For("count").Instances())
			if mends {
				require.NoError(t, err)
				require.Len(t, instances, 1)
				return
			}
			require.Empty(t, instances)
		})
	}
}

// What runs beyond the grace is ended, and so is what is told to end at once.
func TestWhatDoesNotEndByItself(t *testing.T) {
	t.Parallel()
	for name, grace := range map[string]string{"grace": "grace: 1200ms\n", "at once": "grace: 10m\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			path := s.script("deaf", `trap '' TERM; echo $$ > `+s.dir+`/pid; setsid sleep 600 & while :; do sleep 600; done`)
			s.store(everySecond("deaf", path))
			w := s.start(grace + "script: {commands: ['*'], stop: 200ms}\n")
			s.eventually(func() bool { return s.lines("pid") > 0 }, "it runs")
			w.stop()
			if name == "at once" {
				w.StopNow()
			}
			select {
			case err := <-w.ended:
				require.NoError(t, err)
			case <-time.After(soon):
				t.Fatal("the worker does not end")
			}
			text, err := os.ReadFile(s.dir + "/pid")
			require.NoError(t, err)
			require.NoDirExists(t, "/proc/"+strings.TrimSpace(string(text)))
		})
	}
}

// A log that nobody reads does not keep a stop from beginning.
func TestAStopDoesNotWaitForTheLog(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.store(everySecond("deaf", s.script("deaf", `trap '' TERM; echo $$ > `+s.dir+`/pid; while :; do sleep 600; done`)))
	log := &stuck{full: make(chan struct{})}
	w, err := worker.New(s.open(), s.parsed("grace: 1200ms\nscript: {commands: ['*'], stop: 200ms}\n"), worker.WithLogger(slog.New(log)))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	defer func() {
		stop()
		close(log.full)
		require.NoError(t, <-ended)
	}()
	s.eventually(func() bool { return s.lines("pid") > 0 }, "it runs")
	text, err := os.ReadFile(s.dir + "/pid")
	require.NoError(t, err)
	stop()
	s.eventually(func() bool { _, err := os.Stat("/proc/" + strings.TrimSpace(string(text))); return err != nil }, "it is ended")
}

// stuck is a log that does not take the line of a stop until it is closed.
type stuck struct {
	slog.Handler
	full chan struct{}
}

func (s *stuck) Enabled(context.Context, slog.Level) bool { return true }
func (s *stuck) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s *stuck) WithGroup(string) slog.Handler            { return s }

func (s *stuck) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "worker stops" {
		<-s.full
	}
	return nil
}

// A worker that stops under load has what it began come to its end, and the others run its items.
func TestDrainUnderLoad(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const items = 4
	s.store(job.Config{
		Name: "count", Type: job.TypeScript, Cron: "@every 100ms", ShardingTotalCount: items,
		ScriptCommandLine: s.script("count", `echo >> `+s.dir+`/began.$ELASTICRON_ITEM; sleep 0.1; echo >> `+s.dir+`/ended.$ELASTICRON_ITEM`),
	})
	const file = "grace: 10m\nscript: {commands: [DIR/bin/*], log: {directory: DIR/log/"
	var workers []*running
	for _, name := range []string{"one", "two"} {
		require.NoError(t, os.Mkdir(s.dir+"/log/"+name, 0o700))
		workers = append(workers, s.start(file+name+"}}\n"))
	}
	s.eventually(func() bool {
		one, _ := filepath.Glob(s.dir + "/log/one/count/*")
		two, _ := filepath.Glob(s.dir + "/log/two/count/*")
		return len(one) > 0 && len(two) > 0
	}, "both run items")
	lines := func(what string) (all []int) {
		for i := range items {
			all = append(all, s.lines(what+"."+strconv.Itoa(i)))
		}
		return all
	}
	workers[0].stop()
	require.NoError(t, <-workers[0].ended)
	before := lines("ended")
	s.eventually(func() bool { return allMore(lines("ended"), before) }, "all items run")
	workers[1].stop()
	require.NoError(t, <-workers[1].ended)
	require.Equal(t, lines("began"), lines("ended"), "what began has ended")
}

// allMore tells whether each number is greater than what it was.
func allMore(now, was []int) bool {
	for i := range now {
		if now[i] <= was[i] {
			return false
		}
	}
	return true
}

// A script may take all of script.stop to end: until then the item is its own, and nothing is given up.
func TestAScriptThatEndsSlowly(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := s.script("slow", `trap 'sleep 3; echo >> `+s.dir+`/ended; exit 0' TERM; echo >> `+s.dir+`/began; while :; do sleep 0.01; done`)
	s.store(everySecond("slow", path))
	other := s.open()
	const file = "grace: 1m200ms\nscript: {commands: ['*'], stop: 1m}\n"
	w := s.start(file)
	s.eventually(func() bool { return s.lines("began") > 0 }, "it runs")
	w.stop()
	s.eventually(func() bool { return slices.Contains(w.told.all(), "STOPPING=1") }, "it stops")
	_, err := w.Reload(s.parsed(file))
	require.NoError(t, err)
	require.NotContains(t, w.told.all(), "RELOADING=1")
	select {
	case err := <-w.ended:
		require.NoError(t, err)
	case <-time.After(soon):
		t.Fatal("the worker does not end")
	}
	require.Equal(t, s.lines("began"), s.lines("ended"))
	require.NotEqual(t, "READY=1", w.told.all()[len(w.told.all())-1])
	node, err := other.Get(t.Context(), jobtree.For("slow").ItemRecord(0))
	require.NoError(t, err)
	require.Contains(t, node.Value, "interrupted")
}

// A bad file changes nothing and shows; when it is mended, it counts.
func TestABadFileShows(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	write := func(text string) { require.NoError(t, os.WriteFile(s.dir+"/jobs/a.yaml", []byte(text), 0o600)) }
	write("a: {config: {cron: whenever}}\n")
	w := s.start(withProbes + "jobs: {directory: DIR/jobs}\nscript: {commands: ['*']}\n")
	s.eventually(func() bool {
		answer := w.ready()
		return len(answer.Reasons) > 0 && strings.Contains(answer.Reasons[0], s.dir+"/jobs/a.yaml")
	}, "told")
	status, _ := w.get("/ready")
	require.Equal(t, http.StatusServiceUnavailable, status)
	write("a: {config: {jobType: SCRIPT, scriptCommandLine: /bin/true, cron: '@daily', shardingTotalCount: 1}}\n")
	s.eventually(func() bool { return w.ready().OK }, "mended")
}

// What goes wrong with every run alike is one line, and then a count.
func TestOneCauseIsOneLine(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	cfg := everySecond("count", s.script("count", `echo x >> `+s.dir+`/runs`))
	cfg.Cron = "@every 50ms"
	s.store(cfg)
	log := &logged{}
	w, err := worker.New(s.open(), s.parsed("script: {commands: ['*'], log: {directory: DIR/log}}\n"), worker.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	s.eventually(func() bool { return s.lines("runs") > 0 }, "it runs")
	require.NoError(t, os.Rename(s.dir+"/log", s.dir+"/gone")) // RemoveAll fails if a run makes a file meanwhile
	before := s.lines("runs")
	s.eventually(func() bool { return s.lines("runs") > before+5 }, "it runs on")
	const line = `msg="the output of a script is not kept in a file" job=count`
	require.Equal(t, 1, strings.Count(log.String(), line), log.String())
	stop()
	require.NoError(t, <-ended)
	require.Equal(t, 2, strings.Count(log.String(), line), log.String())
	require.Regexp(t, line+`.* times=\d+`, log.String())
}

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// The lists count from the next run on, while jobs run all the time; what cannot be reloaded is named.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := s.script("count", `echo x >> `+s.dir+`/$ELASTICRON_JOB`)
	const jobs = 8
	for i := range jobs {
		cfg := everySecond("job"+strconv.Itoa(i), path)
		cfg.Cron, cfg.ShardingTotalCount = "@every 50ms", 2
		s.store(cfg)
	}
	const allowed, other = "script: {commands: [DIR/bin/*]}\n", "script: {commands: [DIR/other/*]}\n"
	w := s.start(allowed)
	all := func() (n int) {
		for i := range jobs {
			n += s.lines("job" + strconv.Itoa(i))
		}
		return n
	}
	s.eventually(func() bool { return all() > 2*jobs && len(w.told.all()) > 0 }, "they run, and systemd is told")
	for range 20 {
		for _, text := range []string{other, allowed} {
			later, err := w.Reload(s.parsed(text))
			require.NoError(t, err)
			require.Empty(t, later)
		}
	}
	before := all()
	s.eventually(func() bool { return all() > before+2*jobs }, "they run on")

	later, err := w.Reload(s.parsed(allowed + "grace: 1m\nlisten: 127.0.0.1:0\nlog: {level: debug}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"listen", "log.level"}, later)
	s.eventually(func() bool { return len(w.told.all()) == 1+2*(2*20+1) }, "systemd is told of all reloads")
	told := w.told.all()
	_, err = w.Reload(s.parsed("script: {commands: ['*'], user: no-such-user}\n"))
	require.ErrorContains(t, err, `script.user "no-such-user" must be a user`)
	require.Equal(t, told, w.told.all(), "users are looked up first, while the worker can be told to stop")
	_, err = w.Reload(s.parsed("script: {commands: ['*'], directory: 'DIR/none/{job}'}\n"))
	require.ErrorContains(t, err, `script.directory "`+s.dir+`/none/" must be a folder that is there`)
	before = all()
	s.eventually(func() bool { return all() > before+2*jobs }, "what is refused changes nothing")

	reg := s.open()
	members := func() (all []string) {
		for i := range jobs {
			names, err := reg.Children(t.Context(), jobtree.For("job"+strconv.Itoa(i)).Instances())
			require.NoError(t, err)
			all = append(all, names...)
		}
		return all
	}
	require.Len(t, members(), jobs)
	later, err = w.Reload(s.parsed(allowed + "take: {jobs: [x]}\n"))
	require.NoError(t, err)
	require.Empty(t, later)
	s.eventually(func() bool { return len(members()) == 0 }, "it leaves the jobs")
	before = all()
	_, err = w.Reload(s.parsed(allowed))
	require.NoError(t, err)
	s.eventually(func() bool { return len(members()) == jobs && all() > before+2*jobs }, "it is back")

	require.Contains(t, w.told.all(), "RELOADING=1")
}

// A script that no run could start pauses its job, and a file that allows it has the job go on.
func TestScriptsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.store(everySecond("allowed", s.script("allowed", `echo x >> `+s.dir+`/$ELASTICRON_JOB`)))
	s.store(everySecond("relative", "allowed now"))
	const allowed, other = withProbes + "script: {commands: [DIR/bin/*]}\n", withProbes + "script: {commands: [DIR/other/*]}\n"
	w := s.start(allowed)
	refused := func(name, list string) bool {
		_, text := w.get("/cluster")
		return strings.Contains(text, `job \"`+name+`\": `) && strings.Contains(text, "must begin with the absolute path of a program that script.commands of this worker allows: "+s.dir+list)
	}
	s.eventually(func() bool { return s.lines("allowed") > 0 && refused("relative", "/bin/*") }, "one runs, and the other is refused")
	require.False(t, refused("allowed", "/bin/*"))
	_, err := w.Reload(s.parsed(other))
	require.NoError(t, err)
	s.eventually(func() bool { return refused("allowed", "/other/*") }, "it is not allowed any more")
	before := s.lines("allowed")
	_, err = w.Reload(s.parsed(allowed))
	require.NoError(t, err)
	s.eventually(func() bool { return s.lines("allowed") > before && !refused("allowed", "/other/*") }, "it is again")
}

// Failures are told where the worker's file allows it, and a job that would have them told elsewhere pauses.
func TestAlerts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var told, elsewhere atomic.Int32
	hidden := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(hidden.Close)
	open := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") == "swordfish" {
			told.Add(1)
		}
	}))
	t.Cleanup(open.Close)
	require.NoError(t, os.Mkdir(s.dir+"/secrets", 0o700))
	for _, name := range []string{"/secrets/key", "/private"} {
		require.NoError(t, os.WriteFile(s.dir+name, []byte("swordfish"), 0o600))
	}
	path := s.script("fail", "exit 1")
	alerting := func(name, handler string, props map[string]string) {
		cfg := everySecond(name, path)
		cfg.ErrorHandler, cfg.Props = handler, props
		s.store(cfg)
	}
	alerting("good", "WEBHOOK", map[string]string{"webhook.url": open.URL + "/?x=1", "webhook.header.X-Key": "file:" + s.dir + "/secrets/key"})
	refused := map[string]string{
		"away":   "may be called from here",
		"host":   "may be called from here",
		"thief":  "webhook.header.X-Key",
		"wechat": "may be called from here",
		"ding":   "dingtalk.secret",
		"mail":   "needs the section mail of the worker's file",
		"no":     "is not registered, known are DINGTALK, EMAIL, IGNORE, LOG, THROW, WEBHOOK, WECHAT",
	}
	alerting("away", "WEBHOOK", map[string]string{"webhook.url": hidden.URL})
	alerting("host", "WEBHOOK", map[string]string{"webhook.url": open.URL, "webhook.header.Host": "other.internal"})
	alerting("thief", "WEBHOOK", map[string]string{"webhook.url": open.URL, "webhook.header.X-Key": "file:" + s.dir + "/private"})
	alerting("wechat", "WECHAT", map[string]string{"wechat.webhook": hidden.URL})
	alerting("ding", "DINGTALK", map[string]string{"dingtalk.webhook": open.URL, "dingtalk.secret": "file:" + s.dir + "/private"})
	alerting("mail", "EMAIL", map[string]string{"email.host": "127.0.0.1"})
	alerting("no", "PAGE", nil)
	w := s.start(withProbes + "script: {commands: [DIR/bin/*]}\nhttp: {allow: ['" + open.URL + "'], secrets: ['file:DIR/secrets/*']}\n")
	s.eventually(func() bool {
		_, text := w.get("/cluster")
		for name, reason := range refused {
			if !strings.Contains(text, `job \"`+name+`\": `) || !strings.Contains(text, reason) {
				return false
			}
		}
		return true
	}, "why jobs pause is told")
	s.eventually(func() bool { return told.Load() > 0 }, "the failure is told")
	_, err := w.Reload(s.parsed(withProbes + "script: {commands: [DIR/bin/*]}\nhttp: {allow: ['" + open.URL + "', '" + hidden.URL + "'], secrets: ['file:DIR/secrets/*']}\n"))
	require.NoError(t, err)
	require.Zero(t, elsewhere.Load())
	s.eventually(func() bool { return elsewhere.Load() > 0 }, "now it may be called")
}

// What a job refers to may come after it: a link on the way of its script, a secret of its alerts. A file that says the same as
// before has such jobs go on.
func TestAReloadJudgesRefusedJobsAnew(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.script("count", `echo x >> `+s.dir+`/$ELASTICRON_JOB`)
	s.store(everySecond("linked", s.dir+"/current/count"))
	alerting := everySecond("alerting", s.dir+"/bin/count")
	alerting.ErrorHandler, alerting.Props = "WEBHOOK", map[string]string{"webhook.url": "http://127.0.0.1:1", "webhook.header.X-Key": "file:" + s.dir + "/key"}
	s.store(alerting)
	const file = withProbes + "script: {commands: [DIR/bin/*]}\nhttp: {allow: ['http://127.0.0.1:1'], secrets: ['file:DIR/key']}\n"
	w := s.start(file)
	refused := func(name string) bool {
		_, text := w.get("/cluster")
		return strings.Contains(text, `job \"`+name+`\": `)
	}
	s.eventually(func() bool { return refused("linked") && refused("alerting") }, "both are refused")
	require.NoError(t, os.Symlink(s.dir+"/bin", s.dir+"/current"))
	require.NoError(t, os.WriteFile(s.dir+"/key", []byte("swordfish"), 0o600))
	later, err := w.Reload(s.parsed(file))
	require.NoError(t, err)
	require.Empty(t, later)
	s.eventually(func() bool { return s.lines("linked") > 0 && s.lines("alerting") > 0 }, "both run")

	require.NoError(t, os.Remove(s.dir+"/key"))
	_, err = w.Reload(s.parsed(file))
	require.NoError(t, err)
	ran := s.lines("alerting")
	s.eventually(func() bool { return s.lines("alerting") > ran+2 }, "what runs goes on, though a secret of its alerts is away for a moment")
}

// Who is told how far a worker is may stand still, as systemd may, panic, or end its goroutine: the worker reloads and stops
// all the same.
func TestWhoIsToldHoldsNothingUp(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	t.Cleanup(func() { close(released) })
	for name, hear := range map[string]func(){
		"stands still":       func() { <-released },
		"panics":             func() { panic("nobody listens") },
		"ends its goroutine": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.store(everySecond("count", s.script("count", "echo >> "+s.dir+"/runs")))
			file := s.parsed(withProbes + "script: {commands: ['*']}\n")
			told := make(chan string, 100)
			w, err := worker.New(s.open(), file, worker.WithNotify(func(state string) { told <- state; hear() }))
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- w.Run(ctx) }()
			s.eventually(func() bool { return len(told) > 0 && s.lines("runs") > 0 }, "it runs, and somebody is told")
			require.Equal(t, "READY=1", <-told)
			_, err = w.Reload(file)
			require.NoError(t, err)
			require.NotEmpty(t, w.Address())
			stop()
			select {
			case err := <-ended:
				require.NoError(t, err)
			case <-time.After(soon):
				t.Fatal("the worker does not end")
			}
			if name == "stands still" {
				return
			}
			for _, state := range []string{"RELOADING=1", "READY=1", "STOPPING=1"} {
				heard, _, _ := strings.Cut(<-told, "\n")
				require.Equal(t, state, heard)
			}
		})
	}
}

// A worker that is told to stop while it opens things has stopped, as one that runs.
func TestAStopWhileItStarts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, err := worker.New(s.open(), s.parsed(withProbes+"http: {allow: ['*']}\nhistory: {file: DIR/history.db}\n"))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, w.Run(ctx))
	require.ErrorIs(t, w.Run(t.Context()), worker.ErrRan)
}

// Limits count for runs that begin later, which are bounded by them; or the file is refused where they cannot be kept, and
// nothing has changed.
func TestLimitsAreReloaded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.store(everySecond("count", s.script("count", `
group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
echo "$(cat $group/memory.max 2>&1) $(cat $group/pids.max 2>&1)" > `+s.dir+`/limits.new && mv `+s.dir+`/limits.new `+s.dir+`/limits
echo >> `+s.dir+`/runs`)))
	limited := func() bool {
		text, err := os.ReadFile(s.dir + "/limits")
		require.NoError(t, err)
		return string(text) == fmt.Sprintf("%d 32\n", 64<<20)
	}
	const file = "script: {commands: [DIR/bin/*]}\n"
	w := s.start(file)
	s.eventually(func() bool { return s.lines("runs") > 0 && len(w.told.all()) > 0 }, "it runs")
	later, err := w.Reload(s.parsed("script: {commands: [DIR/bin/*], memory: 64M, pids: 32, stop: 2s}\n"))
	require.Empty(t, later, "they need no restart")
	if err != nil {
		require.ErrorContains(t, err, "need a cgroup v2 with their controllers")
	}
	before := s.lines("runs") + 1 // one may have begun before
	s.eventually(func() bool { return s.lines("runs") > before }, "it runs on")
	require.Equal(t, err == nil, limited(), "runs have the limits, or the reload was refused")
	later, err = w.Reload(s.parsed("script: {commands: [DIR/bin/*], cgroup: none}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"script.cgroup"}, later)
}

// A stop takes the grace that was reloaded last.
func TestTheGraceIsReloaded(t *testing.T) {
	t.Parallel()
	for name, reloaded := range map[string]string{
		"all of it":         "grace: 2200ms\nscript: {commands: ['*'], stop: 200ms}\n",
		"without a section": "grace: 2200ms\nhttp: {allow: ['*']}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.store(everySecond("deaf", s.script("deaf", `trap '' TERM; echo $$ > `+s.dir+`/pid; while :; do sleep 600; done`)))
			w := s.start("grace: 10h\nscript: {commands: ['*'], stop: 1h}\n")
			s.eventually(func() bool { return s.lines("pid") > 0 }, "it runs")
			_, err := w.Reload(s.parsed(reloaded))
			require.NoError(t, err)
			w.stop()
			began := time.Now()
			text, err := os.ReadFile(s.dir + "/pid")
			require.NoError(t, err)
			process := "/proc/" + strings.TrimSpace(string(text))
			s.eventually(func() bool { _, err := os.Stat(process); return err != nil }, "its own stop of an hour is cut short")
			require.Less(t, time.Since(began), 2200*time.Millisecond+5*time.Second, "its item is held until then")
			select {
			case err := <-w.ended:
				require.NoError(t, err)
			case <-time.After(soon):
				t.Fatal("the worker does not end")
			}
		})
	}
}

// A call goes where it may, signed; a redirect to another place is not followed.
func TestCalls(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	key := "sixteen bytes or more"
	require.NoError(t, os.WriteFile(s.dir+"/key", []byte(key+"\n"), 0o600))
	verifier, err := callback.NewVerifier([][]byte{[]byte(key)})
	require.NoError(t, err)
	var genuine, secret, redirected atomic.Int32
	var secrets sync.Map
	require.NoError(t, os.Mkdir(s.dir+"/secrets", 0o700))
	require.NoError(t, os.WriteFile(s.dir+"/secrets/token", []byte("token"), 0o600))
	hidden := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { secret.Add(1) }))
	t.Cleanup(hidden.Close)
	open := httptest.NewServer(verifier.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			redirected.Add(1)
			http.Redirect(w, r, hidden.URL, http.StatusFound)
			return
		}
		if sent := r.Header.Get("X-Secret"); sent != "" {
			secrets.Store(r.URL.Path, sent)
		}
		if r.Header.Get(httpjob.JobHeader) == "call" {
			genuine.Add(1)
		}
		_, _ = io.WriteString(w, "done with "+r.Header.Get("X-Secret"))
	})))
	t.Cleanup(open.Close)
	for name, address := range map[string]string{"call": open.URL + "/a.b?c=1", "away": open.URL + "/away", "direct": hidden.URL} {
		s.store(job.Config{
			Name: name, Class: httpjob.Class, Cron: "* * * * * ?", ShardingTotalCount: 1,
			Props: map[string]string{"http.uri": address, "http.method": "POST", "http.data": "body"},
		})
	}
	w := s.start(withProbes + "http: {allow: ['" + open.URL + "'], secrets: ['file:DIR/secrets/*'], sign: {keys: ['file:DIR/key']}}\nhistory: {file: DIR/history.db}\n")
	s.eventually(func() bool { return genuine.Load() > 0 && redirected.Load() > 0 }, "they are made")
	store, err := sqlite.Open(t.Context(), s.dir+"/history.db")
	require.NoError(t, err)
	defer store.Close()
	for _, name := range []string{"away", "direct"} {
		s.eventually(func() bool {
			page, err := store.Executions(t.Context(), history.ExecutionQuery{Job: name})
			require.NoError(t, err)
			return len(page.Rows) > 0 && strings.Contains(page.Rows[0].FailureCause, "may not be called")
		}, name)
	}
	// A job that wants a file of the machine sent pauses, and one that wants what it may have does not.
	for name, reference := range map[string]string{"thief": "file:" + s.dir + "/key", "sneak": "file:" + s.dir + "/secrets/../key", "honest": "file:" + s.dir + "/secrets/token"} {
		s.store(job.Config{
			Name: name, Class: httpjob.Class, Cron: "* * * * * ?", ShardingTotalCount: 1,
			Props: map[string]string{"http.uri": open.URL + "/" + name, "http.method": "GET", "http.header.X-Secret": reference},
		})
	}
	s.eventually(func() bool { _, is := secrets.Load("/honest"); return is }, "it is sent")
	s.eventually(func() bool {
		_, text := w.get("/cluster")
		return strings.Contains(text, "http.secrets of this worker allows")
	}, "why jobs pause is told")
	kept := func(name string) (text string) {
		t.Helper()
		s.eventually(func() bool {
			found, err := store.Outputs(t.Context(), history.OutputQuery{Job: name})
			require.NoError(t, err)
			if len(found) == 0 {
				return false
			}
			output, err := store.Output(t.Context(), name, found[0].ID)
			require.NoError(t, err)
			text = output.Text
			return true
		}, "the answer is kept")
		return text
	}
	require.Equal(t, "HTTP/1.1 200 OK\n\ndone with \n", kept("call"))
	require.Equal(t, "HTTP/1.1 200 OK\n\ndone with file:"+s.dir+"/secrets/token\n", kept("honest"))
	w.stop()
	require.NoError(t, <-w.ended)
	require.Zero(t, secret.Load())
	sent, _ := secrets.Load("/honest")
	require.Equal(t, "token", sent)
	for _, name := range []string{"/thief", "/sneak"} {
		_, is := secrets.Load(name)
		require.False(t, is, name)
	}
}

// What the machine has not is said at once, and nothing stays open.
func TestWhatAMachineHasNot(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for text, want := range map[string]string{
		"script: {commands: ['*'], user: no-such-user}\n":                      `script.user "no-such-user" must be a user`,
		"script: {commands: ['*'], cgroup: DIR, pids: 9}\n":                    `need a cgroup v2 with their controllers: delegate one to the worker, or set no limits`,
		"script: {commands: ['*'], directory: 'DIR/none/{job}'}\n":             `/none/" must be a folder that is there: stat `,
		"script: {commands: ['*'], directory: DIR/none}\n":                     `/none" must be a folder that is there: stat `,
		"script: {commands: ['*'], log: {directory: DIR/short}}\n":             `/short" must be a folder that is there`,
		"script: {commands: ['*'], cgroup: DIR}\n":                             `must be a cgroup v2 that the worker may write to, or none`,
		"http: {allow: ['*'], sign: {keys: ['env:NO_SUCH_KEY_IN_TESTS']}}\n":   `http.sign.keys "env:NO_SUCH_KEY_IN_TESTS" must name a variable or a file`,
		"http: {allow: ['*'], sign: {keys: ['file:DIR/short']}}\n":             `want at least 16`,
		"http: {allow: ['*']}\nlisten: " + taken.Addr().String() + "\n":        `address already in use`,
		"http: {allow: ['*']}\nhistory: {file: /dev/null/history.db}\n":        `history.file "/dev/null/history.db" must be in a folder that is there or can be made`,
		"script: {commands: ['*']}\nlisten: " + taken.Addr().String() + "\n":   `address already in use`,
		"script: {commands: ['*']}\nhistory: {file: DIR/h.db}\nlisten: x:99\n": `listen`,
	} {
		s := newStage(t)
		require.NoError(t, os.WriteFile(s.dir+"/short", []byte("short"), 0o600))
		w, err := worker.New(s.open(), s.parsed(text), worker.WithLogger(slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		require.ErrorContains(t, w.Run(t.Context()), want, text)
		require.Empty(t, w.Address())
		w.StopNow()
	}
	_, err = worker.New(nil, worker.File{}, worker.WithLogger(nil), worker.WithNotify(nil))
	require.ErrorIs(t, err, worker.ErrInvalidOption)
	require.ErrorIs(t, err, worker.ErrInvalidFile)
}
