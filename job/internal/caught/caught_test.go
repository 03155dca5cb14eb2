package caught_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/internal/caught"
)

func TestCall(t *testing.T) {
	t.Parallel()
	require.NoError(t, caught.Call(func() error { return nil }))
	require.Equal(t, io.EOF, caught.Call(func() error { return io.EOF }))
	require.Equal(t, job.ErrGoexit, caught.Call(func() error { runtime.Goexit(); return nil }))
	var panicked *job.PanicError
	require.ErrorAs(t, caught.Call(func() error { panic("disk on fire") }), &panicked)
	require.Equal(t, "disk on fire", panicked.Value)
	require.Contains(t, string(panicked.Stack), "TestCall")
}
