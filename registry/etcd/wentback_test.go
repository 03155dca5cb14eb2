package etcd_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// answers does something with what the store answers to reads and writes, once it is set.
func answers(do *atomic.Pointer[func(*pb.ResponseHeader)]) grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			err := invoke(ctx, method, req, reply, conn, opts...)
			if with := do.Load(); err == nil && with != nil {
				switch r := reply.(type) {
				case *pb.RangeResponse:
					(*with)(r.Header)
				case *pb.TxnResponse:
					(*with)(r.Header)
				}
			}
			return err
		},
	)
}

// A store that was emptied, or restored from a backup, answers with revisions before those that the process has seen. The log
// says so, once.
func TestAStoreThatWentBack(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(ctx context.Context, r *etcd.Registry) error{
		"get":      func(ctx context.Context, r *etcd.Registry) error { _, err := r.Get(ctx, "/a"); return err },
		"list":     func(ctx context.Context, r *etcd.Registry) error { _, _, err := r.List(ctx, "/a"); return err },
		"children": func(ctx context.Context, r *etcd.Registry) error { _, err := r.Children(ctx, "/"); return err },
		"commit": func(ctx context.Context, r *etcd.Registry) error {
			_, err := r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", "2")}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 16)}
			var with atomic.Pointer[func(*pb.ResponseHeader)]
			r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
				c.Logger, c.DialOptions = slog.New(log), []grpc.DialOption{answers(&with)}
				c.RequestTimeout = steadyTTL / 2
			})
			put(t, r, "/a", "1")
			require.NoError(t, ask(t.Context(), r))
			require.Empty(t, log.records)
			back := func(h *pb.ResponseHeader) { h.Revision = 1 }
			with.Store(&back)
			require.NoError(t, ask(t.Context(), r))
			require.NoError(t, ask(t.Context(), r))
			line := <-log.records
			require.NoError(t, r.Close(t.Context()))
			require.Empty(t, log.records, "once")
			require.Equal(t, "the store has gone back to an earlier revision", line.Message)
			require.Equal(t, slog.LevelError, line.Level)
		})
	}
}

// Of two answers, the later one may be older.
func TestAnAnswerThatIsOvertakenIsNotOfAStoreThatWentBack(t *testing.T) {
	t.Parallel()
	log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 16)}
	var with atomic.Pointer[func(*pb.ResponseHeader)]
	r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.Logger, c.DialOptions, c.RequestTimeout = slog.New(log), []grpc.DialOption{answers(&with)}, time.Minute
	})
	put(t, r, "/a", "1")
	came, goOn := make(chan bool), make(chan bool)
	hold := func(*pb.ResponseHeader) {
		with.Store(nil)
		close(came)
		<-goOn
	}
	with.Store(&hold)
	read := make(chan error, 1)
	go func() {
		_, err := r.Get(t.Context(), "/a")
		read <- err
	}()
	<-came
	put(t, r, "/a", "2")
	close(goOn)
	require.NoError(t, <-read)
	require.Empty(t, log.records)
}
