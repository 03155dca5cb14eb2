package etcd_test

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// warnings are what a handle warns of.
type warnings struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (w *warnings) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.Write(line)
}

func (w *warnings) on(config *etcd.Config) {
	config.Logger = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

// In a store in which nobody writes, watches say after a while that they are alive, whenever they began, and also after their
// connection broke. From then on they are left alone.
func TestWatchesOfAQuietStoreGoOn(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	var sent counter
	var warned warnings
	wire := newProxy(t, server.Endpoints()[0])
	r, other := open(t, []string{wire.endpoint()}, sent.on, warned.on), open(t, server.Endpoints())
	first := view(t, r, "/a")
	put(t, other, "/elsewhere", "")
	second := view(t, r, "/b")
	revision := put(t, other, "/a", "1")
	third := view(t, r, "/c")
	require.NoError(t, first.WaitRevision(t.Context(), revision))
	time.Sleep(7 * time.Second) // what is looked for is what happens as time passes
	begun := sent.watchStreams.Load()
	require.LessOrEqual(t, begun, int64(2))
	require.Empty(t, warned.String())
	wire.Break()
	time.Sleep(7 * time.Second)
	again, while := sent.watchStreams.Load(), warned.String()
	most := begun + 2
	if while != "" { // on a busy machine the new connection may take longer than watches may be silent
		most += 2
	}
	require.LessOrEqual(t, again, most)
	time.Sleep(7 * time.Second)
	require.Equal(t, again, sent.watchStreams.Load())
	require.Equal(t, while, warned.String())
	for _, v := range []*registry.View{first, second, third} {
		put(t, other, v.Path(), "2")
		waitValue(t, v, v.Path(), "2")
	}
}
