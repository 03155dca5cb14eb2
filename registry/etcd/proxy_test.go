package etcd_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/proxy"
)

// wire is the network between a handle and a server, and may be broken.
type wire struct{ *proxy.Proxy }

// newProxy starts a proxy to an endpoint and returns it.
func newProxy(tb testing.TB, endpoint string) *wire {
	tb.Helper()
	target, err := url.Parse(endpoint)
	require.NoError(tb, err)
	return &wire{proxy.Start(tb, target.Host)}
}

func (w *wire) endpoint() string { return "http://" + w.Address() }
