package etcd_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// heldCopy holds back the copy of a subtree that a watch reads afresh.
type heldCopy struct {
	mu      sync.Mutex
	suffix  string // of the key where it starts; empty = none is held
	caught  chan struct{}
	release chan struct{}
}

func holdingCopies() *heldCopy {
	return &heldCopy{caught: make(chan struct{}), release: make(chan struct{})}
}

// hold holds the next copy.
func (h *heldCopy) hold(suffix string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.suffix = suffix
}

// await waits until a copy is held.
func (h *heldCopy) await(tb testing.TB) {
	tb.Helper()
	select {
	case <-h.caught:
	case <-time.After(20 * time.Second):
		require.Fail(tb, "no watch started afresh")
	}
}

// startingAfresh returns a handle with a view whose watch has missed, by a compaction, that a node became new. It waits for a
// copy that it reads from a key on, until it is released.
func startingAfresh(tb testing.TB, node, root, from string) (r, writer *etcd.Registry, v *registry.View, release func()) {
	tb.Helper()
	server := startServer(tb)
	wire, copies := newProxy(tb, server.Endpoints()[0]), holdingCopies()
	r, writer = open(tb, []string{wire.endpoint()}, copies.on), open(tb, server.Endpoints())
	put(tb, writer, node, "old")
	v = view(tb, r, root)
	wire.Cut()
	for range 3 { // more than the watch could catch up with
		put(tb, writer, node, "new")
	}
	compact(tb, adminOf(tb, server))
	copies.hold(from)
	wire.Break()
	wire.Heal()
	copies.await(tb)
	return r, writer, v, func() { close(copies.release) }
}

func (h *heldCopy) on(config *etcd.Config) {
	config.DialOptions = append(config.DialOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if h.catches(req) {
				close(h.caught)
				select {
				case <-h.release:
				case <-ctx.Done():
				}
			}
			return invoke(ctx, method, req, reply, conn, opts...)
		},
	))
}

func (h *heldCopy) catches(req any) bool {
	var reads []*pb.RangeRequest
	switch req := req.(type) {
	case *pb.RangeRequest:
		reads = append(reads, req)
	case *pb.TxnRequest:
		for _, part := range req.Success {
			reads = append(reads, part.GetRequestRange())
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range reads {
		if h.suffix != "" && len(r.GetRangeEnd()) > 0 && !r.GetKeysOnly() && strings.HasSuffix(string(r.GetKey()), h.suffix) {
			h.suffix = ""
			return true
		}
	}
	return false
}

// A view that joins a watch while that starts afresh after a compaction misses nothing, though it is in none of the copies.
func TestAViewThatJoinsAWatchWhichStartsAfresh(t *testing.T) {
	t.Parallel()
	r, writer, all, release := startingAfresh(t, "/job/a", "/", "/")
	joined := view(t, r, "/job")
	put(t, writer, "/job/b", "1")
	release()
	waitValue(t, all, "/job/b", "1")
	waitValue(t, joined, "/job/b", "1")
	put(t, writer, "/job/c", "2")
	waitValue(t, joined, "/job/c", "2")
}

// A view whose watch starts afresh goes on if another watch takes over meanwhile.
func TestAWatchTakesOverFromOneThatStartsAfresh(t *testing.T) {
	t.Parallel()
	r, writer, first, release := startingAfresh(t, "/a", "/a", "/a/")
	var others []*registry.View
	for n := range 20 {
		others = append(others, view(t, r, fmt.Sprintf("/job/%d", n)))
	}
	release()
	waitValue(t, first, "/a", "new")
	put(t, writer, "/a", "newest")
	waitValue(t, first, "/a", "newest")
	require.NoError(t, first.Err())
	put(t, writer, "/job/7", "1")
	waitValue(t, others[7], "/job/7", "1")
}
