//go:build linux

package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
)

// starting are processes that need an etcd, and what they write when they have it.
func starting(endpoint string) map[string][]string {
	return map[string][]string{
		"server": {"server", "--etcd", endpoint, "-n", "shop", "--listen", "127.0.0.1:0"},
		"worker": {"worker", "--etcd", endpoint, "-n", "shop", "--jobs", "jobs", "--commands", "/bin/sh"},
	}
}

// startedFirst starts a process whose etcd is away, and waits until it says so.
func startedFirst(t *testing.T, args []string) *workerProcess {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/jobs", 0o700))
	require.NoError(t, os.WriteFile(dir+"/jobs/count.yaml", []byte(
		"count: {config: {jobType: SCRIPT, scriptCommandLine: '/bin/sh -c \"echo >> runs\"', cron: '* * * * * ?', shardingTotalCount: 1}}\n"), 0o600))
	w := newWorkerProcess(t, dir, []string{"NOTIFY_SOCKET="}, args...)
	w.cmd.Stdout = &w.log
	require.NoError(t, w.cmd.Start())
	w.eventually(func() bool { return w.log.has(logNotYet) }, "it says that its registry is away")
	return w
}

// A pod that starts while etcd is away does not end, to be started again ever later: it begins when etcd is there.
func TestAProcessThatStartsBeforeItsEtcd(t *testing.T) {
	t.Parallel()
	etcd, err := etcdserver.Start(t.Context(), etcdserver.WithFastTest())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, etcd.Close()) })
	etcd.Stop()
	var all []*workerProcess
	for _, args := range starting(etcd.Endpoints()[0]) {
		all = append(all, startedFirst(t, args))
	}
	require.NoError(t, etcd.Restart(t.Context()))
	for _, w := range all {
		w.eventually(func() bool { return w.log.has("The console is at ") || w.lines("runs") > 0 }, "it works")
		require.True(t, w.log.has(logAnswers), w.log.String())
		w.signal(syscall.SIGTERM)
		require.NoError(t, w.cmd.Wait(), w.log.String())
	}
}

// A process that waits for its etcd can be told to stop, which is no failure.
func TestAStopWhileTheEtcdIsAway(t *testing.T) {
	t.Parallel()
	for name, args := range starting("http://127.0.0.1:" + freePort(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startedFirst(t, args)
			w.signal(syscall.SIGTERM)
			require.NoError(t, w.cmd.Wait(), w.log.String())
		})
	}
}

// systemd starts a process anew that does not find its etcd, after the same few seconds each time.
func TestAStartUnderSystemdDoesNotWait(t *testing.T) {
	t.Parallel()
	for name, args := range starting("http://127.0.0.1:" + freePort(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(dir+"/jobs", 0o700))
			listenAsSystemd(t, dir+"/n")
			w := startWorker(t, dir, []string{"NOTIFY_SOCKET=" + dir + "/n", asProgram + "=" + unchanged}, args...)
			var exit *exec.ExitError
			require.ErrorAs(t, w.cmd.Wait(), &exit)
			require.Equal(t, exitFailed, exit.ExitCode(), w.log.String())
			require.False(t, w.log.has(logNotYet))
		})
	}
}

// SIGHUP ends neither a process that has no terminal nor one that still waits for its etcd, after which systemd would not start
// it again: it counts as asked for. What the worker has missed it reads when it works.
func TestAHangupEndsNoProcess(t *testing.T) {
	t.Parallel()
	etcd, err := etcdserver.Start(t.Context(), etcdserver.WithFastTest())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, etcd.Close()) })
	etcd.Stop()
	all := make(map[string]*workerProcess)
	for name, args := range starting(etcd.Endpoints()[0]) {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(dir+"/jobs", 0o700))
		w := newWorkerProcess(t, dir, []string{"NOTIFY_SOCKET=", asProgram + "=" + unchanged}, args...)
		w.cmd.Stdout, w.cmd.SysProcAttr = &w.log, &syscall.SysProcAttr{Setsid: true} // without a terminal
		require.NoError(t, w.cmd.Start())
		all[name] = w
	}
	for _, w := range all {
		w.eventually(func() bool { return w.log.has(logNotYet) }, "it says that its registry is away")
		w.signal(syscall.SIGHUP)
	}
	require.NoError(t, etcd.Restart(t.Context()))
	all["worker"].eventually(func() bool { return all["worker"].log.has("the file of the worker is reloaded") }, "it reads its file again")
	all["server"].eventually(func() bool { return all["server"].log.has("The console is at ") }, "it works")
	for _, w := range all {
		w.signal(syscall.SIGHUP)
		w.signal(syscall.SIGTERM)
		require.NoError(t, w.cmd.Wait(), w.log.String())
	}
}
