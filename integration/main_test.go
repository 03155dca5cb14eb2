package integration_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry/etcd"
)

// server is the etcd that all tests share, each in a namespace of its own.
var server *etcdserver.Server

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	server, err = etcdserver.Start(context.Background(), etcdserver.WithFastTest())
	if err != nil {
		fmt.Fprintln(os.Stderr, "start etcd:", err)
		return 1
	}
	code := m.Run()
	if err := server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "close etcd:", err)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// open returns a handle on the test's own namespace of the shared server.
func open(t *testing.T, options ...grpc.DialOption) *etcd.Registry {
	t.Helper()
	reg, err := etcd.Open(t.Context(), etcd.Config{
		Endpoints: server.Endpoints(), Namespace: strings.ReplaceAll(t.Name(), "/", "-"),
		SessionTTL: time.Minute, DialTimeout: time.Minute, DialOptions: options, // none ends on a busy machine
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	return reg
}
