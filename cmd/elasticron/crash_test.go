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
func (w *workerProcess) wantsCores() { w.limited(`ulimit -S -c "$(ulimit -H -c)"`) }

// limited has a process begin with limits.
func (w *workerProcess) limited(limits string) {
	sh, err := exec.LookPath("sh")
	require.NoError(w, err)
	w.cmd.Args = append([]string{"sh", "-c", limits + ` && exec "$@"`, "sh", w.cmd.Path}, w.cmd.Args[1:]...)
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
	for limits, want := range map[string]string{
		`ulimit -S -c "$(ulimit -H -c)"`: "core limit 1\n", // no kernel writes such a core, nor hands it to a program
		"ulimit -S -c 0":                 "core limit 1\n",
		"ulimit -H -c 0":                 "core limit 0\n",
	} {
		t.Run(limits, func(t *testing.T) {
			t.Parallel()
			w := newWorkerProcess(t, t.TempDir(), []string{asProgram + "=" + crashing})
			w.limited(limits)
			require.NoError(t, w.cmd.Start())
			if want == "core limit 0\n" && coresArePiped() {
				require.Equal(t, 2, w.endedWith())
			} else {
				w.aborted()
			}
			require.True(t, w.log.has(want), w.log.String())
			require.True(t, w.log.has("recovered: by a job\n"), w.log.String())
			require.True(t, w.log.has("panic: by the program"), w.log.String())
		})
	}
}

// endedWith waits until a process has ended, and returns its status.
func (w *workerProcess) endedWith() int {
	var exit *exec.ExitError
	require.ErrorAs(w, w.cmd.Wait(), &exit, w.log.String())
	return exit.ExitCode()
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
