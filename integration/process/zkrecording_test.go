//go:build linux

package process_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"path"
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

// zkRecording is the recording of a ZooKeeper server: the server's own transaction log. A client cannot see every
// revision of ZooKeeper, the log has them all.
type zkRecording struct {
	t      *testing.T
	handle *zkcompat.Registry // tells how far the store is
	stop   context.CancelFunc
	wg     sync.WaitGroup

	mu   sync.Mutex
	txns []timedTxn
}

// timedTxn is a transaction and when it was read.
type timedTxn struct {
	txnlog.Txn
	at time.Time
}

// startZKRecording reads the log from its beginning on, until the test ends.
func startZKRecording(t *testing.T, server *zookeeper.Server) *zkRecording {
	t.Helper()
	asking, err := zkcompat.Open(t.Context(), zkcompat.Config{
		Servers: server.Addresses(), Namespace: "recording", ConnectionTimeout: waitTimeout,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, asking.Close(context.Background())) })
	ctx, stop := context.WithCancel(context.Background())
	rec := &zkRecording{t: t, handle: asking, stop: stop}
	log := txnlog.Open(server.LogFolder())
	rec.wg.Go(func() {
		rec.follow(ctx, log)
		_ = log.Close() // it was only read
	})
	t.Cleanup(func() { stop(); rec.wg.Wait() })
	return rec
}

// follow reads what the server writes.
func (rec *zkRecording) follow(ctx context.Context, log *txnlog.Reader) {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		txn, err := log.Next()
		switch {
		case err == nil:
			rec.mu.Lock()
			rec.txns = append(rec.txns, timedTxn{txn, now().time()})
			rec.mu.Unlock()
			continue
		case !errors.Is(err, io.EOF):
			rec.t.Errorf("the recording broke: %v", err)
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// finish implements [recording].
func (rec *zkRecording) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	_, last, err := rec.handle.List(ctx, registry.Root)
	require.NoError(rec.t, err)
	require.Eventually(rec.t, func() bool {
		all := rec.all()
		return len(all) > 0 && registry.Revision(all[len(all)-1].Zxid) >= last
	}, waitTimeout, 5*time.Millisecond, "the recording has not all that the store has")
}

func (rec *zkRecording) all() []timedTxn {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.txns[:len(rec.txns):len(rec.txns)]
}

// states implements [recording].
func (rec *zkRecording) states(namespace string) []checker.State {
	s, tree := newStates(), make(znodes)
	for _, txn := range rec.all() {
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

// sessions implements [recording].
func (rec *zkRecording) sessions(namespace string) ([]registry.SessionID, error) {
	alive := owners(rec.states(namespace))
	for _, txn := range rec.all() {
		if txn.Closed {
			delete(alive, registry.SessionID(txn.Session))
		}
	}
	return slices.Collect(maps.Keys(alive)), nil
}

// znodes are the nodes of a ZooKeeper server.
type znodes map[string]znode

type znode struct {
	there, written, parent bool // written = after its creation; parent = it ever had a child
	data                   string
	created, changed       int64
	owner                  int64
}

// apply does what an operation did, and notes the znodes that it touched.
func (z znodes) apply(txn txnlog.Txn, op txnlog.Op, touched map[string]bool) {
	touched[op.Path] = true
	switch op.Kind {
	case txnlog.Create:
		n := znode{there: true, data: string(op.Data), created: txn.Zxid, changed: txn.Zxid}
		if op.Ephemeral {
			n.owner = txn.Session
		}
		z[op.Path] = n
		above := path.Dir(op.Path)
		if parent, known := z[above]; known && !parent.parent {
			parent.parent = true
			z[above], touched[above] = parent, true
		}
	case txnlog.Set:
		n := z[op.Path]
		n.written, n.data, n.changed = true, string(op.Data), txn.Zxid
		z[op.Path] = n
	case txnlog.Delete:
		delete(z, op.Path)
	}
}

// node returns the node of the registry that a znode stands for, as package zkcompat says: an empty one
// that was never written to and ever had a child is there for its children alone.
func (z znodes) node(znode, path string) registry.Node {
	n := z[znode]
	if !n.there || n.data == "" && !n.written && n.owner == 0 && n.parent {
		return registry.Node{}
	}
	return registry.Node{
		Path: path, Value: n.data, Created: registry.Revision(n.created),
		Revision: registry.Revision(n.changed), Session: registry.SessionID(n.owner),
	}
}
