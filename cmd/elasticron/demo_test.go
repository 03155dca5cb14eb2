//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// smallTree is a tree of 200 files.
func smallTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for n := range 200 {
		path := filepath.Join(dir, fmt.Sprintf("dir%d", n%7), fmt.Sprintf("file%d.txt", n))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("line\n", n)), 0o600))
	}
	return dir
}

// show is a demo that runs as a process of its own.
type show struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	text  []string // read so far
	errs  bytes.Buffer
}

func startShow(t *testing.T, mode string, args ...string) *show {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // one that hangs is killed
	t.Cleanup(cancel)
	args = append([]string{"demo", "--dir", smallTree(t), "--every", "1s"}, args...)
	s := &show{cmd: exec.CommandContext(ctx, os.Args[0], args...)}
	s.cmd.Env = append(os.Environ(), asProgram+"="+mode, "TMPDIR="+t.TempDir())
	s.cmd.Stderr = &s.errs
	out, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	s.lines = bufio.NewScanner(out)
	return s
}

// until reads what is shown until there was a line with each of the parts, in whatever order.
func (s *show) until(t *testing.T, parts ...string) {
	t.Helper()
	for s.lines.Scan() {
		s.text = append(s.text, s.lines.Text())
		parts = slices.DeleteFunc(parts, func(part string) bool { return strings.Contains(s.lines.Text(), part) })
		if len(parts) == 0 {
			return
		}
	}
	_ = s.cmd.Wait() // which is still writing errs until then
	require.Fail(t, "the demo ended too early", "before it said %q; it said:\n%s\n%s", parts, strings.Join(s.text, "\n"), s.errs.String())
}

// end reads the rest and returns everything that was shown, and the exit status.
func (s *show) end(t *testing.T) (string, int) {
	t.Helper()
	for s.lines.Scan() {
		s.text = append(s.text, s.lines.Text())
	}
	err := s.cmd.Wait()
	text := strings.Join(s.text, "\n") + "\n" + s.errs.String()
	if err != nil {
		require.IsType(t, &exec.ExitError{}, err, text)
	}
	return text, s.cmd.ProcessState.ExitCode()
}

// requireNoProcess fails if a process that the demo told of still lives.
func requireNoProcess(t *testing.T, text string) {
	t.Helper()
	told := regexp.MustCompile(`is process (\d+),`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, told, text)
	for _, match := range told {
		pid, err := strconv.Atoi(match[1])
		require.NoError(t, err)
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "process %d lives", pid)
	}
}

func TestDemoShowsAKillAndAJoinAndEndsByItself(t *testing.T) {
	t.Parallel()
	text, status := startShow(t, sound, "--rounds", "6").end(t)
	require.Zero(t, status, text)
	for _, part := range []string{
		"200 files, 19,900 lines", "kill -9 ", "which leads and holds items", "is gone from the registry",
		"moved: item", "w4 joined", "that is all",
		"exact     in every round every file was counted exactly once",
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "FAULT")
	require.NotContains(t, text, "\x1b[", "no colours where there is no terminal")
	exact := strings.Count(text, "8/8 items  200 files  19,900 lines  exact")
	require.GreaterOrEqual(t, exact, 6, text)
	require.Contains(t, text, fmt.Sprintf("%d rounds settled", exact))
	requireNoProcess(t, text)
}

func TestDemoOnAGivenClusterEndsOnInterrupt(t *testing.T) {
	t.Parallel()
	endpoint := startEtcd(t)
	s := startShow(t, sound, "--etcd", endpoint, "--items", "4", "--workers", "2")
	s.until(t, "round  1")
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	text, status := s.end(t)
	require.Equal(t, exitInterrupted, status, text)
	require.Contains(t, text, "interrupted: the processes hand over and end")
	require.Contains(t, text, "every file was counted exactly once")
	requireNoProcess(t, text)

	namespace := regexp.MustCompile(`all keys are below /(\S+)/ `).FindStringSubmatch(text)
	require.NotNil(t, namespace, text)
	reg, err := etcd.Open(t.Context(), etcd.Config{Endpoints: []string{endpoint}, Namespace: namespace[1]})
	require.NoError(t, err)
	defer func() { require.NoError(t, reg.Close(t.Context())) }()
	left, _, err := reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestDemoThatKeepsReplacesWhatOthersKill(t *testing.T) {
	t.Parallel()
	s := startShow(t, sound, "--keep", "--items", "4", "--workers", "2")
	s.until(t, "round  1")
	pid, err := strconv.Atoi(regexp.MustCompile(`w2 is process (\d+),`).FindStringSubmatch(strings.Join(s.text, "\n"))[1])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	s.until(t, "somebody ended w2 (signal: killed)", "w3 joined", "w2 is gone from the registry")
	s.until(t, "4/4 items")
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	text, status := s.end(t)
	require.Equal(t, exitOK, status, text)
	require.Contains(t, text, "every file was counted exactly once")
	requireNoProcess(t, text)
}

// A demo that waits for a process that hangs is ended by a second Ctrl-C.
func TestASecondInterruptEndsTheDemoAtOnce(t *testing.T) {
	t.Parallel()
	s := startShow(t, sound, "--keep", "--items", "4", "--workers", "2")
	s.until(t, "round  1")
	pid, err := strconv.Atoi(regexp.MustCompile(`w2 is process (\d+),`).FindStringSubmatch(strings.Join(s.text, "\n"))[1])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }() // it ends by itself then
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	s.until(t, "interrupted: the processes hand over and end")
	over := make(chan struct{})
	go func() { // the demo lets go of the signal when it was interrupted, not before: the next one may come too early
		defer close(over)
		for s.cmd.Process.Signal(os.Interrupt) == nil {
			time.Sleep(50 * time.Millisecond)
		}
	}()
	text, _ := s.end(t)
	<-over
	require.Equal(t, os.Interrupt, s.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(), text)
}

func startEtcd(t *testing.T) (endpoint string) {
	t.Helper()
	server, err := etcdserver.Start(t.Context(), etcdserver.WithHeartbeat(50*time.Millisecond, 500*time.Millisecond))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server.Endpoints()[0]
}

func TestDemoFailsIfAFileIsCountedTwiceOrNot(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		doubling: "item 1: counted twice: ",
		skewing:  "item 1: wrong: ",
	} {
		s := startShow(t, mode, "--keep")
		s.until(t, "FAULT: round 1, "+want)
		require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
		text, status := s.end(t)
		require.Equal(t, 1, status, text)
		require.Contains(t, text, "FAILED")
		require.NotContains(t, text, "every file was counted exactly once")
		require.Contains(t, text, "the processes logged to ")
	}
}

func TestNoProcessOutlivesADemoThatWasKilled(t *testing.T) {
	t.Parallel()
	s := startShow(t, sound, "--verbose")
	s.until(t, "round  1")
	require.NoError(t, s.cmd.Process.Kill())
	// Its processes log to the same standard error. They hold it open until they are gone, and end
	// waits for that.
	text, status := s.end(t)
	require.Equal(t, -1, status, text)
	require.Contains(t, text, "process=w3")
}

// The console shows the demo's cluster while it lasts.
func TestDemoWithAConsole(t *testing.T) {
	t.Parallel()
	s := startShow(t, sound, "--console=127.0.0.1:0", "--keep")
	s.until(t, "the console is at http://", "w3 joined")
	told := regexp.MustCompile(`the console is at (http://\S+/)`).FindStringSubmatch(strings.Join(s.text, "\n"))
	require.Len(t, told, 2)
	require.Eventually(t, func() bool {
		response, err := http.Get(told[1] + "api/v1/namespaces/demo/jobs") //nolint:noctx,gosec // it is the demo's own
		if err != nil {
			return false
		}
		body, err := io.ReadAll(response.Body)
		return errors.Join(err, response.Body.Close()) == nil && strings.Contains(string(body), `"instances":3`)
	}, 2*time.Minute, 50*time.Millisecond)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGINT))
	text, status := s.end(t)
	require.Zero(t, status, text)
	requireNoProcess(t, text)
}
