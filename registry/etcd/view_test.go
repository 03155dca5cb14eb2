package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

func view(tb testing.TB, r registry.Viewer, path string) *registry.View {
	tb.Helper()
	v, err := r.View(tb.Context(), path)
	require.NoError(tb, err)
	return v
}

func waitValue(tb testing.TB, v *registry.View, path, value string) {
	tb.Helper()
	_, err := v.WaitFor(within(tb, time.Minute), func(s registry.Snapshot) bool {
		return s.Get(path).Exists() && s.Get(path).Value == value
	})
	require.NoError(tb, err)
}

// TestBrokenWatchDoesNotRepeatThePast breaks the connection before the watch has brought anything,
// which makes a watch of etcd that has no start show the past again.
func TestBrokenWatchDoesNotRepeatThePast(t *testing.T) {
	t.Parallel()
	wire := newProxy(t, sharedServer(t).Endpoints()[0])
	r := open(t, []string{wire.endpoint()})
	put(t, r, "/a", "1")
	v := view(t, r, "/")
	var mu sync.Mutex
	var seen []string
	v.Subscribe(func(s registry.Step) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range s.Changes {
			seen = append(seen, fmt.Sprintf("%s %s=%s", c.Kind(), c.Path(), c.New.Value))
		}
	})
	for i := range 3 {
		wire.Break()
		put(t, r, "/b", fmt.Sprint(i))
		waitValue(t, v, "/b", fmt.Sprint(i))
	}
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"added /a=1", "added /b=0", "updated /b=1", "updated /b=2"}, seen)
}

// TestManyViewsCostNoGoroutines opens as many views as a process with many jobs.
func TestManyViewsCostNoGoroutines(t *testing.T) { // not parallel: it counts
	const n = 500
	r := open(t, sharedServer(t).Endpoints())
	for i := range n {
		view(t, r, fmt.Sprintf("/few/%d", i%10))
	}
	before := runtime.NumGoroutine()
	views := make([]*registry.View, n)
	for i := range n {
		views[i] = view(t, r, fmt.Sprintf("/job/%d", i))
	}
	require.Less(t, runtime.NumGoroutine(), before+50)
	put(t, r, "/job/7/a", "1")
	waitValue(t, views[7], "/job/7/a", "1")
	revision := put(t, r, "/job/77/a", "1")
	require.NoError(t, views[7].WaitRevision(t.Context(), revision))
}

// TestViewsAgreeWhileTheHandleChangesToOneWatch opens ever more views while others write.
func TestViewsAgreeWhileTheHandleChangesToOneWatch(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	r, writer := open(t, server.Endpoints()), open(t, server.Endpoints())
	var writing sync.WaitGroup
	stop := make(chan struct{})
	for w := range 4 {
		writing.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					put(t, writer, fmt.Sprintf("/job/%d/%d", (i*4+w)%40, i%3), fmt.Sprint(i))
				}
			}
		})
	}
	views := make([]*registry.View, 40)
	faults := make([]error, len(views))
	for i := range views {
		views[i] = view(t, r, fmt.Sprintf("/job/%d", i))
		copied := map[string]registry.Node{}
		views[i].Subscribe(func(s registry.Step) {
			for _, c := range s.Changes {
				if copied[c.Path()] != c.Old {
					faults[i] = fmt.Errorf("%s was %s, not %s", c.Path(), copied[c.Path()], c.Old)
				}
				copied[c.Path()] = c.New
			}
		})
		if i%5 == 4 {
			views[i-4].Close()
		}
	}
	close(stop)
	writing.Wait()
	nodes, revision, err := writer.List(t.Context(), "/job")
	require.NoError(t, err)
	for i, v := range views {
		require.NoError(t, faults[i])
		if i%5 == 0 {
			require.ErrorIs(t, v.Err(), registry.ErrClosed)
			continue
		}
		require.NoError(t, v.WaitRevision(t.Context(), revision))
		for _, n := range nodes {
			if registry.Within(n.Path, v.Path()) {
				require.Equal(t, n, v.Snapshot().Get(n.Path))
			}
		}
	}
}

// TestCompactionUnderManyViews has a handle with one wide watch miss what was compacted away.
func TestCompactionUnderManyViews(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	admin := adminOf(t, server)
	wire := newProxy(t, server.Endpoints()[0])
	r, writer := open(t, []string{wire.endpoint()}), open(t, server.Endpoints())
	views := make([]*registry.View, 30)
	for i := range views {
		put(t, writer, fmt.Sprintf("/job/%d/a", i), "old")
		views[i] = view(t, r, fmt.Sprintf("/job/%d", i))
	}
	wire.Cut()
	for i := range views {
		put(t, writer, fmt.Sprintf("/job/%d/a", i), "new")
	}
	compact(t, admin)
	wire.Break()
	wire.Heal()
	for i, v := range views {
		waitValue(t, v, fmt.Sprintf("/job/%d/a", i), "new")
	}
	put(t, writer, "/job/3/b", "later")
	waitValue(t, views[3], "/job/3/b", "later")
}

// TestWatchLeavesAFrozenMember has some of the ways to the store go dead without a word, as frozen members
// do. Views go on though gRPC does not notice: here it does not ask whether anybody is there.
func TestWatchLeavesAFrozenMember(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	silent := func(c *etcd.Config) {
		c.DialOptions = append(c.DialOptions, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: time.Hour}))
	}
	for _, test := range []struct{ members, alive int }{ // alive alone, whichever the watch uses
		{2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2},
	} {
		t.Run(fmt.Sprintf("%d of %d is left", test.alive, test.members), func(t *testing.T) {
			t.Parallel()
			var ways []*wire
			var endpoints []string
			for range test.members {
				ways = append(ways, newProxy(t, server.Endpoints()[0]))
				endpoints = append(endpoints, ways[len(ways)-1].endpoint())
			}
			r, writer := open(t, endpoints, silent), open(t, server.Endpoints())
			v := view(t, r, "/a")
			for n, way := range ways {
				if n != test.alive {
					way.Cut()
					t.Cleanup(way.Heal)
				}
			}
			begin := time.Now()
			put(t, writer, "/a", "new")
			waitValue(t, v, "/a", "new")
			t.Logf("the view left the frozen members after %s", time.Since(begin))
		})
	}
}

// However long the store is away, one stream of watches is left when it is back.
func TestAnOutageLeavesNoStreams(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	wire := newProxy(t, server.Endpoints()[0])
	var alive atomic.Int64
	var away atomic.Bool
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		if away.Load() {
			return nil, errors.New("nobody listens")
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	count := func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, begin grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		stream, err := begin(ctx, desc, conn, method, opts...)
		if err == nil && method == pb.Watch_Watch_FullMethodName {
			alive.Add(1)
			context.AfterFunc(stream.Context(), func() { alive.Add(-1) }) //nolint:contextcheck // the stream's ends with it
		}
		return stream, err
	}
	r := open(t, []string{wire.endpoint()}, func(c *etcd.Config) {
		c.RequestTimeout = 500 * time.Millisecond
		c.DialOptions = append(c.DialOptions, grpc.WithChainStreamInterceptor(count), grpc.WithContextDialer(dial))
	})
	v := view(t, r, "/")
	away.Store(true)
	wire.Break()
	time.Sleep(10 * time.Second) // four streams are given up
	away.Store(false)
	put(t, r, "/a", "1")
	waitValue(t, v, "/a", "1")
	require.EventuallyWithT(t, func(t *assert.CollectT) { assert.Equal(t, int64(1), alive.Load()) }, 30*time.Second, 50*time.Millisecond)
}

// TestViewsSurviveRestarts has the server crash and come back, twice.
func TestViewsSurviveRestarts(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	r := open(t, server.Endpoints())
	v := view(t, r, "/")
	for i := range 2 {
		server.Kill()
		require.NoError(t, server.Restart(t.Context()))
		put(t, r, "/a", fmt.Sprint(i))
		waitValue(t, v, "/a", fmt.Sprint(i))
	}
	require.NoError(t, v.Err())
	require.NoError(t, r.Close(t.Context()))
	require.ErrorIs(t, v.Err(), registry.ErrClosed)
	_, err := r.View(t.Context(), "/")
	require.ErrorIs(t, err, registry.ErrClosed)
}
