package embedded

import (
	"bytes"
	"errors"
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// What ends the process is said before, with a logger and without one, also if nobody listens.
func TestLastWords(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	var log bytes.Buffer
	for name, more := range map[string][]Option{
		"without a logger": nil,
		"with a logger":    {WithLogger(slog.New(slog.NewTextHandler(&log, nil)))},
	} {
		said := make(chan error, 1)
		o, err := newOptions(append(more, WithLastWords(func(err error) { said <- err })))
		require.NoError(t, err)
		require.Equal(t, 1, ends(o, func(z *zap.Logger) { z.Fatal("failed to save entries", zap.Int("n", 3), zap.Error(full)) }), name)
		require.EqualError(t, <-said, "etcd in /data/etcd cannot go on: failed to save entries: no space left on device", name)
		require.Zero(t, ends(o, func(z *zap.Logger) { z.Error("failed to send", zap.Error(full)) }), name)
		require.Panics(t, func() { newZap(o, "/data/etcd").Panic("impossible") }, name)
		require.EqualError(t, <-said, "etcd in /data/etcd cannot go on: impossible", name)
	}
	require.Contains(t, log.String(), `level=ERROR msg="failed to save entries" n=3 error="no space left on device"`)
	o, err := newOptions([]Option{WithLastWords(func(error) { <-t.Context().Done() })})
	require.NoError(t, err)
	require.Equal(t, 1, ends(o, func(z *zap.Logger) { z.Fatal("failed to save entries") }))
	_, err = newOptions([]Option{WithLastWords(nil)})
	require.ErrorIs(t, err, ErrInvalidOption)
}

// ends returns the status with which something logged ends the process; 0 if it does not.
func ends(o *options, logs func(*zap.Logger)) (status int) {
	o.exit = func(with int) {
		status = with
		runtime.Goexit()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		logs(newZap(o, "/data/etcd"))
	}()
	<-done
	return status
}
