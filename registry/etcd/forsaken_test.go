package etcd_test

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
)

// watchers returns how many watches a server has.
func watchers(t assert.TestingT, server *etcdserver.Server) int {
	answer, err := http.Get(server.Endpoints()[0] + "/metrics") //nolint:noctx // the test's own server
	if !assert.NoError(t, err) {
		return -1
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if value, is := strings.CutPrefix(lines.Text(), "etcd_debugging_mvcc_watcher_total "); is {
			n, err := strconv.Atoi(value)
			assert.NoError(t, err)
			return n
		}
	}
	assert.Fail(t, "the server does not tell how many watches it has")
	return -1
}

// A view that is closed before the store has confirmed its watch leaves no watch in the store, also on a stream that is never
// silent: there nothing would find it.
func TestAViewThatIsClosedAtOnceLeavesNoWatch(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	r, other := open(t, server.Endpoints()), open(t, server.Endpoints())
	stays := view(t, r, "/busy")
	busy, quiet := context.WithCancel(t.Context())
	written := make(chan struct{})
	go func() {
		defer close(written)
		for n := 0; busy.Err() == nil; n++ {
			_, _ = other.Commit(busy, registry.Txn{Then: []registry.Write{registry.Put("/busy", strconv.Itoa(n))}})
			time.Sleep(50 * time.Millisecond)
		}
	}()
	defer func() { quiet(); <-written }()
	for range 100 {
		v, err := r.View(t.Context(), "/idle")
		require.NoError(t, err)
		v.Close()
	}
	require.EventuallyWithT(t, func(t *assert.CollectT) { assert.Equal(t, 1, watchers(t, server)) }, 20*time.Second, 100*time.Millisecond)
	require.NoError(t, stays.Err())
	put(t, other, "/idle", "1")
	waitValue(t, view(t, r, "/idle"), "/idle", "1")
}
