//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mattn/go-shellwords"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/ports"
	"github.com/elasticron/elasticron/integration/serverprocess"
)

// log is what a process writes.
type log struct{ serverprocess.Output }

func (l *log) has(text string) bool { return strings.Contains(l.String(), text) }

// workerProcess is the command in a process of its own.
type workerProcess struct {
	*testing.T
	dir string
	cmd *exec.Cmd
	log log
}

func startWorker(t *testing.T, dir string, env []string, args ...string) *workerProcess {
	t.Helper()
	w := newWorkerProcess(t, dir, env, args...)
	require.NoError(t, w.cmd.Start())
	return w
}

// newWorkerProcess is the command before it is started.
func newWorkerProcess(t *testing.T, dir string, env []string, args ...string) *workerProcess {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // one that hangs is killed
	t.Cleanup(cancel)
	w := &workerProcess{T: t, dir: dir, cmd: exec.CommandContext(ctx, os.Args[0], args...)}
	w.cmd.Dir, w.cmd.Env, w.cmd.Stderr = dir, append(append(os.Environ(), asProgram+"="+sound), env...), &w.log
	t.Cleanup(func() {
		if w.cmd.Process != nil && w.cmd.ProcessState == nil {
			_ = w.cmd.Process.Kill()
			_ = w.cmd.Wait()
		}
	})
	return w
}

func (w *workerProcess) eventually(holds func() bool, what string) {
	w.Helper()
	for deadline := time.Now().Add(90 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatalf("not seen: %s\n%s", what, w.log.String())
		}
	}
}

func (w *workerProcess) signal(s syscall.Signal) { require.NoError(w, w.cmd.Process.Signal(s)) }

func (w *workerProcess) lines(name string) int {
	text, _ := os.ReadFile(filepath.Join(w.dir, name))
	return bytes.Count(text, []byte("\n"))
}

func freePort(t *testing.T) string {
	t.Helper()
	claimed, err := ports.Claim(1)
	require.NoError(t, err)
	return claimed[0]
}

// The README's way without Go: its file, its command, and the job runs. What it stored is there at the next start.
func TestTheReadmeWithoutGo(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(readme), "## Without Go\n")
	require.True(t, found)
	block := func(kind string) string {
		_, after, found := strings.Cut(section, "```"+kind+"\n")
		require.True(t, found, kind)
		text, _, _ := strings.Cut(after, "```")
		return text
	}
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/jobs", 0o700))
	job := strings.ReplaceAll(block("yaml"), "0/5 *", "0/1 *") // nobody waits that long here
	require.NoError(t, os.WriteFile(dir+"/jobs/hello.yaml", []byte(job), 0o600))
	words, err := shellwords.Parse(block("sh"))
	require.NoError(t, err)
	require.Equal(t, []string{"elasticron", "worker"}, words[:2])
	address := "127.0.0.1:" + freePort(t)
	for range 2 {
		require.NoError(t, os.RemoveAll(dir+"/hello.txt"))
		w := startWorker(t, dir, nil, append(slices.Clone(words[1:]), "--address", address)...)
		w.eventually(func() bool { return w.lines("hello.txt") >= 2 }, "lines of the job")
		text, err := os.ReadFile(dir + "/hello.txt")
		require.NoError(t, err)
		require.Regexp(t, `item [01] at 20\d\d-`, string(text))

		hello := regexp.MustCompile(`(?m)^hello +OK +2 `)
		w.eventually(func() bool {
			var out, errOut bytes.Buffer
			status := newProgram().run(t.Context(), []string{"get", "jobs", "--etcd", "http://" + address, "-n", "shop"}, &out, &errOut)
			return status == 0 && hello.MatchString(out.String())
		}, "the job is OK")
		w.signal(syscall.SIGTERM)
		require.NoError(t, w.cmd.Wait(), w.log.String())
	}
}

// listenAsSystemd hears what a process tells systemd, on a socket.
func listenAsSystemd(t *testing.T, name string) *log {
	t.Helper()
	socket, err := new(net.ListenConfig).ListenPacket(t.Context(), "unixgram", name)
	require.NoError(t, err)
	told := new(log)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for message := make([]byte, 4096); ; {
			n, _, err := socket.ReadFrom(message)
			if err != nil {
				return
			}
			_, _ = told.Write(append(message[:n:n], '\n'))
		}
	}()
	t.Cleanup(func() { require.NoError(t, socket.Close()); <-done })
	return told
}

// The daemon as systemd knows it: it says when it is ready, reloads, and stops; a bad file is not taken.
func TestTheWorkerUnderSystemd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told := listenAsSystemd(t, dir+"/n")
	for _, name := range []string{"jobs", "bin"} {
		require.NoError(t, os.Mkdir(dir+"/"+name, 0o755)) //nolint:gosec // as such folders are
	}
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(dir+"/"+name, []byte(strings.ReplaceAll(text, "DIR", dir)), 0o755)) //nolint:gosec // some are programs
	}
	write("bin/slow", "#!/bin/sh\necho >> DIR/began\nwhile [ ! -e DIR/go ]; do sleep 0.01; done\necho >> DIR/ended\n")
	write("jobs/slow.yaml", "slow: {config: {jobType: SCRIPT, scriptCommandLine: DIR/bin/slow, cron: '* * * * * ?', shardingTotalCount: 1}}\n")
	file := "registry: {embedded: DIR/etcd, address: '127.0.0.1:" + freePort(t) + "', namespace: shop}\n" +
		"jobs: {directory: DIR/jobs}\nscript: {commands: [DIR/bin/*]}\n"
	write("worker.yaml", file)
	w := startWorker(t, dir, []string{"NOTIFY_SOCKET=" + dir + "/n", "WATCHDOG_USEC=300000"}, "worker", "--config", dir+"/worker.yaml")
	w.eventually(func() bool { return told.has("READY=1") && told.has("WATCHDOG=1") && w.lines("began") > 0 }, "it is ready, and the job runs")

	write("worker.yaml", "grcae: 1s\n")
	w.signal(syscall.SIGHUP)
	w.eventually(func() bool {
		return w.log.has("the old one counts on") && w.log.has(`grcae \"1s\" is no member`)
	}, "the bad file is told")
	write("worker.yaml", file+"grace: 50s\nlisten: 127.0.0.1:0\n")
	w.signal(syscall.SIGHUP)
	w.eventually(func() bool { return w.log.has("after_a_restart=listen") && told.has("RELOADING=1\nMONOTONIC_USEC=") }, "the good one counts")

	w.signal(syscall.SIGTERM)
	w.eventually(func() bool { return told.has("STOPPING=1") }, "it stops")
	require.Zero(t, w.lines("ended"))
	write("go", "")
	require.NoError(t, w.cmd.Wait(), w.log.String())
	require.Equal(t, w.lines("began"), w.lines("ended"), "what ran came to its end")
}

// A worker that reads its file from where nobody answers can be told to stop.
func TestAStopDuringAReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := dir + "/worker.yaml"
	require.NoError(t, os.WriteFile(file, []byte("registry: {embedded: "+dir+"/etcd, address: '127.0.0.1:"+freePort(t)+"', namespace: shop}\nhttp: {allow: ['*']}\n"), 0o600))
	told := listenAsSystemd(t, dir+"/n")
	w := startWorker(t, dir, []string{"NOTIFY_SOCKET=" + dir + "/n"}, "worker", "--config", file)
	w.eventually(func() bool { return told.has("READY=1") }, "it is ready")
	require.NoError(t, os.Remove(file))
	require.NoError(t, syscall.Mkfifo(file, 0o600))
	w.signal(syscall.SIGHUP)
	var pipe *os.File
	w.eventually(func() bool {
		var err error
		pipe, err = os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err == nil
	}, "it reads the file")
	defer pipe.Close()
	w.signal(syscall.SIGHUP)
	w.signal(syscall.SIGTERM)
	w.eventually(func() bool { return told.has("STOPPING=1") }, "it stops")
	require.NoError(t, w.cmd.Wait(), w.log.String())
}

// The server as systemd knows it: it says when it answers, that it goes on, and when it stops.
func TestTheServerUnderSystemd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told := listenAsSystemd(t, dir+"/n")
	s := startWorker(t, dir, []string{"NOTIFY_SOCKET=" + dir + "/n", "WATCHDOG_USEC=300000"},
		"server", "--embedded", "--embedded-listen", "", "-n", "shop", "--listen", "127.0.0.1:0")
	s.eventually(func() bool { return told.has("READY=1") && told.has("WATCHDOG=1") }, "it is ready, and goes on")
	require.False(t, told.has("STOPPING=1"))
	s.signal(syscall.SIGTERM)
	require.NoError(t, s.cmd.Wait(), s.log.String())
	s.eventually(func() bool { return told.has("STOPPING=1") }, "it stops")
}

// A second signal does not wait for what runs. What that has written is kept.
func TestASecondSignalEndsTheWorker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/jobs", 0o700))
	require.NoError(t, os.WriteFile(dir+"/jobs/deaf.yaml", []byte(
		"deaf: {config: {jobType: SCRIPT, scriptCommandLine: '/bin/sh -c \"trap : TERM; echo begun; echo $$ >> pid; while :; do sleep 600; done\"', cron: '* * * * * ?', shardingTotalCount: 1}}\n"), 0o600))
	w := startWorker(t, dir, nil, "worker", "--embedded", "data", "--jobs", "jobs", "--commands", "/bin/sh", "-n", "shop", "--address", "127.0.0.1:"+freePort(t), "--history", "history.db")
	w.eventually(func() bool { return w.lines("pid") > 0 }, "it runs")
	w.signal(syscall.SIGTERM)
	w.eventually(func() bool { return w.log.has("worker stops") }, "the first one is heard")
	w.signal(syscall.SIGTERM)
	require.NoError(t, w.cmd.Wait(), w.log.String())
	text, err := os.ReadFile(dir + "/pid")
	require.NoError(t, err)
	require.NoDirExists(t, "/proc/"+strings.TrimSpace(string(text)))
	var out, errOut bytes.Buffer
	require.Zero(t, newProgram().run(t.Context(), []string{"logs", "item/deaf/0", "--history", dir + "/history.db"}, &out, &errOut), errOut.String())
	require.Equal(t, "begun\n", out.String())
}

// A worker whose log nobody reads any more stops as any other one, also if it is about to log that it has reloaded its file.
func TestALogThatNobodyReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/jobs", 0o700))
	require.NoError(t, os.WriteFile(dir+"/jobs/count.yaml", []byte(
		"count: {config: {jobType: SCRIPT, scriptCommandLine: '/bin/sh -c \"echo >> runs\"', cron: '* * * * * ?', shardingTotalCount: 1}}\n"), 0o600))
	read, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = read.Close(); _ = write.Close() })
	w := newWorkerProcess(t, dir, nil, "worker", "--embedded", "data", "--jobs", "jobs", "--commands", "/bin/sh", "-n", "shop", "--address", "127.0.0.1:"+freePort(t))
	w.cmd.Stderr = write
	require.NoError(t, w.cmd.Start())
	w.eventually(func() bool { return w.lines("runs") > 0 }, "the job runs")
	again, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", write.Fd()), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer again.Close()
	for _, size := range []int{4096, 1} { // until not even a byte has room
		for err = nil; err == nil; _, err = again.Write(make([]byte, size)) {
			require.NoError(t, again.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
		}
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	w.signal(syscall.SIGHUP)
	w.signal(syscall.SIGTERM)
	hangs := time.AfterFunc(time.Minute, func() { _ = w.cmd.Process.Kill() })
	defer hangs.Stop()
	require.NoError(t, w.cmd.Wait(), "it ends by itself")
}

func TestWrongUsesOfTheWorker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/good.yaml", []byte("script: {commands: ['*']}\n"), 0o600))
	require.NoError(t, os.WriteFile(dir+"/bad.yaml", []byte("grace: x\n"), 0o600))
	require.NoError(t, os.MkdirAll(dir+"/restored/member", 0o700))
	for want, args := range map[string][]string{
		"--config is missing: want the file of the worker": {},
		dir + "/restored/member is there, and no":          {"--embedded", dir + "/restored", "--commands", "*", "-n", "shop", "--address", "127.0.0.1:1"},
		"--commands and --allow are missing: want one of":  {"--jobs", dir, "-n", "shop"},
		"--config is given besides --jobs":                 {"--config", dir + "/good.yaml", "--jobs", "jobs"},
		"the namespace is missing":                         {"--config", dir + "/good.yaml"},
		`the namespace is "a//b"`:                          {"--config", dir + "/good.yaml", "-n", "a//b"},
		"want registry.namespace in the file":              {"--config", dir + "/good.yaml", "--check"},
		"--embedded is given besides --etcd":               {"--config", dir + "/good.yaml", "-n", "shop", "--embedded", dir, "--etcd", "http://x"},
		`grace "x" must be a duration`:                     {"--config", dir + "/bad.yaml"},
		"no such file":                                     {"--config", dir + "/none.yaml"},
		`script.commands "bin" is not allowed`:             {"--commands", "bin", "-n", "shop"},
		"there is no context":                              {"--commands", "*", "-n", "shop"},
		"there is no context \"":                           {"--config", dir + "/good.yaml", "--check"},
		"there is no folder " + dir + "/none: make it":     {"--jobs", dir + "/none", "--commands", "*", "-n", "shop"},
		dir + "/bad.yaml is no folder: want the one":       {"--jobs", dir + "/bad.yaml", "--commands", "*", "-n", "shop"},
	} {
		program := newProgram()
		program.env = func(name string) string {
			if name == contextVariable && !strings.Contains(want, "no context") {
				return ""
			}
			return dir + "/none"
		}
		var out, errOut bytes.Buffer
		require.NotZero(t, program.run(t.Context(), append([]string{"worker"}, args...), &out, &errOut), want)
		require.Contains(t, errOut.String(), want)
	}
	var out, errOut bytes.Buffer
	require.Zero(t, newProgram().run(t.Context(), []string{"worker", "--config", dir + "/good.yaml", "-n", "shop", "--check"}, &out, &errOut))
	require.Equal(t, "The file is in order.\n", out.String())
}

// A worker whose etcd goes away says which endpoint does not answer, and why.
func TestAWorkerNamesTheRegistryThatIsAway(t *testing.T) {
	t.Parallel()
	server, err := etcdserver.Start(t.Context(), etcdserver.WithFastTest())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	endpoint := server.Endpoints()[0]
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/worker.yaml", []byte("http: {allow: ['*']}\nlog: {level: warn}\n"), 0o600))
	told := listenAsSystemd(t, dir+"/n")
	w := startWorker(t, dir, []string{"NOTIFY_SOCKET=" + dir + "/n"}, "worker", "--config", "worker.yaml", "--etcd", endpoint, "-n", "shop")
	w.eventually(func() bool { return told.has("READY=1") }, "it is ready")
	server.Stop()
	said := regexp.MustCompile(`level=WARN msg="the registry does not answer" .*endpoints=` + regexp.QuoteMeta(endpoint) + ` error=".*connection refused`)
	w.eventually(func() bool { return said.MatchString(w.log.String()) }, "the endpoint and the cause")
}
