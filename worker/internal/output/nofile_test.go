//go:build unix

package output_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/worker/internal/output"
)

// A log that somebody has made something else holds up no script: neither a pipe that nobody reads, nor one that somebody does.
func TestALogThatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/orders", 0o700))
	require.NoError(t, syscall.Mkfifo(dir+"/orders/3.log", 0o600))
	files := output.Files{Directory: dir, Size: 100}
	_, err := files.Open("orders", 3)
	require.ErrorIs(t, err, syscall.ENXIO)
	reader, err := os.OpenFile(dir+"/orders/3.log", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer reader.Close()
	_, err = files.Open("orders", 3)
	require.ErrorContains(t, err, "it is no regular file")
}
