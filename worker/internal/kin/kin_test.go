//go:build linux

package kin

import (
	"errors"
	"io/fs"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What hides its environment is told of once, as long as it lives.
func TestHidden(t *testing.T) {
	t.Parallel()
	hides := make(map[int]bool)
	k := &Kin{environ: func(pid int) ([]byte, error) {
		if hides[pid] {
			return nil, &fs.PathError{Err: fs.ErrPermission}
		}
		return nil, errors.New("gone")
	}}
	start := func(group int) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sleep", "600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
		require.NoError(t, cmd.Start())
		return cmd
	}
	waitedFor := exec.CommandContext(t.Context(), "sleep", "600")
	waitedFor.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	forget, err := k.Start(waitedFor)
	require.NoError(t, err)
	open, hidden := start(0), start(0)
	killed, withIt, withWaitedFor := start(0), start(hidden.Process.Pid), start(waitedFor.Process.Pid)
	for _, cmd := range []*exec.Cmd{hidden, waitedFor, killed, withWaitedFor} {
		hides[cmd.Process.Pid] = true
	}
	require.Equal(t, []int{hidden.Process.Pid}, k.Hidden(killed.Process.Pid))
	require.Empty(t, k.Hidden(killed.Process.Pid))
	hides[withIt.Process.Pid] = true
	require.Equal(t, []int{withIt.Process.Pid}, k.Hidden(killed.Process.Pid))
	for _, cmd := range []*exec.Cmd{open, withIt, hidden, killed, withWaitedFor, waitedFor} {
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
	}
	forget()
	require.Empty(t, k.Hidden(0))
	require.Empty(t, k.told, "what is gone is forgotten")
}
