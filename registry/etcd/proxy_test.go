package etcd_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy stands between a handle and a server, so that a test can break the network between them.
type proxy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu    sync.Mutex
	open  *sync.Cond // wakes those who wait for the cut to heal
	cut   bool
	done  bool
	conns map[net.Conn]bool
}

// newProxy starts a proxy to an endpoint and returns it.
func newProxy(tb testing.TB, endpoint string) *proxy {
	tb.Helper()
	target, err := url.Parse(endpoint)
	require.NoError(tb, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	p := &proxy{listener: listener, target: target.Host, conns: make(map[net.Conn]bool)}
	p.open = sync.NewCond(&p.mu)
	p.wg.Go(p.accept)
	tb.Cleanup(p.close)
	return p
}

func (p *proxy) endpoint() string { return "http://" + p.listener.Addr().String() }

// Cut makes the network hang: connections stay open, nothing gets through.
func (p *proxy) Cut() { p.set(func() { p.cut = true }) }

// Heal ends a cut. What was underway when it began arrives now.
func (p *proxy) Heal() { p.set(func() { p.cut = false }) }

// Break closes every connection. New ones work.
func (p *proxy) Break() {
	p.set(func() {
		for c := range p.conns {
			_ = c.Close()
		}
	})
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.set(func() { p.done = true })
	p.Break()
	p.wg.Wait()
}

func (p *proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.open.Broadcast()
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

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	if !p.pass() {
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	p.set(func() { p.conns[client], p.conns[server] = true, true })
	defer p.set(func() { delete(p.conns, client); delete(p.conns, server) })
	p.wg.Go(func() { p.forward(server, client) })
	p.forward(client, server)
}

// forward copies until one side closes, and closes the other.
func (p *proxy) forward(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if !p.pass() || err != nil && !errors.Is(err, io.EOF) {
			return
		}
		if _, werr := to.Write(buffer[:n]); werr != nil || err != nil {
			return
		}
	}
}

// pass waits while the network is cut. It is false when the test is over.
func (p *proxy) pass() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.cut && !p.done {
		p.open.Wait()
	}
	return !p.done
}
