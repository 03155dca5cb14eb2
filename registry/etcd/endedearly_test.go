package etcd_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// A transaction that was done, and whose call something on the way ends before its time, counts as one without an answer:
// etcd's client must not send it again by itself.
func TestACallThatIsEndedBeforeItsTime(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.DeadlineExceeded, codes.Canceled, codes.Unavailable} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			var ends atomic.Bool
			var sent atomic.Int64
			r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
				c.RequestTimeout = steadyTTL / 2
				c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(
					func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
						err := invoke(ctx, method, req, reply, conn, opts...)
						if !writes(req) {
							return err
						}
						sent.Add(1)
						if ends.CompareAndSwap(true, false) {
							return status.Error(code, "ended on the way")
						}
						return err
					},
				))
			})
			before := put(t, r, "/guarded", "1")

			sent.Store(0)
			ends.Store(true)
			_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/once", "1")}})
			require.ErrorIs(t, err, registry.ErrUnknownOutcome)
			require.Equal(t, int64(1), sent.Load())

			sent.Store(0)
			ends.Store(true)
			revision, err := r.Commit(t.Context(), registry.Txn{
				If:   []registry.Condition{registry.Unchanged("/guarded", before)},
				Then: []registry.Write{registry.Put("/guarded", "2")},
			})
			require.NoError(t, err, "the conflict is with what the first try did")
			require.Equal(t, int64(2), sent.Load())
			guarded, err := r.Get(t.Context(), "/guarded")
			require.NoError(t, err)
			require.Equal(t, guarded.Revision, revision)
		})
	}
}
