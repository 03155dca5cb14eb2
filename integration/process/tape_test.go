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

	"github.com/elasticron/elasticron/integration/history"
	"github.com/elasticron/elasticron/registry"
)

// tape writes down every revision of the store, and when it was first heard of. It listens to each
// member by itself, so that no trouble of one of them delays it.
type tape struct {
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

// startTape begins to listen, from the store's present on, until the test ends.
func startTape(t *testing.T, addresses []string) *tape {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	tp := &tape{t: t, stop: stop, revisions: make(map[int64]*revision), heard: make(chan struct{})}
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

func (tp *tape) close() {
	tp.stop()
	tp.wg.Wait()
}

// listen follows one member. The client goes on by itself where it was interrupted.
func (tp *tape) listen(ctx context.Context, client *clientv3.Client) {
	for resp := range client.Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(tp.from+1)) {
		if err := resp.Err(); err != nil && ctx.Err() == nil {
			tp.t.Errorf("the tape of %s broke: %v", client.Endpoints(), err)
		}
		tp.hear(now().time(), resp.Events)
	}
}

// hear sorts events into their revisions, unless another member told of those before.
func (tp *tape) hear(at time.Time, events []*clientv3.Event) {
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

// finish waits until the tape has everything that the store has, and returns how much that is: every
// revision of the store since the tape began.
func (tp *tape) finish() int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	last, err := tp.clients[0].Get(ctx, "/")
	require.NoError(tp.t, err)
	for number := tp.from + 1; number <= last.Header.Revision; number++ {
		require.NoError(tp.t, tp.await(ctx, number))
	}
	return int(last.Header.Revision - tp.from)
}

func (tp *tape) await(ctx context.Context, number int64) error {
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

// states returns what is on the tape so far of one namespace, as the states that it went through. Every
// state shows the whole namespace.
func (tp *tape) states(namespace string) []history.State {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	var states []history.State
	nodes := make(map[string]registry.Node)
	for _, number := range slices.Sorted(maps.Keys(tp.revisions)) {
		r := tp.revisions[number]
		var changes []registry.Change
		for _, e := range r.events {
			path, ours := strings.CutPrefix(string(e.Kv.Key), "/"+namespace)
			if !ours || !strings.HasPrefix(path, "/") {
				continue
			}
			change := registry.Change{Old: nodes[path], New: nodeOf(path, e)}
			changes = append(changes, change)
			if nodes[path] = change.New; !change.New.Exists() {
				delete(nodes, path)
			}
		}
		if len(changes) == 0 {
			continue
		}
		slices.SortFunc(changes, func(a, b registry.Change) int { return strings.Compare(a.Path(), b.Path()) })
		snapshot := registry.NewSnapshot(registry.Revision(number), slices.Collect(maps.Values(nodes)))
		states = append(states, history.State{At: r.at, Step: registry.Step{Snapshot: snapshot, Changes: changes}})
	}
	return states
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
