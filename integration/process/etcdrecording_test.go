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

// etcdRecording is the recording of an etcd cluster. It listens to each member by itself, so that no trouble of one
// of them delays it.
type etcdRecording struct {
	t       *testing.T
	clients []*clientv3.Client
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu        sync.Mutex
	from      int64 // the revision before the first
	revisions map[int64]*revision
	arrived   chan struct{} // closed and replaced when there is more
}

// revision is what one commit did.
type revision struct {
	at     time.Time
	events []*clientv3.Event
}

// startEtcdRecording begins to record, from the store's present on, until the test ends.
func startEtcdRecording(t *testing.T, addresses []string) *etcdRecording {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	rec := &etcdRecording{t: t, stop: stop, revisions: make(map[int64]*revision), arrived: make(chan struct{})}
	for _, address := range addresses {
		rec.clients = append(rec.clients, newClient(t, address))
	}
	at, err := rec.clients[0].Get(ctx, "/")
	require.NoError(t, err)
	rec.from = at.Header.Revision
	for _, client := range rec.clients {
		rec.wg.Go(func() { rec.follow(ctx, client) })
	}
	t.Cleanup(rec.close)
	return rec
}

func (rec *etcdRecording) close() {
	rec.stop()
	rec.wg.Wait()
}

// follow follows one member. The client goes on by itself where it was interrupted.
func (rec *etcdRecording) follow(ctx context.Context, client *clientv3.Client) {
	for resp := range client.Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(rec.from+1)) {
		if err := resp.Err(); err != nil && ctx.Err() == nil {
			rec.t.Errorf("the recording of %s broke: %v", client.Endpoints(), err)
		}
		rec.add(now().time(), resp.Events)
	}
}

// add sorts events into their revisions, unless another member told of those before.
func (rec *etcdRecording) add(at time.Time, events []*clientv3.Event) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	fresh := make(map[int64]*revision)
	for _, e := range events {
		number := e.Kv.ModRevision
		if rec.revisions[number] != nil {
			continue
		}
		if fresh[number] == nil {
			fresh[number] = &revision{at: at}
		}
		fresh[number].events = append(fresh[number].events, e)
	}
	maps.Copy(rec.revisions, fresh)
	close(rec.arrived)
	rec.arrived = make(chan struct{})
}

// finish implements [recording].
func (rec *etcdRecording) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	last, err := rec.clients[0].Get(ctx, "/")
	require.NoError(rec.t, err)
	for number := rec.from + 1; number <= last.Header.Revision; number++ {
		require.NoError(rec.t, rec.await(ctx, number))
	}
}

func (rec *etcdRecording) await(ctx context.Context, number int64) error {
	for {
		rec.mu.Lock()
		has, arrived := rec.revisions[number] != nil, rec.arrived
		rec.mu.Unlock()
		if has {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return fmt.Errorf("the recording has no revision %d", number)
		}
	}
}

// states implements [recording].
func (rec *etcdRecording) states(namespace string) []checker.State {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	s := newStates()
	for _, number := range slices.Sorted(maps.Keys(rec.revisions)) {
		r := rec.revisions[number]
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

// sessions implements [recording].
func (rec *etcdRecording) sessions(namespace string) ([]registry.SessionID, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	leases, err := rec.clients[0].Leases(ctx)
	if err != nil {
		return nil, err
	}
	owned := owners(rec.states(namespace))
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
