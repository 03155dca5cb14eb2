package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/tlstest"
)

// Every connection is checked against the authorities of its moment, and the server's name is checked, too.
func TestEachConnectionAsksForTheAuthorities(t *testing.T) {
	t.Parallel()
	a, b, dir := tlstest.New(t), tlstest.New(t), t.TempDir()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	var trusted *x509.CertPool
	creds := (&freshRoots{config: Config{
		TLS:     &tls.Config{RootCAs: a.Pool(), MinVersion: tls.VersionTLS12},
		RootCAs: func() (*x509.CertPool, error) { return trusted, nil },
	}})
	connect := func(by *tlstest.Authority, host, asked string) error {
		t.Helper()
		by.Issue(dir+"/s.crt", dir+"/s.key", "server", host)
		pair, err := tls.LoadX509KeyPair(dir+"/s.crt", dir+"/s.key")
		require.NoError(t, err)
		near, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
		require.NoError(t, err)
		defer func() { _ = near.Close() }()
		far, err := listener.Accept()
		require.NoError(t, err)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer func() { _ = far.Close() }()
			_ = tls.Server(far, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}).HandshakeContext(t.Context())
		}()
		_, _, err = creds.ClientHandshake(t.Context(), asked, near)
		_ = near.Close()
		<-ended
		return err
	}
	var unknown x509.UnknownAuthorityError
	var other x509.HostnameError
	for _, host := range []string{"127.0.0.1", "etcd1.internal"} {
		trusted = a.Pool()
		require.NoError(t, connect(a, host, host+":2379"))
		require.ErrorAs(t, connect(b, host, host+":2379"), &unknown)
		trusted = b.Pool()
		require.NoError(t, connect(b, host, host+":2379"))
		require.ErrorAs(t, connect(a, host, host+":2379"), &unknown, "an authority that is taken away is trusted no more")
		require.ErrorAs(t, connect(b, host, "127.0.0.2:2379"), &other, "the name is checked, and so is an address")
		require.ErrorAs(t, connect(b, host, "etcd2.internal:2379"), &other)
	}
	trusted = nil
	require.ErrorAs(t, connect(b, "127.0.0.1", "127.0.0.1:2379"), &unknown, "the system's, and not those of TLS")
	require.ErrorAs(t, connect(a, "127.0.0.1", "127.0.0.1:2379"), &unknown)
}
