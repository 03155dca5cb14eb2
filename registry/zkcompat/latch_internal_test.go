package zkcompat

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
)

// Whoever no longer waits for an answer asks nothing: it might be done much later.
func TestNothingIsAskedAfterTheContext(t *testing.T) {
	t.Parallel()
	h, _ := hubOf(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var asked atomic.Int64
	for range 100 {
		_, over, err := askFor(ctx, h.link, func(*zk.Conn) (int64, error) { return asked.Add(1), nil })
		require.ErrorIs(t, err, errLeft)
		require.Nil(t, over)
	}
	h.link.calls.Wait()
	require.Zero(t, asked.Load())
}

// A contender that leaves takes its znode with it even if the request to create it was sent only then.
func TestAContenderThatLeavesBeforeItsZnodeIsThere(t *testing.T) {
	t.Parallel()
	zookeeper.Need(t)
	server := zookeeper.Start(t)
	r, err := Open(t.Context(), Config{Servers: server.Addresses(), Namespace: "left", ConnectionTimeout: time.Minute})
	require.NoError(t, err)
	defer r.Close(context.Background())
	l, err := r.keeper.usable(t.Context())
	require.NoError(t, err)
	entering := make(chan struct{})
	c := &contender{r: r, folder: r.ns.znode("/latch"), id: "late", link: l, own: "/left/latch/_c_late-latch-", entering: entering}
	require.NoError(t, r.makeParents(t.Context(), l, c.own, func(string) {}))
	withdrawn := make(chan struct{})
	go func() {
		defer close(withdrawn)
		c.withdraw()
	}()
	select {
	case <-withdrawn:
	case <-time.After(100 * time.Millisecond): // it waits
	}
	_, err = ask(t.Context(), l, func(k *zk.Conn) (string, error) {
		return k.Create(c.own, []byte{}, zk.FlagEphemeral|zk.FlagSequence, r.acl)
	})
	require.NoError(t, err)
	close(entering)
	<-withdrawn
	line, err := c.line(t.Context())
	require.NoError(t, err)
	require.Empty(t, line)
}
