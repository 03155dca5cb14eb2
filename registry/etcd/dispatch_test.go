package etcd

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// put is the event of a node that was put, with a value.
func put(path string, revision int64) *clientv3.Event {
	kv := &mvccpb.KeyValue{Key: []byte("/test" + path), Value: []byte("v"), CreateRevision: 1, ModRevision: revision}
	return &clientv3.Event{Type: clientv3.EventTypePut, Kv: kv}
}

func paths(events []backend.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.Path)
	}
	return all
}

func TestRouteSortsByFollowers(t *testing.T) {
	t.Parallel()
	r := &Registry{ns: "/test", life: context.Background()}
	w := newWatch(newHub(r), registry.Root, keyRange{}, 0)
	orders, order, all := newFollower("/orders", nil), newFollower("/order", nil), newFollower(registry.Root, nil)
	for _, f := range []*follower{orders, order, all} {
		w.add(f)
	}
	routed := w.route(8, []*clientv3.Event{put("/orders/b", 7), put("/order/a", 7), put("/orders/a", 8), put("/orders/c", 8), put("/others", 8)})
	require.Len(t, routed, 3)
	for f, want := range map[*follower][]string{
		orders: {"/orders/b", "/orders/a", "/orders/c"}, order: {"/order/a"}, all: {"/orders/b", "/order/a", "/orders/a", "/orders/c", "/others"},
	} {
		require.Equal(t, registry.Revision(8), routed[f].revision)
		require.Equal(t, want, paths(routed[f].events), "in the order in which they came")
		require.Equal(t, len(want), cap(routed[f].events), "no more room than that")
		require.Nil(t, routed[f].at)
	}
	require.Equal(t, []string{"/orders/c"}, paths(w.route(9, []*clientv3.Event{put("/orders/c", 9)})[orders].events), "nothing comes twice")
}

func TestRouteKeepsNoMoreMemoryThanUsual(t *testing.T) {
	t.Parallel()
	r := &Registry{ns: "/test", life: context.Background()}
	w := newWatch(newHub(r), registry.Root, keyRange{}, 0)
	f := newFollower("/orders", nil)
	w.add(f)
	var many []*clientv3.Event
	for i := range 2 * mostArrivals {
		many = append(many, put(fmt.Sprintf("/orders/%d", i), 7))
	}
	require.Len(t, w.route(7, many)[f].events, len(many))
	require.Zero(t, cap(w.came.all))
	w.route(8, many[:10])
	require.LessOrEqual(t, cap(w.came.all), mostArrivals)
	for _, a := range w.came.all[:10] {
		require.Zero(t, a, "what came is not held")
	}
}
