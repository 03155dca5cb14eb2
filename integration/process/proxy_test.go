//go:build linux

package process_test

import (
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// proxy stands between a process and a member of the store, so that the network between the two can be
// cut: connections stay open then, and nothing comes through until it is healed.
type proxy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu    sync.Mutex
	open  chan struct{} // closed while the network works
	over  bool
	conns map[net.Conn]bool
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, target: target, open: make(chan struct{}), conns: make(map[net.Conn]bool)}
	close(p.open)
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// cut makes the network swallow what is sent.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// heal ends a cut. What was under way when it began arrives now.
func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.open)
}

// close ends the proxy and its connections. It must not be cut.
func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.over = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

// serve connects a client to the target, for as long as both want to.
func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	p.pass()
	server, err := net.Dial("tcp", p.target)
	if err != nil || !p.keep(client, server) {
		return
	}
	defer p.forget(client, server)
	p.wg.Go(func() { p.forward(server, client) })
	p.forward(client, server)
}

// forward copies until one side is gone, and then closes the other.
func (p *proxy) forward(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.pass()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits while the network is cut.
func (p *proxy) pass() {
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	<-open
}

// keep has connections closed with the proxy. It is false if that is closed already.
func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
	if p.over {
		for _, c := range conns {
			_ = c.Close()
		}
	}
	return !p.over
}

func (p *proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}

func TestProxySwallowsWhileItIsCut(t *testing.T) {
	t.Parallel()
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer echo.Close()
	go func() {
		for conn, err := echo.Accept(); err == nil; conn, err = echo.Accept() {
			go func() { _, _ = io.Copy(conn, conn); _ = conn.Close() }()
		}
	}()
	p := startProxy(t, echo.Addr().String())
	conn, err := net.Dial("tcp", p.address())
	require.NoError(t, err)
	defer conn.Close()
	say := func(word string) { _, err := io.WriteString(conn, word); require.NoError(t, err) }
	hear := func(length int) (string, error) {
		text := make([]byte, length)
		_, err := io.ReadFull(conn, text)
		return string(text), err
	}
	say("one")
	text, err := hear(3)
	require.NoError(t, err)
	require.Equal(t, "one", text)

	p.cut()
	say("two")
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = hear(1)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, conn.SetReadDeadline(time.Time{}))
	p.heal()
	text, err = hear(3)
	require.NoError(t, err)
	require.Equal(t, "two", text)
}
