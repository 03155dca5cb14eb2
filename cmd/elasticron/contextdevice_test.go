//go:build linux

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who names /dev/null as the file of contexts, to have none, and is allowed to replace it, keeps it.
func TestADeviceIsNotReplacedByContexts(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	device, link := filepath.Join(t.TempDir(), "null"), filepath.Join(t.TempDir(), "contexts.yaml")
	require.NoError(t, syscall.Mkfifo(device, 0o600))
	require.NoError(t, os.Symlink(device, link))
	for _, name := range []string{device, link} {
		w.variables[contextsFileVariable] = name
		_, errOut, status := w.does(t, "context", "set", "prod", "--etcd", "http://e1:2379", "-n", "shop")
		require.NotZero(t, status)
		require.Contains(t, errOut, device+" is no regular file")
	}
	info, err := os.Lstat(device)
	require.NoError(t, err)
	require.Equal(t, os.ModeNamedPipe, info.Mode().Type())
}
