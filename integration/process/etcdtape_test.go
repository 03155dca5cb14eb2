//go:build linux

package process_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/registry"
)

// etcdTape is the tape of an etcd cluster. It listens to each member by itself, so that no trouble of one
// of them delays it.
type etcdTape struct {
	t       *testing.T
	clients []*clientv3.Client
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu        sync.Mutex
	from      int64 // the revision before the first
	revisions map[int64]*revision
	heard     chan struct{} // closed and replaced when there is more
}

// revision is what one commit did.
type revision struct {
	at     time.Time
	events []*clientv3.Event
}

// startEtcdTape begins to listen, from the store's present on, until the test ends.
func startEtcdTape(t *testing.T, addresses []string) *etcdTape {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	tp := &etcdTape{t: t, stop: stop, revisions: make(map[int64]*revision), heard: make(chan struct{})}
	for _, address := range addresses {
		tp.clients = append(tp.clients, newClient(t, address))
	}
	at, err := tp.clients[0].Get(ctx, "/")
	require.NoError(t, err)
	tp.from = at.Header.Revision
	for _, client := range tp.clients {
		tp.wg.Go(func() { tp.listen(ctx, client) })
	}
	t.Cleanup(tp.close)
	return tp
}

func (tp *etcdTape) close() {
	tp.stop()
	tp.wg.Wait()
}

// listen follows one member. The client goes on by itself where it was interrupted.
func (tp *etcdTape) listen(ctx context.Context, client *clientv3.Client) {
	for resp := range client.Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(tp.from+1)) {
		if err := resp.Err(); err != nil && ctx.Err() == nil {
			tp.t.Errorf("the tape of %s broke: %v", client.Endpoints(), err)
		}
		tp.hear(now().time(), resp.Events)
	}
}

// hear sorts events into their revisions, unless another member told of those before.
func (tp *etcdTape) hear(at time.Time, events []*clientv3.Event) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	fresh := make(map[int64]*revision)
	for _, e := range events {
		number := e.Kv.ModRevision
		if tp.revisions[number] != nil {
			continue
		}
		if fresh[number] == nil {
			fresh[number] = &revision{at: at}
		}
		fresh[number].events = append(fresh[number].events, e)
	}
	maps.Copy(tp.revisions, fresh)
	close(tp.heard)
	tp.heard = make(chan struct{})
}

// finish implements [tape].
func (tp *etcdTape) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	last, err := tp.clients[0].Get(ctx, "/")
	require.NoError(tp.t, err)
	for number := tp.from + 1; number <= last.Header.Revision; number++ {
		require.NoError(tp.t, tp.await(ctx, number))
	}
}

func (tp *etcdTape) await(ctx context.Context, number int64) error {
	for {
		tp.mu.Lock()
		has, heard := tp.revisions[number] != nil, tp.heard
		tp.mu.Unlock()
		if has {
			return nil
		}
		select {
		case <-heard:
		case <-ctx.Done():
			return fmt.Errorf("the tape has no revision %d", number)
		}
	}
}

// states implements [tape].
func (tp *etcdTape) states(namespace string) []checker.State {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	s := newStates()
	for _, number := range slices.Sorted(maps.Keys(tp.revisions)) {
		r := tp.revisions[number]
		after := make(map[string]registry.Node)
		for _, e := range r.events {
			path, ours := strings.CutPrefix(string(e.Kv.Key), "/"+namespace)
			if ours && strings.HasPrefix(path, "/") {
				after[path] = nodeOf(path, e)
			}
		}
		s.add(registry.Revision(number), r.at, after)
	}
	return s.all
}

// sessions implements [tape].
func (tp *etcdTape) sessions(namespace string) ([]registry.SessionID, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	leases, err := tp.clients[0].Leases(ctx)
	if err != nil {
		return nil, err
	}
	owned := owners(tp.states(namespace))
	var alive []registry.SessionID
	for _, lease := range leases.Leases {
		if id := registry.SessionID(lease.ID); owned[id] {
			alive = append(alive, id)
		}
	}
	return alive, nil
}

// nodeOf returns the node that an event left; the zero Node if none.
func nodeOf(path string, e *clientv3.Event) registry.Node {
	if e.Type == clientv3.EventTypeDelete {
		return registry.Node{}
	}
	return registry.Node{
		Path: path, Value: string(e.Kv.Value), Created: registry.Revision(e.Kv.CreateRevision),
		Revision: registry.Revision(e.Kv.ModRevision), Session: registry.SessionID(e.Kv.Lease),
	}
}
