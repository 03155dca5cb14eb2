package serverprocess_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/serverprocess"
)

// A frozen process has stopped when Freeze returns, and goes on when it thaws.
func TestAFrozenProcessHasStopped(t *testing.T) {
	t.Parallel()
	written := filepath.Join(t.TempDir(), "out")
	p, err := serverprocess.Start([]string{"sh", "-c", "while :; do echo on; done"}, written)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Kill()) }()
	size := func() int64 {
		at, err := os.Stat(written)
		require.NoError(t, err)
		return at.Size()
	}
	for range 200 {
		before := size()
		require.Eventually(t, func() bool { return size() > before }, time.Minute, time.Millisecond)
		require.NoError(t, p.Freeze())
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
		require.NoError(t, err)
		require.Contains(t, string(state), ") T ")
		require.NoError(t, p.Thaw())
	}
}

// A process that has ended cannot be frozen.
func TestFreezeOfAProcessThatIsGone(t *testing.T) {
	t.Parallel()
	p, err := serverprocess.Start([]string{"true"}, filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	<-p.Gone()
	require.ErrorIs(t, p.Freeze(), os.ErrProcessDone)
}
