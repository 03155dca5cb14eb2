package zkcompat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// link is one session of ZooKeeper and the one client that has it. The client connects again by itself
// for as long as the server keeps the session. When that is gone it would ask for another; the link
// then lets no connection through any more, so that nothing that was meant for one session is ever
// done in the next.
type link struct {
	config Config
	clock  backend.SessionClock
	told   func(*link, zk.Event) // hears of all events, in their order; must not block
	hosts  *hosts
	conn   *zk.Conn
	events <-chan zk.Event
	quit   context.Context // ends when the link is dead
	end    context.CancelCauseFunc
	calls  sync.WaitGroup
	known  bool // the client says on each connection who it is; the keeper's goroutine uses it

	ephemerals *ephemerals // of the session

	zxid   atomic.Int64 // the newest transaction that an answer showed
	event  atomic.Int64 // the one of which the event is that the client is told next; 0 if the server does not say
	parted atomic.Bool  // the server confirmed that the session is closed

	mu      sync.Mutex
	wire    *wire  // the present connection
	id      int64  // of the session, as granted
	secret  string // that proves whose session it is
	ttl     time.Duration
	least   time.Duration // that any server has granted this handle; 0 = none has
	hailed  time.Duration // on clock: when the greeting was sent that got the present connection
	epoch   int           // counts the connections that got the session
	joined  bool          // the present connection has the session
	closed  bool
	failed  int           // tries to connect since the last success
	slow    int           // those of them that took all their time
	apart   time.Duration // on clock: since when there is no connection that has the session
	last    error         // what the last of them came to
	changed chan struct{}
}

func newLink(config Config, clock backend.SessionClock, told func(*link, zk.Event), least time.Duration) (*link, error) {
	l := &link{config: config, clock: clock, told: told, least: least, apart: clock(), changed: make(chan struct{})}
	l.ephemerals = newEphemerals(newNamespace(config.Namespace).base)
	l.quit, l.end = context.WithCancelCause(context.Background())
	l.hosts = &hosts{link: l}
	conn, events, err := zk.Connect(config.Servers, config.SessionTimeout,
		zk.WithDialer(l.dial), zk.WithHostProvider(l.hosts), zk.WithEventCallback(l.hear),
		zk.WithLogger(clientLog{config.Logger}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.conn, l.events = conn, events
	l.mu.Unlock()
	return l, nil
}

// hear is called by the client for every event, in the order in which the server sent them.
func (l *link) hear(e zk.Event) {
	if e.Type == zk.EventSession {
		switch e.State {
		case zk.StateHasSession:
			l.ephemerals.setLocal(false) // as far as is known
			l.change(func() { l.joined, l.failed, l.slow, l.last = true, 0, 0, nil; l.epoch++ })
		case zk.StateDisconnected:
			l.change(l.leave)
		case zk.StateExpired:
			l.die(fmt.Errorf("%w: the server dropped it: %w", registry.ErrSessionLost, zk.ErrSessionExpired))
		}
	}
	l.told(l, e)
}

func (l *link) change(what func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what()
	close(l.changed)
	l.changed = make(chan struct{})
}

// leave takes note that the connection is gone. The caller holds mu.
func (l *link) leave() {
	switch {
	case l.joined:
		l.joined, l.apart = false, l.clock()
	case l.wire != nil && !time.Now().Before(l.wire.greeting):
		l.slow++
	}
	l.dropWire()
}

func (l *link) dropWire() {
	if l.wire != nil {
		_ = l.wire.Close() // it is of no use any more
		l.wire = nil
	}
}

// renew has the client connect again; it is false if it has since. What is slower than a session is of no use, and a new
// connection may be quicker: what was held up on the old one is not in its way.
func (l *link) renew(epoch int) (renewed bool) {
	l.change(func() {
		if renewed = l.epoch == epoch && l.joined; renewed {
			l.leave()
		}
	})
	return renewed
}

// die makes the link useless for good.
func (l *link) die(reason error) {
	l.end(reason)
	l.change(l.leave)
}

// greet notes what the server granted. The session counts for the shortest time that any server has granted: one that is asked
// for it again has the leader cut it to what it grants itself, and its answer may get lost.
func (l *link) greet(w *wire, id int64, secret string, ttl time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id == 0 || l.wire != w {
		return
	}
	if l.least == 0 || ttl < l.least {
		l.least = ttl
	}
	l.id, l.secret, l.ttl, l.hailed = id, secret, l.least, w.sent
}

// see notes a transaction that the server knew of.
func (l *link) see(zxid int64) {
	for {
		old := l.zxid.Load()
		if zxid <= old || l.zxid.CompareAndSwap(old, zxid) {
			return
		}
	}
}

func (l *link) seen() registry.Revision { return registry.Revision(l.zxid.Load()) }

// dial connects for the client. It paces the tries, because the client itself would wait a second.
func (l *link) dial(network, address string, _ time.Duration) (net.Conn, error) {
	remote.Sleep(l.quit, l.pause())
	deadline := time.Now().Add(l.tryTime())
	ctx, cancel := context.WithDeadline(l.quit, deadline)
	defer cancel()
	conn, err := l.config.Dial(ctx, network, address)
	defer func() {
		if err != nil && conn != nil {
			_ = conn.Close()
		}
	}()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.quit.Err() != nil { // who ended the link found no connection to close
		err = context.Cause(l.quit)
	}
	l.failed++ // until the server says otherwise
	if err != nil {
		l.last = fmt.Errorf("connect to %s: %w", address, err)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			l.slow++
		}
		return nil, err
	}
	l.last = l.unanswered(address)
	l.wire = newWire(l, conn, deadline)
	_ = conn.SetReadDeadline(l.wire.greeting) // TLS reads before it writes the client's greeting, for which the client sets none
	return l.wire, nil
}

// pause returns how long to wait before the next try to connect. While the session may be saved, haste is right; then a server
// that lets nobody in, as it has no quorum, is asked once in two seconds.
func (l *link) pause() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mayBeSaved() {
		return remote.Backoff(l.failed)
	}
	longest := max(patientPause/time.Duration(len(l.config.Servers)), remote.MaxBackoff)
	return longest - rand.N(longest/4)
}

// mayBeSaved tells whether the session may be there yet, or whether nobody has tried for long to have the first. The caller
// holds mu.
func (l *link) mayBeSaved() bool { return l.clock()-l.apart < max(l.ttl, l.config.SessionTimeout) }

// tryTime returns how long one try to connect may take. A server that has just started, or is about to end, may take a
// connection and never answer on it. While there is a session to save, there has to be time for another try. But a server may
// also be slow, or be behind a name whose first address lets nobody in: after a try that took all its time, the next has twice
// as much.
func (l *link) tryTime() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ttl != 0 && l.mayBeSaved() {
		return min(l.config.DialTimeout, l.ttl/firstTry<<min(l.slow, mostSlow))
	}
	return l.config.DialTimeout
}

const (
	firstTry = 4 // has a fourth of the session's time
	mostSlow = 2 // tries, after which the next has all of it
)

// patientPause is how long each server is left alone, by one that was refused for longer than the session could last.
const patientPause = 2 * time.Second

// restoredAfter is after how many of the session's times, without one server that lets it in, that of a restored store
// is named as a cause: an election takes less.
const restoredAfter = 3

// unanswered is why a connection is of no use unless the server says more. The caller holds mu.
func (l *link) unanswered(address string) error {
	err := fmt.Errorf("connect to %s: no answer to the greeting: the server has no quorum, or no more connections for this "+
		"address (maxClientCnxns), or does not answer", address)
	if l.seen() != 0 && l.clock()-l.apart > restoredAfter*max(l.ttl, l.config.SessionTimeout) {
		err = fmt.Errorf("%w; if the store was restored from a backup, or wiped, it refuses whoever has seen later transactions "+
			"without a word, and all processes have to be restarted", err)
	}
	return err
}

// ready returns the number of the present connection, and whether there is one that has the session.
func (l *link) ready() (epoch int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch, l.joined && l.quit.Err() == nil
}

// await waits until the link has a connection with the session, is dead, or ctx ends. The error says why
// there is none.
func (l *link) await(ctx context.Context) error {
	for {
		l.mu.Lock()
		joined, changed, last := l.joined, l.changed, l.last
		l.mu.Unlock()
		if l.quit.Err() != nil {
			return context.Cause(l.quit) //nolint:contextcheck // why the link is dead
		}
		if joined {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if last != nil {
				return last
			}
			return context.Cause(ctx)
		}
	}
}

// granted returns the session's id and timeout.
func (l *link) granted() (int64, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id, l.ttl
}

// hailedAt returns when the server was asked for the session on the present connection.
func (l *link) hailedAt() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hailed
}

// present returns the connection of an epoch, or nil.
func (l *link) present(epoch int) *wire {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch != epoch || !l.joined {
		return nil
	}
	return l.wire
}

// introduced returns the present connection once its server knows all that the leader knew, and the client has said there
// who it is, which it does before all else. Only a sync proves that: the client has other answers before, to what it says
// again on a new connection, and they may come from a server that lags.
func (l *link) introduced(ctx context.Context) (*wire, error) {
	epoch, _ := l.ready()
	w := l.present(epoch)
	if w != nil && !w.synced.Load() {
		if err := l.sync(ctx); err != nil {
			return nil, err
		}
	}
	if w == nil || !w.synced.Load() { // else it was another connection that was answered
		return nil, zk.ErrConnectionClosed
	}
	return w, nil
}

// errLeft tells that the caller did not wait for the answer.
var errLeft = errors.New("the context ended before the answer came")

// ask makes a call of the client, which takes no context. When ctx ends first, the call goes on until
// the server answers or the connection breaks, and its result is thrown away.
func ask[T any](ctx context.Context, l *link, call func(*zk.Conn) (T, error)) (T, error) {
	value, _, err := askFor(ctx, l, call)
	return value, err
}

// askFor returns as well what tells that the call is over. It is nil if the call was never made, as if ctx had ended before.
func askFor[T any](ctx context.Context, l *link, call func(*zk.Conn) (T, error)) (value T, over <-chan struct{}, err error) {
	if ctx.Err() != nil {
		return value, nil, errLeft
	}
	type result struct {
		value T
		err   error
	}
	answer := make(chan result, 1) // for a caller that left
	if !l.begin() {
		return value, nil, zk.ErrClosing
	}
	ended := make(chan struct{})
	go func() {
		defer l.calls.Done()
		defer close(ended)
		value, err := call(l.conn)
		answer <- result{value, named(err)}
	}()
	select {
	case r := <-answer:
		return r.value, ended, r.err
	case <-ctx.Done():
		return value, ended, errLeft
	}
}

// begin counts a call, unless the link is being closed.
func (l *link) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.calls.Add(1)
	return true
}

// ballot has the servers commit a transaction that changes nothing, which takes a quorum of them, and waits until the server
// to which the link is connected has carried it out: it then knows all that was committed before the call. A leader that the
// others have deposed, and that has not noticed yet, can commit nothing; it answers everything else. The servers commit the
// transaction also if the client may not read what it checks, and it fails.
func (l *link) ballot(ctx context.Context) error {
	_, err := ask(ctx, l, func(c *zk.Conn) ([]zk.MultiResponse, error) {
		return c.Multi(&zk.CheckVersionRequest{Path: registry.Root, Version: -1})
	})
	if errors.Is(err, zk.ErrNoAuth) {
		return nil
	}
	return err
}

// sync waits until the server to which the link is connected knows all that the leader knew, or who takes himself for it.
func (l *link) sync(ctx context.Context) error {
	_, err := ask(ctx, l, func(c *zk.Conn) (string, error) { return c.Sync("/") })
	return err
}

// close ends the link. With a farewell, the server is asked to drop the session's nodes at once, until
// ctx ends or so much time has passed; the error tells that it did not confirm that.
func (l *link) close(ctx context.Context, endSession bool, limit time.Duration) error {
	if endSession && l.quit.Err() == nil {
		bound, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		_ = l.await(bound) // without a connection there is nobody to tell
		ctx = bound
	} else {
		endSession = false
		l.die(registry.ErrClosed)
	}
	stop := context.AfterFunc(ctx, func() { l.die(registry.ErrClosed) })
	defer stop()
	l.mu.Lock()
	l.closed = true // nobody comes in while the client goes
	l.mu.Unlock()
	l.conn.Close()
	l.die(registry.ErrClosed)
	for range l.events { // closed when the client's goroutines are gone
	}
	l.calls.Wait()
	if endSession {
		l.part(ctx)
	}
	if !endSession || l.parted.Load() {
		return nil
	}
	return fmt.Errorf("%w: the session's nodes stay until it times out: %w", registry.ErrUnavailable, context.Cause(ctx))
}

// hosts gives the client the servers in turn.
type hosts struct {
	link *link

	mu      sync.Mutex
	servers []string
	next    int
}

// Init implements [zk.HostProvider].
func (h *hosts) Init(servers []string) error {
	h.servers = servers
	return nil
}

// Len implements [zk.HostProvider].
func (h *hosts) Len() int { return len(h.servers) }

// Next implements [zk.HostProvider]. Its second result has the client wait a second and look whether it
// was closed, so it is true only when nothing can come of further tries.
func (h *hosts) Next() (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server := h.servers[h.next%len(h.servers)]
	h.next++
	return server, h.link.quit.Err() != nil
}

// Connected implements [zk.HostProvider].
func (h *hosts) Connected() {}

// clientLog passes on what the client says.
type clientLog struct{ log *slog.Logger }

// Printf implements [zk.Logger].
func (c clientLog) Printf(format string, args ...any) {
	if c.log.Enabled(context.Background(), slog.LevelDebug) {
		c.log.Debug("zookeeper client", slog.String("text", fmt.Sprintf(format, args...)))
	}
}
