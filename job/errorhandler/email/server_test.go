package email_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// letter is what a server was handed.
type letter struct {
	from string
	to   []string
	text string
}

// post is an SMTP server of a test. With a password it takes mail from nobody else.
type post struct {
	password string
	letters  chan letter
}

// session is one connection of a client.
type session struct {
	post    *post
	known   bool
	current letter
}

var _ smtp.AuthSession = (*session)(nil)

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "me" || password != s.post.password {
			return smtp.ErrAuthFailed
		}
		s.known = true
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.post.password != "" && !s.known {
		return smtp.ErrAuthRequired
	}
	s.current.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.current.to = append(s.current.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.current.text = string(text)
	s.post.letters <- s.current
	return err
}

func (s *session) Reset()        { s.current = letter{} }
func (s *session) Logout() error { return nil }

// open starts a server on a port of this machine, with TLS from the first byte if secure is set.
func open(t *testing.T, password string, secure bool) (p *post, port string) {
	t.Helper()
	p = &post{password: password, letters: make(chan letter, 1)}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{post: p}, nil }))
	server.Domain, server.AllowInsecureAuth = "localhost", true
	server.ErrorLog = silent{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	if secure {
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate(t)}, MinVersion: tls.VersionTLS12})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until it is closed
	}()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		<-done
	})
	return p, port
}

// behind starts what takes TLS off and hands on to a server that has none, and which offers STARTTLS and cannot do it.
func behind(t *testing.T, password string) (p *post, port string) {
	t.Helper()
	p = &post{password: password, letters: make(chan letter, 1)}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{post: p}, nil }))
	server.Domain, server.AllowInsecureAuth = "localhost", true
	server.ErrorLog = silent{}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12} // without a certificate
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate(t)}, MinVersion: tls.VersionTLS12})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(bare{listener}) // until it is closed
	}()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		<-done
	})
	return p, port
}

// bare is a listener whose connections do not show that they have TLS.
type bare struct{ net.Listener }

func (b bare) Accept() (net.Conn, error) {
	conn, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return struct{ net.Conn }{conn}, nil
}

// silentAt starts a server that takes any mail, and falls silent when it is told a word. silent is closed then.
func silentAt(t *testing.T, word string, secure bool) (silent <-chan struct{}, port string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	if secure {
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate(t)}, MinVersion: tls.VersionTLS12})
	}
	told, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		answer := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") } // the client may be gone
		answer("220 localhost")
		inData, mute := false, false
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			switch line := lines.Text(); {
			case mute, inData && line != ".":
			case strings.HasPrefix(line, word):
				mute = true
				close(told)
			case line == "DATA":
				inData = true
				answer("354 go on")
			default:
				inData = false
				answer("250 yes")
			}
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		<-done
	})
	return told, port
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// certificate makes one that nobody has signed but itself.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
