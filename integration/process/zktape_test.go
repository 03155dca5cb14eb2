//go:build linux

package process_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/integration/zookeeper/txnlog"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// zkTape is the tape of a ZooKeeper server: the server's own transaction log. A client cannot see every
// revision of ZooKeeper, the log has them all.
type zkTape struct {
	t      *testing.T
	asking *zkcompat.Registry // tells how far the store is
	stop   context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	heard []heardTxn
}

// heardTxn is a transaction and when it was read.
type heardTxn struct {
	txnlog.Txn
	at time.Time
}

// startZKTape reads the log from its beginning on, until the test ends.
func startZKTape(t *testing.T, server *zookeeper.Server) *zkTape {
	t.Helper()
	asking, err := zkcompat.Open(t.Context(), zkcompat.Config{
		Servers: server.Addresses(), Namespace: "tape", ConnectionTimeout: patience,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, asking.Close(context.Background())) })
	ctx, stop := context.WithCancel(context.Background())
	tp := &zkTape{t: t, asking: asking, stop: stop}
	log := txnlog.Open(server.LogFolder())
	tp.wg.Go(func() {
		tp.listen(ctx, log)
		_ = log.Close() // it was only read
	})
	t.Cleanup(func() { stop(); tp.wg.Wait() })
	return tp
}

// listen reads what the server writes.
func (tp *zkTape) listen(ctx context.Context, log *txnlog.Reader) {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		txn, err := log.Next()
		switch {
		case err == nil:
			tp.mu.Lock()
			tp.heard = append(tp.heard, heardTxn{txn, now().time()})
			tp.mu.Unlock()
			continue
		case !errors.Is(err, io.EOF):
			tp.t.Errorf("the tape broke: %v", err)
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// finish implements [tape].
func (tp *zkTape) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, last, err := tp.asking.List(ctx, registry.Root)
	require.NoError(tp.t, err)
	require.Eventually(tp.t, func() bool {
		all := tp.all()
		return len(all) > 0 && registry.Revision(all[len(all)-1].Zxid) >= last
	}, patience, 5*time.Millisecond, "the tape has not all that the store has")
}

func (tp *zkTape) all() []heardTxn {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return tp.heard[:len(tp.heard):len(tp.heard)]
}

// states implements [tape].
func (tp *zkTape) states(namespace string) []checker.State {
	s, tree := newStates(), make(znodes)
	for _, txn := range tp.all() {
		touched := make(map[string]bool)
		for _, op := range txn.Ops {
			if strings.HasPrefix(op.Path, "/"+namespace+"/") {
				tree.apply(txn.Txn, op, touched)
			}
		}
		after := make(map[string]registry.Node)
		for znode := range touched {
			if path := znode[len(namespace)+1:]; path != "" {
				after[path] = tree.node(znode, path)
			}
		}
		s.add(registry.Revision(txn.Zxid), txn.at, after)
	}
	return s.all
}

// sessions implements [tape].
func (tp *zkTape) sessions(namespace string) ([]registry.SessionID, error) {
	alive := owners(tp.states(namespace))
	for _, txn := range tp.all() {
		if txn.Closed {
			delete(alive, registry.SessionID(txn.Session))
		}
	}
	return slices.Collect(maps.Keys(alive)), nil
}
