//go:build linux

package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// readOnce starts a process whose standard output and error have a reader that goes away after a line with a text in it,
// which is returned.
func (w *workerProcess) readOnce(text string) string {
	w.Helper()
	read, write, err := os.Pipe()
	require.NoError(w, err)
	defer read.Close()
	w.cmd.Stdout, w.cmd.Stderr = write, write
	require.NoError(w, w.cmd.Start())
	require.NoError(w, write.Close())
	var said strings.Builder
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), text) {
			return lines.Text()
		}
	}
	require.Fail(w, "it did not say "+text, said.String())
	return ""
}

// A worker whose log's reader has ended runs what it runs, and stops as any other one. Its scripts know nothing of that: a
// pipe of theirs whose reader ends does end the writer.
func TestAWorkerOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/jobs", 0o700))
	require.NoError(t, os.WriteFile(dir+"/jobs/count.yaml", []byte(
		"count: {config: {jobType: SCRIPT, scriptCommandLine: '/bin/sh -c \"grep SigIgn /proc/self/status >> ignored; echo >> runs\"', cron: '* * * * * ?', shardingTotalCount: 1}}\n"), 0o600))
	w := newWorkerProcess(t, dir, nil, "worker", "--embedded", "data", "--jobs", "jobs", "--commands", "/bin/sh", "-n", "shop", "--address", "127.0.0.1:"+freePort(t))
	w.readOnce("etcd runs inside this worker")
	w.eventually(func() bool { return w.lines("runs") > 0 }, "the job runs")
	w.signal(syscall.SIGHUP) // which logs a line
	begun := w.lines("runs")
	w.eventually(func() bool { return w.lines("runs") > begun+1 }, "the job runs on")
	ignored, err := os.ReadFile(dir + "/ignored")
	require.NoError(t, err)
	require.Regexp(t, `^SigIgn:\s+[0-9a-f]*[02468ace][0-9a-f]{3}\n`, string(ignored), "scripts have SIGPIPE as everybody else")
	w.signal(syscall.SIGTERM)
	require.NoError(t, w.cmd.Wait())
}

// A server whose reader has ended answers, also what it writes a line about.
func TestAServerOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	w := newWorkerProcess(t, t.TempDir(), nil, "server", "--embedded", "--embedded-listen", "", "-n", "shop", "--listen", "127.0.0.1:0", "--verbose")
	line := w.readOnce("The console is at ")
	url := regexp.MustCompile(`http://\S+/`).FindString(line)
	for range 2 {
		response, err := http.Post(url+"api/v1/namespaces/shop/jobs/none/trigger", "application/json", nil) //nolint:noctx,gosec // it is the test's own
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	w.signal(syscall.SIGTERM)
	require.NoError(t, w.cmd.Wait())
}

// A server whose standard output was closed before it has said where it is serves all the same.
func TestAServerWhoseReaderIsGoneAtTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told := listenAsSystemd(t, dir+"/n")
	w := newWorkerProcess(t, dir, []string{"NOTIFY_SOCKET=" + dir + "/n"}, "server", "--embedded", "--embedded-listen", "", "-n", "shop", "--listen", "127.0.0.1:0")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	w.cmd.Stdout = write
	require.NoError(t, w.cmd.Start())
	require.NoError(t, write.Close())
	w.eventually(func() bool { return told.has("READY=1") || told.has("STOPPING=1") }, "it is ready")
	w.signal(syscall.SIGTERM)
	require.NoError(t, w.cmd.Wait(), w.log.String())
}

// The demo is shown to nobody any more, and comes to its end all the same, with no process and no folder left.
func TestTheDemoOutlivesItsReader(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	w := newWorkerProcess(t, t.TempDir(), []string{"TMPDIR=" + temp}, "demo", "--dir", smallTree(t), "--every", "1s", "--rounds", "6", "--verbose")
	w.readOnce("is process")
	require.NoError(t, w.cmd.Wait())
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

// What ends by itself is ended by a reader who has seen enough, as everywhere.
func TestAReaderWhoHasSeenEnoughEndsACommand(t *testing.T) {
	t.Parallel()
	w := newWorkerProcess(t, t.TempDir(), nil, "help", "reference")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	w.cmd.Stdout = write
	require.NoError(t, w.cmd.Start())
	require.NoError(t, write.Close())
	var exit *exec.ExitError
	require.ErrorAs(t, w.cmd.Wait(), &exit)
	status := exit.Sys().(syscall.WaitStatus) //nolint:forcetypeassert // as it is on Linux
	require.True(t, status.Signaled(), "exit status %d", status.ExitStatus())
	require.Equal(t, syscall.SIGPIPE, status.Signal())
}
