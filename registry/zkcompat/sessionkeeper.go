package zkcompat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// errBroken is why there is no connection before anybody has tried to have another.
var errBroken = errors.New("the connection to the server broke")

// errSlow is why a connection is replaced that is not broken.
var errSlow = errors.New("the servers committed nothing while the session lasted")

// proofs is how often a session is proved within its timeout. Two thirds of it without one suspend it.
const proofs = 6

// mostDoublings bounds how long a connection is given after others were replaced: 32 sessions' times.
const mostDoublings = 5

// sessionKeeper gives the handle its links and sessions, one after the other, and proves each session alive
// a sixth of its timeout after the last proof. A proof is what the servers committed for it: an own write, or else a ballot. A
// quorum that commits what was sent has not followed another leader before, which would have ended the session that long after.
// Nothing else proves anything: a server that has lost touch with the others answers pings, and a leader that the others have
// deposed without its knowledge syncs and greets as ever.
type sessionKeeper struct {
	r     *Registry
	clock backend.SessionClock
	wg    sync.WaitGroup
	wake  chan struct{} // holds one

	// replaced is how many connections were too slow, one after the other. The goroutine that runs the keeper uses it.
	replaced int

	mu        sync.Mutex
	closed    bool
	link      *link // nil before the first, and between two
	proved    bool  // it may be used
	session   *registry.Session
	control   *backend.SessionControl
	published chan struct{} // closed and replaced with every change of the fields above
	proof     proof         // the newest one
	last      error         // what the last try to have a link came to
	least     time.Duration // that a server has granted; 0 = none has granted any
	// forsaken are the sessions that were given up here without a word of the server that they are over. It may still
	// do what was sent in them.
	forsaken map[registry.SessionID]bool
}

// proof tells by which connection, and when it was sent, what the servers have committed for a session.
type proof struct {
	link  *link
	epoch int
	sent  time.Duration // on the keeper's clock
}

func newSessionKeeper(r *Registry) *sessionKeeper {
	return &sessionKeeper{
		r: r, clock: remote.NewClock(), wake: make(chan struct{}, 1), published: make(chan struct{}),
		forsaken: make(map[registry.SessionID]bool),
	}
}

// Session implements [registry.Sessioner].
func (r *Registry) Session(ctx context.Context) (*registry.Session, error) {
	s, err := r.keeper.current(ctx)
	return s, r.opError(registry.OpSession, "", err)
}

// current returns the session in force.
func (k *sessionKeeper) current(ctx context.Context) (*registry.Session, error) {
	_, session, err := k.await(ctx, func(_ *link, s *registry.Session) bool { return s != nil && s.Err() == nil })
	return session, err
}

// usable returns the link when it has a connection.
func (k *sessionKeeper) usable(ctx context.Context) (*link, error) {
	for {
		l, _, err := k.await(ctx, func(l *link, _ *registry.Session) bool { return l != nil })
		if err != nil {
			return nil, err
		}
		waiting, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(l.quit, cancel) //nolint:contextcheck // the link outlives the call
		err = l.await(waiting)
		stop()
		cancel()
		if err == nil {
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, remote.GivenUp(ctx, registry.ErrUnavailable, err)
		}
		remote.Sleep(ctx, remote.FirstBackoff) // the keeper is about to have another link
	}
}

// await waits until a link that may be used and its session are as wanted.
func (k *sessionKeeper) await(ctx context.Context, wanted func(*link, *registry.Session) bool) (*link, *registry.Session, error) {
	for {
		k.mu.Lock()
		l, s, published := k.link, k.session, k.published
		if !k.proved {
			l = nil
		}
		k.mu.Unlock()
		if k.r.life.Err() != nil {
			return nil, nil, registry.ErrClosed
		}
		if ctx.Err() == nil && wanted(l, s) {
			return l, s, nil
		}
		select {
		case <-published:
		case <-k.r.life.Done():
		case <-ctx.Done():
			return nil, nil, remote.GivenUp(ctx, registry.ErrUnavailable, k.failure())
		}
	}
}

// present returns the link that may be used, connected or not, and its connection's number.
func (k *sessionKeeper) present() (l *link, epoch int, ok bool) {
	k.mu.Lock()
	l = k.link
	proved := k.proved
	k.mu.Unlock()
	if l == nil || !proved {
		return nil, 0, false
	}
	epoch, ok = l.ready()
	return l, epoch, ok
}

// hear takes in the states of a link.
func (k *sessionKeeper) hear(l *link, state zk.State) {
	k.mu.Lock()
	control := k.control
	if k.link != l {
		control = nil
	}
	k.mu.Unlock()
	if state == zk.StateHasSession {
		k.granted(l)
	}
	if control != nil {
		switch state {
		case zk.StateHasSession:
			k.shortened(l) // else it goes on for as long as it was proved to: the greeting may be that of a deposed leader
		case zk.StateDisconnected:
			control.Suspend()
		case zk.StateExpired:
			control.Lose(context.Cause(l.quit))
		}
	}
	k.wakeUp()
}

// shortest returns the shortest time that a server has granted; 0 = none has granted any.
func (k *sessionKeeper) shortest() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.least
}

// granted takes note of what a server has granted.
func (k *sessionKeeper) granted(l *link) {
	_, ttl := l.granted()
	if ttl == 0 { // it is another connection by now
		return
	}
	asked := k.r.config.SessionTimeout
	k.mu.Lock()
	less := k.least == 0 || ttl < k.least
	if less {
		k.least = ttl
	}
	k.mu.Unlock()
	if less && ttl < asked {
		k.r.log.Warn("the server grants sessions less time than is asked for", slog.Duration("asked", asked), slog.Duration("granted", ttl))
	}
}

// shortened ends the session in force if the server that the link came to has granted it less time than the one before: others
// would take its work over while it counts itself alive. The next proof begins another one, under the same id.
func (k *sessionKeeper) shortened(l *link) {
	_, ttl := l.granted()
	k.mu.Lock()
	control := k.control
	longer := k.link == l && control != nil && k.session.TTL() > ttl
	k.mu.Unlock()
	if longer {
		control.Lose(fmt.Errorf("%w: the server now grants it %s, and granted more before", registry.ErrSessionLost, ttl))
	}
}

func (k *sessionKeeper) wakeUp() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// run has one link after the other until the handle is closed.
func (k *sessionKeeper) run() {
	for k.r.life.Err() == nil {
		l, err := newLink(k.r.config, k.clock, k.r.hear, k.shortest())
		if err != nil { // the config was checked, so this is no matter of the user's
			k.note(err)
			remote.Sleep(k.r.life, remote.MaxBackoff)
			continue
		}
		k.change(func() { k.link, k.proved = l, false })
		k.keepAlive(l)
		if k.r.life.Err() != nil {
			return // close says farewell
		}
		k.r.log.Warn("session lost", slog.Any("error", context.Cause(l.quit)))
		k.lose(context.Cause(l.quit))
		k.change(func() {
			k.link, k.proved = nil, false
			if id, _ := l.granted(); !errors.Is(context.Cause(l.quit), zk.ErrSessionExpired) {
				k.forsaken[registry.SessionID(id)] = true
			}
		})
		_ = l.close(context.Background(), false, 0)
	}
}

// keepAlive keeps a link's session alive until it is gone or the handle is closed.
func (k *sessionKeeper) keepAlive(l *link) {
	if !k.prepare(l) {
		return
	}
	for k.r.life.Err() == nil && l.quit.Err() == nil {
		if err := k.abandoned(); err != nil {
			l.die(err)
			return
		}
		_, ttl := l.granted()
		wait := ttl / proofs
		if epoch, ok := l.ready(); ok {
			sent := k.clock()
			if left := k.provedFor(l, epoch); left > 0 {
				wait = left
			} else if err := k.prove(l, epoch); err != nil {
				k.noAnswer(l, err)
				wait = remote.MaxBackoff
			} else { // counted from when the proof was sent, as it does: where commits take long, the next one is due
				wait = max(0, sent+wait-k.clock())
			}
		} else {
			k.noAnswer(l, cmp.Or(k.failure(), errBroken))
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-k.loss(): // it may be given up, and then the client must not keep it alive
		case <-k.wake:
		case <-l.quit.Done():
		case <-k.r.life.Done():
		}
		timer.Stop()
	}
}

// prepare makes a new link fit for use. It is false if the link is gone.
func (k *sessionKeeper) prepare(l *link) bool {
	ctx, cancel := k.r.alive(l.quit)
	defer cancel()
	for failed := 0; ctx.Err() == nil; failed++ {
		err := l.await(ctx)
		if err == nil {
			err = k.introduce(ctx, l)
		}
		if err == nil {
			k.change(func() { k.proved, k.last = true, nil })
			k.r.hub.wakeUp()
			return true
		}
		k.note(err)
		remote.Sleep(ctx, remote.Backoff(failed))
	}
	return false
}

// introduce says who the client is. It makes no namespace: who only reads must not leave one behind that belongs to a digest
// or to the world. Whoever writes first makes it.
func (k *sessionKeeper) introduce(ctx context.Context, l *link) error {
	if err := k.sayWho(ctx, l); err != nil {
		return err
	}
	return l.sync(ctx)
}

// sayWho says who the client is, once for each link: the client keeps what it said, and says all of it again on each new
// connection.
func (k *sessionKeeper) sayWho(ctx context.Context, l *link) error {
	digest := k.r.config.Digest
	if digest == "" || l.known {
		return nil
	}
	epoch, _ := l.ready()
	_, err := ask(ctx, l, func(c *zk.Conn) (struct{}, error) { return struct{}{}, c.AddAuth("digest", []byte(digest)) })
	if err != nil {
		return err
	}
	if now, _ := l.ready(); now != epoch { // the new connection may have been there before the client kept it
		return zk.ErrConnectionClosed
	}
	l.known = true
	return nil
}

// provedFor returns for how long own writes on a connection spare the session in force a ballot.
func (k *sessionKeeper) provedFor(l *link, epoch int) time.Duration {
	if k.loss() == nil {
		return 0
	}
	k.mu.Lock()
	last := k.proof
	k.mu.Unlock()
	if last.link != l || last.epoch != epoch {
		return 0
	}
	k.calm(l, last.sent)
	_, ttl := l.granted()
	return last.sent + ttl/proofs - k.clock()
}

// calm forgets that connections were too slow, once one lasts.
func (k *sessionKeeper) calm(l *link, sent time.Duration) {
	if sent >= k.dueTime(l, mostDoublings) {
		k.replaced = 0 // sooner, a proof may stand between two large subtrees that have to come
	}
}

// prove has the session confirmed. The error tells why it was not.
func (k *sessionKeeper) prove(l *link, epoch int) error {
	ctx, cancel := k.r.alive(l.quit)
	defer cancel()
	worth, stop := k.worthWaiting(ctx, l)
	defer stop()
	sent := k.clock()
	err := l.ballot(worth)
	if err != nil && worth.Err() != nil && ctx.Err() == nil {
		if k.abandoned() == nil && l.renew(epoch) {
			k.replaced = min(k.replaced+1, mostDoublings)
		}
		return errSlow
	}
	if err != nil {
		return err
	}
	k.calm(l, sent)
	k.confirm(l, epoch, sent)
	k.r.hub.wakeUp()
	return nil
}

// worthWaiting returns a context that ends when an answer to a ballot comes too late: when the session in force is lost, or
// after a session's time if there is none, but not before the connection had its time. If the session is given up, it ends
// soon.
func (k *sessionKeeper) worthWaiting(ctx context.Context, l *link) (context.Context, context.CancelFunc) {
	loss := k.loss()
	_, ttl := l.granted()
	until := k.dueTime(l, k.replaced)
	if loss == nil {
		until = max(until, k.clock()+ttl)
	}
	waiting, cancel := context.WithCancel(ctx)
	k.wg.Go(func() {
		if loss != nil {
			select {
			case <-loss:
			case <-waiting.Done():
			}
		}
		for k.abandoned() == nil && remote.Sleep(waiting, min(until-k.clock(), ttl/proofs)) && k.clock() < until {
		}
		cancel()
	})
	return waiting, cancel
}

// dueTime returns, on the clock, until when a connection may be slow: for a session's time, and for twice as long as the one
// before it if that was replaced. What has to come on a new connection before all else, such as large subtrees, may be why
// it is slow. Another one would begin anew with that, and so would each after it.
func (k *sessionKeeper) dueTime(l *link, doublings int) time.Duration {
	_, ttl := l.granted()
	return l.hailedAt() + ttl<<doublings
}

// loss returns what tells that the session in force is lost; nil, which never tells anything, if there is none.
func (k *sessionKeeper) loss() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.session == nil || k.session.Err() != nil {
		return nil
	}
	return k.session.Done()
}

// confirm takes an answer to a ballot for what it proves: that the session was there when it was sent.
func (k *sessionKeeper) confirm(l *link, epoch int, sent time.Duration) {
	k.shortened(l)
	k.mu.Lock()
	defer k.mu.Unlock()
	if now, ok := l.ready(); !ok || now != epoch || k.closed {
		return
	}
	if k.renew(l, epoch, sent) || k.control != nil && k.control.Abandoned() {
		return // in the second case the link is about to go
	}
	k.proof = proof{l, epoch, sent}
	id, ttl := l.granted()
	k.session, k.control = backend.NewSession(registry.SessionID(id), ttl, k.clock, sent)
	close(k.published)
	k.published = make(chan struct{})
	k.r.log.Info("session begins", slog.String("session", k.session.ID().String()), slog.Duration("timeout", ttl))
}

// committed takes note that the servers have committed what was sent on a connection: that proves the session as a ballot does.
func (k *sessionKeeper) committed(l *link, epoch int, sent time.Duration) {
	k.shortened(l)
	k.mu.Lock()
	defer k.mu.Unlock()
	if now, ok := l.ready(); ok && now == epoch && k.link == l {
		k.renew(l, epoch, sent)
	}
}

// renew is false if there is no session in force that a proof could renew. The caller holds mu.
func (k *sessionKeeper) renew(l *link, epoch int, sent time.Duration) bool {
	if k.control == nil || !k.control.Renew(sent) {
		return false
	}
	if k.proof.link != l || k.proof.epoch != epoch || k.proof.sent < sent {
		k.proof = proof{l, epoch, sent}
	}
	return true
}

// lose ends the session in force.
func (k *sessionKeeper) lose(reason error) {
	k.mu.Lock()
	control := k.control
	k.control = nil
	k.mu.Unlock()
	if control != nil {
		control.Lose(reason)
	}
}

func (k *sessionKeeper) note(err error) {
	if errors.Is(err, registry.ErrClosed) {
		return
	}
	k.change(func() { k.last = err })
	k.noAnswer(nil, err)
}

// noAnswer reports that the servers do not do what a session takes: one cause, however often it is tried.
func (k *sessionKeeper) noAnswer(l *link, err error) {
	if k.r.life.Err() != nil || l != nil && l.quit.Err() != nil { // the loss of the session says so
		return
	}
	k.r.repeats.Tell(repeats.Line{
		Level: slog.LevelWarn, Message: "the registry does not answer",
		Attrs: []any{"servers", strings.Join(k.r.config.Servers, ", "), "error", err},
	})
}

func (k *sessionKeeper) change(what func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	what()
	close(k.published)
	k.published = make(chan struct{})
}

// close ends the session here and returns the link, if there is one, to say farewell on.
func (k *sessionKeeper) close() *link {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.lose(fmt.Errorf("%w: %w", registry.ErrSessionLost, registry.ErrClosed))
	k.wg.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.link
}

// abandoned returns why the process has given the session up; nil if it has not.
func (k *sessionKeeper) abandoned() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.session == nil || k.control == nil || !k.control.Abandoned() {
		return nil
	}
	return k.session.Err()
}

// mayStill tells whether the server may still do what was sent in a session.
func (k *sessionKeeper) mayStill(id registry.SessionID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.forsaken[id]
}

// closeTime returns for how long a farewell makes sense.
func (k *sessionKeeper) closeTime() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.session == nil {
		return k.r.config.SessionTimeout
	}
	return backend.CloseTime(k.session)
}

// failure tells why there is no session, as far as that is known.
func (k *sessionKeeper) failure() error {
	k.mu.Lock()
	l, last := k.link, k.last
	k.mu.Unlock()
	if refusal(last) != nil {
		return last // that the server hangs up then tells less
	}
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.last != nil {
			return l.last
		}
	}
	return last
}
