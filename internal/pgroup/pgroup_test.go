//go:build unix

package pgroup_test

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/pgroup"
)

func start(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	return cmd
}

// What has ended and was not waited for is still in its group, and does not live.
func TestLives(t *testing.T) {
	t.Parallel()
	cmd := start(t, "sleep", "600")
	group := cmd.Process.Pid
	require.True(t, pgroup.Lives(group))
	require.NoError(t, cmd.Process.Kill())
	require.Eventually(t, func() bool { return !pgroup.Lives(group) }, time.Minute, time.Millisecond)
	require.NoError(t, syscall.Kill(-group, 0), "it is there")
	require.Error(t, cmd.Wait())
	require.False(t, pgroup.Lives(group))
}

func TestAwait(t *testing.T) {
	t.Parallel()
	never, always := func() bool { return false }, func() bool { return true }
	later := time.Now().Add(time.Hour)
	pgroup.Await(never, later, never)
	pgroup.Await(always, later, always)
	pgroup.Await(always, time.Now().Add(20*time.Millisecond), never)
	looks := 0
	pgroup.Await(func() bool { looks++; return looks < 5 }, later, never)
	require.Equal(t, 5, looks)
}
