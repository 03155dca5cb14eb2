package etcd

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
)

// A view that is about to start when its watch is denied has the reason, and nobody joins that watch afterwards.
func TestAViewThatStartsOnADeniedWatch(t *testing.T) {
	t.Parallel()
	r := &Registry{life: context.Background()}
	r.hub = newHub(r)
	w := newWatch(r.hub, "/job", keyRange{}, 10)
	f := newFollower("/job", nil)
	r.hub.watches[w] = true
	joined, err := r.hub.joinPresent(f)
	require.NoError(t, err)
	require.True(t, joined)
	w.endAll(registry.ErrDenied)
	v := r.started(t.Context(), f, registry.NewSnapshot(10, nil))
	require.ErrorIs(t, v.Err(), registry.ErrDenied)
	joined, err = r.hub.joinPresent(newFollower("/job/a", nil))
	require.NoError(t, err)
	require.False(t, joined)
	require.Empty(t, r.hub.watches)
	require.Zero(t, r.hub.parts)
}

// A watch that nobody needs any more ends when the store has confirmed it, or does not; that of a handle that ends, at once.
func TestWhenAWatchEndsThatNobodyNeeds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		confirmed time.Duration // after this time; 0 = before
		closed    bool
		ends      time.Duration
	}{
		"it is confirmed":         {0, false, 0},
		"it is confirmed later":   {time.Second, false, time.Second},
		"it is never confirmed":   {time.Hour, false, maxSilence},
		"nor before a close":      {time.Hour, true, 0},
		"it is, before the close": {0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				life, end := context.WithCancel(t.Context())
				defer end()
				r := &Registry{life: life, watcher: lateWatcher{after: test.confirmed}}
				r.hub = newHub(r)
				w := newWatch(r.hub, "/job", keyRange{}, 10)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_, _, _ = w.stream()
				}()
				synctest.Wait()
				began := time.Now()
				w.stop()
				if test.closed {
					end()
				}
				<-ended
				require.Equal(t, test.ends, time.Since(began))
			})
		})
	}
}

// lateWatcher is a store that brings nothing, and confirms a watch late.
type lateWatcher struct {
	clientv3.Watcher
	after time.Duration
}

func (l lateWatcher) Watch(ctx context.Context, _ string, _ ...clientv3.OpOption) clientv3.WatchChan {
	brought := make(chan clientv3.WatchResponse)
	context.AfterFunc(ctx, func() { close(brought) })
	if l.after > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(l.after):
		}
	}
	return brought
}
