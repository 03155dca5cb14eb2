//go:build unix

package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history/sqlite"
)

// What is there and no regular file is left as it is, and nothing is put beside it: as root SQLite would even make a file
// beside a device. To open a pipe could take for ever.
func TestWhatIsNoFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	device := filepath.Join(folder, "device")
	require.NoError(t, os.Symlink(os.DevNull, device))
	for _, path := range []string{folder, pipe, device} {
		_, err := sqlite.Open(t.Context(), path)
		require.EqualError(t, err, fmt.Sprintf("open history %q: it is no regular file", path))
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	linked := filepath.Join(folder, "linked.db")
	require.NoError(t, os.Symlink("history.db", linked))
	for range 2 { // the first time it leads to nothing
		store, err := sqlite.Open(t.Context(), linked)
		require.NoError(t, err)
		require.NoError(t, store.Close())
	}
}
