package etcd_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

func TestServerTime(t *testing.T) {
	t.Parallel()
	r := open(t, sharedServer(t).Endpoints())
	requireServerTime(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.ServerTime(ctx)
	require.ErrorIs(t, err, registry.ErrUnavailable)
}

// requireServerTime requires that a store on this machine has this machine's time. It tells it in whole seconds.
func requireServerTime(t *testing.T, r *etcd.Registry) {
	t.Helper()
	before := time.Now()
	now, err := r.ServerTime(t.Context())
	require.NoError(t, err)
	require.WithinRange(t, now, before.Add(-2*time.Second), time.Now().Add(2*time.Second))
}

func TestServerTimeWhereHTTPIsElsewhere(t *testing.T) {
	t.Parallel()
	server := startServer(t, etcdserver.WithSeparateHTTP())
	r := open(t, server.Endpoints())
	_, err := r.ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnsupported)
}

func TestServerTimeOfAnotherMember(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	good := sharedServer(t).Endpoints()[0]
	// The client treats both as one cluster; only the clock is asked of here.
	r := open(t, server.Endpoints(), func(c *etcd.Config) { c.Endpoints = []string{server.Endpoints()[0], good[len("http://"):]} })
	server.Stop()
	_, err := r.ServerTime(t.Context())
	require.NoError(t, err, "an endpoint without a scheme is asked as well, after the one that is down")

	only := startServer(t)
	r = open(t, only.Endpoints())
	only.Stop()
	_, err = r.ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.NoError(t, only.Restart(t.Context()))
}
