package etcd

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// stuck is a watcher that does not end until it is released.
type stuck struct {
	clientv3.Watcher
	released chan struct{}
}

func (s stuck) Close() error {
	<-s.released
	return nil
}

// A stream of etcd's client that waits for itself does not keep a process from closing its registry.
func TestWatchesThatDoNotEndAreLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := stuck{released: make(chan struct{})}
		r := &Registry{watcher: w, log: slog.New(slog.DiscardHandler)}
		began := time.Now()
		r.closeWatches()
		require.Equal(t, closeLimit, time.Since(began))
		close(w.released)
		began = time.Now()
		r.closeWatches()
		require.Zero(t, time.Since(began))
	})
}
