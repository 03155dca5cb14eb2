package etcdflags_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/tlstest"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// A cluster gets a new authority, which has signed what servers and clients show. Once the files are replaced, the next
// connection of a process goes by them.
func TestRenewedFilesAreTakenUp(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	ca, cert, key := dir+"/ca.pem", dir+"/client.pem", dir+"/client.key"
	serve := func(a *tlstest.Authority, options ...embedded.Option) *embedded.Server {
		t.Helper()
		a.Write(dir + "/server-ca.pem")
		a.Issue(dir+"/server.pem", dir+"/server.key", "server", "127.0.0.1")
		options = append(options, embedded.WithFastTest(), embedded.WithDir(data),
			embedded.WithTLS(dir+"/server.pem", dir+"/server.key", dir+"/server-ca.pem"))
		s, err := embedded.Start(t.Context(), options...)
		require.NoError(t, err)
		return s
	}
	renew := func(a *tlstest.Authority) {
		a.Write(ca)
		a.Issue(cert, key, "client", "127.0.0.1")
	}
	first, second := tlstest.New(t), tlstest.New(t)
	renew(first)
	server := serve(first)
	endpoint := server.Endpoints()[0]
	reg, err := parse(t, "--to", endpoint, "--to-ca", ca, "--to-cert", cert, "--to-key", key).Open(t.Context(), "renewed")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.WithoutCancel(t.Context()))) })
	get := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := reg.Get(ctx, registry.Root+"x")
		if errors.Is(err, registry.ErrNotFound) {
			return nil // that is an answer
		}
		return err
	}
	require.NoError(t, get(time.Minute))

	require.NoError(t, server.Close())
	at, err := url.Parse(endpoint)
	require.NoError(t, err)
	server = serve(second, embedded.WithAddress(at.Host))
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.Error(t, get(time.Second), "neither trusts the other yet")
	renew(second)
	require.NoError(t, get(time.Minute))
	_, err = reg.ServerTime(t.Context())
	require.NoError(t, err, "clocks are compared by the new authority, too")
}

// etcd's client goes by the first endpoint, and makes no TLS of http://, whatever files are named.
func TestFilesDoNotMakeTLSOfHTTP(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start(t.Context(), embedded.WithFastTest())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	ca := t.TempDir() + "/ca.pem"
	tlstest.New(t).Write(ca)
	reg, err := parse(t, "--to", server.Endpoints()[0], "--to-ca", ca).Open(t.Context(), "plain")
	require.NoError(t, err)
	require.NoError(t, reg.Close(t.Context()))
}
