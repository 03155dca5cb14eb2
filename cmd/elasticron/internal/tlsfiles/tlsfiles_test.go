package tlsfiles_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tlsfiles"
	"github.com/elasticron/elasticron/internal/tlstest"
)

// meet connects a client and a server once, and returns what each saw of the other.
func meet(t *testing.T, client, server *tls.Config) (seenByClient, seenByServer string, err error) {
	t.Helper()
	near, far := pipe(t)
	seen := make(chan string, 1)
	go func() {
		s := tls.Server(far, server)
		defer func() { _ = far.Close() }()
		if s.HandshakeContext(t.Context()) != nil {
			seen <- "failed"
			return
		}
		seen <- nameOf(s.ConnectionState())
		_, _ = s.Write([]byte("x"))
	}()
	defer func() { _ = near.Close() }()
	c := tls.Client(near, client)
	// In TLS 1.3, a client learns from the first byte whether its certificate is accepted.
	_, err = c.Read(make([]byte, 1))
	return nameOf(c.ConnectionState()), <-seen, err
}

// pipe is a connection that has buffers, which net.Pipe has not: both sides of TLS may write at once.
func pipe(t *testing.T) (near, far net.Conn) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	near, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	far, err = listener.Accept()
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return near, far
}

func nameOf(s tls.ConnectionState) string {
	if len(s.PeerCertificates) == 0 {
		return ""
	}
	return s.PeerCertificates[0].Subject.CommonName
}

func TestARenewedPairIsTakenUp(t *testing.T) {
	t.Parallel()
	a, dir := tlstest.New(t), t.TempDir()
	cert, key := dir+"/tls.crt", dir+"/tls.key"
	a.Issue(cert, key, "first", "127.0.0.1")
	var lines bytes.Buffer
	pair, err := tlsfiles.NewPair(cert, key, slog.New(slog.NewTextHandler(&lines, nil)))
	require.NoError(t, err)
	// The pair is shown by both sides here.
	server := &tls.Config{GetCertificate: pair.Server, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.Pool(), MinVersion: tls.VersionTLS12}
	client := &tls.Config{GetClientCertificate: pair.Client, RootCAs: a.Pool(), ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
	is := func(name string) {
		t.Helper()
		byClient, byServer, err := meet(t, client, server)
		require.NoError(t, err)
		require.Equal(t, name, byClient)
		require.Equal(t, name, byServer)
	}
	is("first")
	require.Empty(t, lines.String())

	newCert, newKey := dir+"/new.crt", dir+"/new.key"
	a.Issue(newCert, newKey, "second", "127.0.0.1")
	text, err := os.ReadFile(newCert)
	require.NoError(t, err)
	const warning = "renewed TLS files cannot be used, the last good ones stay in use"
	require.NoError(t, os.WriteFile(cert, text[:len(text)/2], 0o600))
	is("first") // half of it is written
	require.NoError(t, os.WriteFile(cert, text, 0o600))
	is("first") // its key is missing
	require.NoError(t, os.Remove(key))
	is("first")
	require.Equal(t, 1, strings.Count(lines.String(), warning), "one line, however many connections: %s", &lines)
	require.NoError(t, os.Rename(newKey, key))
	is("second")
	is("second")
	require.Equal(t, 1, strings.Count(lines.String(), "renewed TLS files are in use"))

	require.NoError(t, os.Remove(key))
	is("second")
	require.Equal(t, 2, strings.Count(lines.String(), warning), "a second fault is told, too")
}

// Servers that would like a certificate, but of others, are shown none, as by a config that holds its certificates.
func TestACertificateThatDoesNotFitIsNotShown(t *testing.T) {
	t.Parallel()
	a, dir := tlstest.New(t), t.TempDir()
	a.Issue(dir+"/s.crt", dir+"/s.key", "server", "127.0.0.1")
	served, err := tls.LoadX509KeyPair(dir+"/s.crt", dir+"/s.key")
	require.NoError(t, err)
	tlstest.New(t).Issue(dir+"/c.crt", dir+"/c.key", "client", "127.0.0.1")
	pair, err := tlsfiles.NewPair(dir+"/c.crt", dir+"/c.key", nil)
	require.NoError(t, err)
	server := &tls.Config{Certificates: []tls.Certificate{served}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: a.Pool(), MinVersion: tls.VersionTLS12}
	client := &tls.Config{GetClientCertificate: pair.Client, RootCAs: a.Pool(), ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
	byClient, byServer, err := meet(t, client, server)
	require.NoError(t, err)
	require.Equal(t, "server", byClient)
	require.Empty(t, byServer)
}

func TestRenewedAuthoritiesAreTakenUp(t *testing.T) {
	t.Parallel()
	a, b, ca := tlstest.New(t), tlstest.New(t), t.TempDir()+"/ca.pem"
	a.Write(ca)
	roots, err := tlsfiles.NewRoots(ca, nil)
	require.NoError(t, err)
	require.True(t, roots.Pool().Equal(a.Pool()))
	b.Write(ca)
	require.True(t, roots.Pool().Equal(b.Pool()), "an authority that is taken away is trusted no more")
	require.NoError(t, os.WriteFile(ca, nil, 0o600))
	require.True(t, roots.Pool().Equal(b.Pool()), "the last good ones stay, and an empty file trusts nobody else")
}
