//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// wantsCores has a process begin with the highest limit of core dumps that it may have.
func (w *workerProcess) wantsCores() {
	sh, err := exec.LookPath("sh")
	require.NoError(w, err)
	w.cmd.Args = append([]string{"sh", "-c", `ulimit -S -c "$(ulimit -H -c)" && exec "$@"`, "sh", w.cmd.Path}, w.cmd.Args[1:]...)
	w.cmd.Path = sh
}

// aborted waits until a process has ended by SIGABRT, without a core.
func (w *workerProcess) aborted() {
	w.Helper()
	var exit *exec.ExitError
	require.ErrorAs(w, w.cmd.Wait(), &exit, w.log.String())
	status := exit.Sys().(syscall.WaitStatus) //nolint:forcetypeassert // as it is on Linux
	require.True(w, status.Signaled(), "exit status %d\n%s", status.ExitStatus(), w.log.String())
	require.Equal(w, syscall.SIGABRT, status.Signal())
	require.False(w, status.CoreDump(), "it would hold secrets")
	entries, err := os.ReadDir(w.dir)
	require.NoError(w, err)
	for _, e := range entries {
		require.False(w, strings.HasPrefix(e.Name(), "core"), e.Name())
	}
}

// What ends by a panic does not say that the command line is wrong: systemd would not start it anew. A panic that is recovered
// ends nothing.
func TestAPanicEndsTheProgramBySignal(t *testing.T) {
	t.Parallel()
	w := newWorkerProcess(t, t.TempDir(), []string{asProgram + "=" + crashing})
	w.wantsCores()
	require.NoError(t, w.cmd.Start())
	w.aborted()
	require.True(t, w.log.has("recovered: by a job\n"), w.log.String())
	require.True(t, w.log.has("panic: by the program"), w.log.String())
}

// systemd's watchdog sends SIGABRT to what stands still, and is to start it anew.
func TestTheWatchdogEndsTheProgramBySignal(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"server": {"server", "--embedded", "--embedded-listen", "", "-n", "shop", "--listen", "127.0.0.1:0"},
		"worker": {"worker", "--embedded", "data", "--address", "127.0.0.1:" + freePort(t), "--commands", "/bin/sh", "-n", "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			told := listenAsSystemd(t, dir+"/n")
			w := newWorkerProcess(t, dir, []string{"NOTIFY_SOCKET=" + dir + "/n"}, args...)
			w.wantsCores()
			require.NoError(t, w.cmd.Start())
			w.eventually(func() bool { return told.has("READY=1") }, "it is ready")
			w.signal(syscall.SIGABRT)
			w.aborted()
		})
	}
}
