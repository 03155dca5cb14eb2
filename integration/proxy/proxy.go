package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy forwards TCP connections to one server. Its methods may be called concurrently.
type Proxy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu    sync.Mutex
	open  *sync.Cond // wakes those who wait for the cut to heal
	cut   bool
	done  bool
	conns map[net.Conn]bool
}

// Start starts a proxy to the server at target, "host:port". It ends with the test.
func Start(tb testing.TB, target string) *Proxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{listener: listener, target: target, conns: make(map[net.Conn]bool)}
	p.open = sync.NewCond(&p.mu)
	p.wg.Go(p.accept)
	tb.Cleanup(p.close)
	return p
}

// Address returns "host:port" of the proxy.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cut makes the network hang: connections stay open, nothing gets through in either direction.
func (p *Proxy) Cut() { p.set(func() { p.cut = true }) }

// Heal ends a cut. What was under way when it began arrives now.
func (p *Proxy) Heal() { p.set(func() { p.cut = false }) }

// Break closes every connection. New ones work.
func (p *Proxy) Break() {
	p.set(func() {
		for c := range p.conns {
			_ = c.Close()
		}
	})
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.set(func() { p.done = true })
	p.Break()
	p.wg.Wait()
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.open.Broadcast()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

// serve connects a client to the target for as long as both want to.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // a test that breaks connections wants no more of it
	if !p.pass() {
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // as above
	if !p.keep(client, server) {
		return
	}
	defer p.set(func() { delete(p.conns, client); delete(p.conns, server) })
	p.wg.Go(func() { p.forward(server, client) })
	p.forward(client, server)
}

// keep has the connections closed with the proxy. It is false if that is closed already.
func (p *Proxy) keep(client, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[client], p.conns[server] = true, true
	return !p.done
}

// forward copies until one side closes, and closes the other.
func (p *Proxy) forward(to, from net.Conn) {
	defer to.Close() //nolint:errcheck // as above
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
func (p *Proxy) pass() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.cut && !p.done {
		p.open.Wait()
	}
	return !p.done
}
