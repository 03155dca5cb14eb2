package etcd_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// A server that is too old is refused; of one that is known to lose changes, the log says so once.
func TestOpenOfAnOldServer(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"3.5.12": "refused", "3.5.13": "warned", "3.5.17": "warned", "3.5.18": "", "3.6.0": ""} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			r, err := etcd.Open(t.Context(), etcd.Config{
				Endpoints: sharedServer(t).Endpoints(), Namespace: namespaceOf(t), DialTimeout: time.Minute,
				Logger: slog.New(slog.NewTextHandler(&log, nil)),
				DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(
					func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
						err := invoke(ctx, method, req, reply, conn, opts...)
						if status, is := reply.(*pb.StatusResponse); is {
							status.Version = version
						}
						return err
					},
				)},
			})
			if want == "refused" {
				require.ErrorIs(t, err, registry.ErrUnsupported)
				require.ErrorContains(t, err, "etcd "+version+", want 3.5.13 or later")
				return
			}
			require.NoError(t, err)
			require.NoError(t, r.Close(t.Context()))
			if want == "" {
				require.Empty(t, log.String())
				return
			}
			require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("\n")))
			for _, said := range []string{"level=WARN", `msg="etcd should be updated"`, "version=" + version, "advised=3.5.18", "reason="} {
				require.Contains(t, log.String(), said)
			}
		})
	}
}
