package etcd_test

import (
	"context"
	"fmt"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// What follows are stores that answer, but slowly, as they do on a machine that has too much to do.

// A server that takes long to check a password is given that time, however little a request has, and is
// asked once for all that wait.
func TestALoginTakesItsTime(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	enableAuth(t, adminOf(t, server))
	var slow atomic.Bool
	var asked atomic.Int64
	r, err := etcd.Open(t.Context(), etcd.Config{
		Endpoints: server.Endpoints(), Namespace: "ours", Username: "me", Password: "secret", DialTimeout: time.Minute,
		RequestTimeout: 50 * time.Millisecond, SessionTTL: time.Minute, // a try has at most 16 times as long
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if _, ok := req.(*pb.AuthenticateRequest); ok && slow.Load() {
					asked.Add(1)
					select {
					case <-time.After(3 * time.Second):
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				return invoke(ctx, method, req, reply, conn, opts...)
			},
		)},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	put(t, r, "/before", "")
	slow.Store(true)
	server.Stop()
	require.NoError(t, server.Restart(t.Context())) // it has forgotten who was logged in
	var all sync.WaitGroup
	errs := make([]error, 20)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range errs {
		all.Go(func() {
			_, errs[i] = r.Commit(ctx, registry.Txn{
				Then: []registry.Write{registry.Put(fmt.Sprintf("/after/%d", i), "")}, Repeat: registry.RepeatHarmless,
			})
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.LessOrEqual(t, asked.Load(), int64(8))
}

// slowAnswers delays the answers to keep-alives.
type slowAnswers struct {
	grpc.ClientStream
	by *atomic.Int64
}

func (s slowAnswers) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	time.Sleep(time.Duration(s.by.Load()))
	return err
}

// A store that takes nearly half of the TTL to answer a keep-alive has still kept the session.
func TestSlowKeepAlivesKeepTheSession(t *testing.T) {
	t.Parallel()
	var by atomic.Int64
	r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.SessionTTL = 6 * time.Second
		c.DialOptions = append(c.DialOptions, grpc.WithChainStreamInterceptor(
			func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
				stream, err := streamer(ctx, desc, conn, method, opts...)
				if err == nil && method == pb.Lease_LeaseKeepAlive_FullMethodName {
					stream = slowAnswers{stream, &by}
				}
				return stream, err
			},
		))
	})
	s := session(t, r)
	by.Store(int64(s.TTL() * 45 / 100))
	select {
	case <-s.Done():
		require.Fail(t, "the session was lost", "%v", s.Err())
	case <-time.After(s.TTL() * 3 / 2):
	}
	by.Store(0)
}

// While requests are under way, what waits goes by its turn, and what is over is not sent.
func TestWaitingCommitsGoByTheirTurns(t *testing.T) {
	t.Parallel()
	arrived, allowed := make(chan string), make(chan struct{})
	var holding atomic.Bool
	r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.NoCoalescing, c.RequestTimeout = true, time.Minute
		c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if txn, ok := req.(*pb.TxnRequest); ok && holding.Load() {
					arrived <- path.Base(string(txn.Success[0].GetRequestPut().GetKey()))
					<-allowed
				}
				return invoke(ctx, method, req, reply, conn, opts...)
			},
		))
	})
	put(t, r, "/before", "")
	holding.Store(true)
	var all sync.WaitGroup
	commit := func(name string, turn registry.Turn, want error) {
		all.Go(func() {
			_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/"+name, "")}, Turn: turn, Repeat: registry.RepeatHarmless})
			if want == nil {
				require.NoError(t, err, name)
			} else {
				require.ErrorIs(t, err, want, name)
			}
		})
	}
	for range 4 {
		commit(fmt.Sprint("under way ", registry.RankFirst), registry.Turn{}, nil)
		require.Equal(t, "under way 0", <-arrived)
	}
	of := func(rank registry.Rank, share string) registry.Turn { return registry.Turn{Rank: rank, Share: share} }
	over := of(registry.RankFirst, "")
	over.Until = time.Now().Add(300 * time.Millisecond)
	for _, c := range []struct {
		name string
		turn registry.Turn
	}{
		{"late", of(registry.RankBacklog, "a")},
		{"a1", of(registry.RankWork, "a")},
		{"a2", of(registry.RankWork, "a")},
		{"b1", of(registry.RankWork, "b")},
		{"end", of(registry.RankFirst, "")},
	} {
		commit(c.name, c.turn, nil)
		time.Sleep(50 * time.Millisecond) // so that they come in this order; nothing tells that they wait
	}
	commit("over", over, registry.ErrNotSent)
	time.Sleep(time.Until(over.Until) + 50*time.Millisecond)
	var order []string
	for range 5 {
		allowed <- struct{}{}
		order = append(order, <-arrived)
	}
	close(allowed)
	all.Wait()
	require.Equal(t, []string{"end", "a1", "b1", "a2", "late"}, order)
}
