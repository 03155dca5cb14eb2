// Package proxy stands between clients and a server in tests, so that a test can break the network
// between the two: swallow what is sent, in both directions or in one, delay it, lose some of it, or
// close connections.
//
// A [Proxy] is itself the [Network] of all its clients. One that was started with [StartNamed] tells
// its clients apart and has a network for each beside it, so that a test can part some members of a
// cluster from others.
package proxy

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy forwards TCP connections to one server. Its methods may be called concurrently.
type Proxy struct {
	Network

	listener net.Listener
	target   string
	patient  bool                      // waits for the target
	name     func(first []byte) string // nil: clients are not told apart
	ctx      context.Context           // ends with the test
	stop     context.CancelFunc
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // whether it is a client's
	named map[string]*Network
}

// Start starts a proxy to the server at target, "host:port". It ends with the test.
func Start(tb testing.TB, target string) *Proxy {
	tb.Helper()
	return start(tb, &Proxy{target: target})
}

// StartPatient is Start for a server that may not be there yet: whoever connects waits for it.
func StartPatient(tb testing.TB, target string) *Proxy {
	tb.Helper()
	return start(tb, &Proxy{target: target, patient: true})
}

// StartNamed is Start for clients that say who they are: name reads that from the first that a client
// sends. The server must not be the one to speak first.
func StartNamed(tb testing.TB, target string, name func(first []byte) string) *Proxy {
	tb.Helper()
	return start(tb, &Proxy{target: target, name: name})
}

func start(tb testing.TB, p *Proxy) *Proxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p.listener, p.conns, p.named = listener, make(map[net.Conn]bool), make(map[string]*Network)
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.wg.Go(p.accept)
	tb.Cleanup(p.close)
	return p
}

// Address returns "host:port" of the proxy.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// From returns the network of the clients of one name. It counts beside that of all.
func (p *Proxy) From(name string) *Network {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.named[name] == nil {
		p.named[name] = new(Network)
	}
	return p.named[name]
}

// Break closes every connection. New ones work.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// HangUp closes the clients' ends of every connection. While the network is cut, the server does not hear of that.
func (p *Proxy) HangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, client := range p.conns {
		if client {
			_ = c.Close()
		}
	}
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.stop()
	p.Break()
	p.wg.Wait()
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
	defer client.Close() //nolint:errcheck // a test that breaks connections does not care
	if !p.keep(client, true) {
		return
	}
	defer p.drop(client)
	link := &link{ctx: p.ctx, networks: []*Network{&p.Network}}
	var first []byte
	if p.name != nil {
		first = make([]byte, buffer)
		n, err := client.Read(first)
		if err != nil {
			return
		}
		first = first[:n]
		link.networks = append(link.networks, p.From(p.name(first)))
	}
	sent := link.read(client)
	defer sent.stop()
	if !link.pass(up) {
		return
	}
	server, err := net.Dial("tcp", p.target)
	for ; err != nil && p.patient && link.sleep(retransmit/4); server, err = net.Dial("tcp", p.target) {
	}
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // as above
	if !p.keep(server, false) {
		return
	}
	defer p.drop(server)
	if _, err := server.Write(first); err != nil {
		return
	}
	p.wg.Go(func() {
		answers := link.read(server)
		defer answers.stop()
		link.deliver(client, answers, down)
	})
	link.deliver(server, sent, up)
}

// keep has the connection closed with the proxy. It is false if that is closed already.
func (p *Proxy) keep(c net.Conn, client bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = client
	return p.ctx.Err() == nil
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

const (
	buffer = 32 << 10 // bytes that are read at once
	queue  = 64       // of those may be under way in one direction of a connection
	recent = 1 << 10  // bytes of what came before are looked at again, for texts that came in two parts
)

// link is what a connection goes through.
type link struct {
	ctx      context.Context
	networks []*Network
}

// parcel is something that is under way.
type parcel struct {
	bytes []byte
	due   time.Time
	err   error // that the sender ended with, after the bytes
}

// stream is what one side of a connection sends. It is read at once, so that [Network.Sees] sees it,
// whether or not it may arrive.
type stream struct {
	from   net.Conn
	sent   chan parcel // closed after the last
	over   chan struct{}
	reader sync.WaitGroup
}

func (l *link) read(from net.Conn) *stream {
	s := &stream{from: from, sent: make(chan parcel, queue), over: make(chan struct{})}
	s.reader.Go(func() { l.fill(s) })
	return s
}

// stop closes the connection that the stream is read from.
func (s *stream) stop() {
	close(s.over)
	_ = s.from.Close()
	s.reader.Wait()
}

// deliver sends on what a stream holds until one side closes, and closes the other.
func (l *link) deliver(to net.Conn, s *stream, d direction) {
	defer to.Close() //nolint:errcheck // as in serve
	for parcel := range s.sent {
		if !l.sleep(time.Until(parcel.due)) || !l.pass(d) {
			return
		}
		if _, err := to.Write(parcel.bytes); err != nil || parcel.err != nil {
			return
		}
	}
}

// fill sends what comes from a connection on its way, until that ends or nobody takes it any more.
func (l *link) fill(s *stream) {
	defer close(s.sent)
	var free time.Time // until then what was lost holds the rest up
	var last []byte    // what was sent
	for {
		bytes := make([]byte, buffer)
		n, err := s.from.Read(bytes)
		now := time.Now()
		last = append(last[max(0, len(last)-recent):], bytes[:n]...)
		for _, network := range l.networks {
			network.note(last)
		}
		delay, stall := l.transit()
		if free.Before(now) {
			free = now
		}
		if free = free.Add(stall); free.After(now.Add(mostAgain)) {
			free = now.Add(mostAgain)
		}
		select {
		case s.sent <- parcel{bytes: bytes[:n], due: free.Add(delay), err: err}:
		case <-s.over:
			return
		}
		if err != nil {
			return
		}
	}
}

func (l *link) transit() (delay, stall time.Duration) {
	for _, n := range l.networks {
		d, s := n.transit()
		delay, stall = delay+d, stall+s
	}
	return delay, stall
}

// pass waits until no network of the link is cut in a direction. It is false when the test is over.
func (l *link) pass(d direction) bool {
	for _, n := range l.networks {
		if !n.pass(l.ctx, d) {
			return false
		}
	}
	return true
}

func (l *link) sleep(d time.Duration) bool {
	if d <= 0 {
		return l.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.ctx.Done():
		return false
	}
}
