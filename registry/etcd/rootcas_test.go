package etcd_test

import (
	"context"
	"crypto/x509"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/internal/tlstest"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// A cluster gets a new authority. What connects later goes by those that the application trusts by then: requests, and the
// comparison of clocks.
func TestRenewedAuthorities(t *testing.T) {
	t.Parallel()
	first, second, dir := tlstest.New(t), tlstest.New(t), t.TempDir()
	first.Issue(dir+"/server.pem", dir+"/server.key", "server", "127.0.0.1")
	server := startServer(t, etcdserver.WithTLS(dir+"/server.pem", dir+"/server.key", ""))
	var trusted atomic.Pointer[x509.CertPool]
	trusted.Store(first.Pool())
	errNone := errors.New("the authorities are not to be had")
	roots := func() (*x509.CertPool, error) {
		pool := trusted.Load()
		if pool == nil {
			return nil, errNone
		}
		return pool, nil
	}
	r := open(t, server.Endpoints(), func(c *etcd.Config) { c.RootCAs = roots })
	get := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := r.Get(ctx, "/a")
		return err
	}
	put(t, r, "/a", "1")
	requireServerTime(t, r)

	server.Stop()
	second.Issue(dir+"/server.pem", dir+"/server.key", "server", "127.0.0.1")
	require.NoError(t, server.Restart(t.Context()))
	require.ErrorIs(t, get(time.Second), registry.ErrUnavailable)
	_, err := r.ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, "certificate signed by unknown authority")

	trusted.Store(second.Pool())
	requireServerTime(t, r)
	require.NoError(t, get(time.Minute))

	trusted.Store(nil)
	require.NoError(t, get(time.Minute), "connections stay")
	_, err = r.ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorIs(t, err, errNone)
	err = refuseToOpen(t, etcd.Config{Endpoints: server.Endpoints(), RootCAs: roots})
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, errNone.Error())

	trusted.Store(second.Pool())
	bare := []string{server.Endpoints()[0][len("https://"):]}
	put(t, open(t, bare, func(c *etcd.Config) { c.RootCAs = roots }), "/a", "2") // authorities alone make it TLS
}

// Nobody is asked for authorities where no TLS is.
func TestAuthoritiesDoNotMakeTLSOfHTTP(t *testing.T) {
	t.Parallel()
	r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.RootCAs = func() (*x509.CertPool, error) { return nil, errors.New("asked") }
	})
	put(t, r, "/a", "1")
	requireServerTime(t, r)
}
