package jobfolder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A file may take long to be read and taken apart. A stop does not wait for that, and what is left behind of it changes nothing.
func TestAStopDoesNotWaitForAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "b.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name[:1]+":\n  config:\n    jobType: SCRIPT\n    scriptCommandLine: x\n    cron: 0 0 * * * ?\n    shardingTotalCount: 1\n"), 0o600))
	}
	began, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	reader := Reader{parse: func(path string, known content) (content, error) {
		if filepath.Base(path) == "b.yaml" {
			defer close(ended)
			close(began)
			<-release
		}
		return parseFile(path, known)
	}}
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("the worker stops")
	go func() {
		<-began
		cancel(over)
	}()
	_, err := reader.Read(ctx, dir, 0, time.Now())
	require.ErrorIs(t, err, over)
	close(release)
	<-ended
	reader.parse = nil
	set, err := reader.Read(t.Context(), dir, 0, time.Now())
	require.NoError(t, err)
	require.Len(t, set.Jobs, 2)
}
