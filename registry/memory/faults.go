package memory

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// Cut makes the network between this handle and the server hang: calls wait until Heal or until
// their context ends, no event and no keep-alive gets through. What is under way when it happens
// arrives after Heal, even if its caller has given up by then.
func (r *Registry) Cut() { r.link.set(func(l *link) { l.cut = true }) }

// Heal ends a Cut. What was under way arrives, and the view catches up.
func (r *Registry) Heal() {
	r.link.set(func(l *link) { l.cut = false })
	r.beat.wake()
}

// Pause makes the simulated process stand still, as SIGSTOP does: nothing in the background runs,
// calls do not return, not even when their context ends, and the session does not see time pass.
// Code outside of the handle cannot be stopped; a test that simulates the process must not go on
// either. Close waits for Resume.
func (r *Registry) Pause() {
	r.link.set(func(l *link) {
		if !l.paused {
			l.paused, l.pausedAt = true, l.base()
		}
	})
}

// Resume ends a Pause. The session finds at once how much time has passed.
func (r *Registry) Resume() {
	r.link.set(func(l *link) { l.paused = false })
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	if session != nil {
		session.State()
	}
	r.beat.wake()
}

// Expire makes the server drop the handle's session and its nodes now. The handle is not told: it
// finds out by its next keep-alive or commit.
func (r *Registry) Expire() {
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	if session != nil {
		r.server.drop(session.ID())
	}
}

// LoseAnswers makes the server do the next n commit requests of this handle and lose the answers. The
// handle waits for the try timeout and repeats them.
func (r *Registry) LoseAnswers(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lose = n
}

// HoldBack makes the network hold the next n commit requests of this handle back: the handle gets no
// answer, waits for its try timeout and repeats what may be repeated; the server is given what was held
// back when late has passed, whatever happened since, also if the handle is cut off or gone by then.
// While the server is stopped it gets nothing. Calls add up: each says it of the n requests after those
// of the calls before, so that of several requests the first can be the last to arrive.
//
// It is how a store carries out a request that a server held which lost touch with the others: of a
// transaction that was repeated, a second time; see [registry.Repeat].
func (r *Registry) HoldBack(n int, late time.Duration) {
	r.disturb(lateness{n: n, held: true, late: late})
}

// DuplicateLater gives the server a copy of each of the next n commit requests of this handle when late
// has passed since the server judged it, besides the request itself, which is answered as ever. Of transactions
// that are not [registry.Txn.Repeatable] there never is a second copy, so they are left out. It is as if
// [Registry.HoldBack] had held back a first try that was repeated at once, and cheaper.
func (r *Registry) DuplicateLater(n int, late time.Duration) { r.disturb(lateness{n: n, late: late}) }

// Calm ends what LoseAnswers, HoldBack and DuplicateLater said of requests that are not sent yet. What is
// under way stays so.
func (r *Registry) Calm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lose, r.late = 0, nil
}

// lateness says what happens to the next n commit requests.
type lateness struct {
	n    int
	held bool          // nothing arrives but the copy that is late
	late time.Duration // how long after the sending it arrives
}

func (r *Registry) disturb(l lateness) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.n > 0 {
		r.late = append(r.late, l)
	}
}

// nextLateness returns what happens to the request that is sent now; false if nothing out of the
// ordinary.
func (r *Registry) nextLateness() (lateness, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.late) == 0 {
		return lateness{}, false
	}
	next := r.late[0]
	if r.late[0].n--; r.late[0].n == 0 {
		r.late = r.late[1:]
	}
	return next, true
}

// arriveLate gives the server transactions after a while. done tells of each whether the server has done it
// before; nil if none.
func (r *Registry) arriveLate(txns []registry.Txn, done []bool, late time.Duration) {
	if len(txns) == 0 {
		return
	}
	time.AfterFunc(late, func() {
		if r.server.stopped() {
			return
		}
		tell := r.server.lateCopies()
		for i, a := range r.server.transact(r.prefix, txns) {
			tell(LateCopy{Txn: txns[i], Done: done != nil && done[i], Err: a.err})
		}
	})
}

// arriveAgain gives the server a copy of those transactions of a request that may have one.
func (r *Registry) arriveAgain(txns []registry.Txn, answers []answer, late time.Duration) {
	var copies []registry.Txn
	var done []bool
	for i, t := range txns {
		if t.Repeatable() {
			copies, done = append(copies, t), append(done, answers[i].err == nil)
		}
	}
	r.arriveLate(copies, done, late)
}

// BreakWatch makes the handle lose its place in the server's history, so that every view takes a
// fresh copy and shows the difference.
func (r *Registry) BreakWatch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = true
	r.news.wake()
}

// SetLatency sets how long a request, an answer and a watch event take each, from now on.
func (r *Registry) SetLatency(oneWay time.Duration) {
	r.link.set(func(l *link) { l.latency = oneWay })
}

// denial is what the server does not let a handle do.
type denial struct {
	path   string
	writes bool
}

// Deny makes the server refuse this handle what lies at and below a path, as a store does whose operator
// took a permission away: to read and to follow it, and if writes is set, to commit what touches it. Views
// that show any of it end. Others are added by further calls; Allow ends all of them.
func (r *Registry) Deny(path string, writes bool) {
	r.mu.Lock()
	r.denials = append(r.denials, denial{path, writes})
	r.mu.Unlock()
	for _, f := range r.allViews() {
		if err := r.deniedRead(f.view.Path()); err != nil {
			f.feed.End(&registry.OpError{Op: registry.OpView, Path: f.view.Path(), Err: err})
		}
	}
}

// Allow ends what Deny began. Views that have ended stay so.
func (r *Registry) Allow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.denials = nil
}

// deniedRead tells why a subtree may not be read; nil if it may be.
func (r *Registry) deniedRead(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.denials {
		if registry.Within(path, d.path) || registry.Within(d.path, path) {
			return fmt.Errorf("%w: no permission to read %s", registry.ErrDenied, d.path)
		}
	}
	return nil
}

// deniedWrite tells why a transaction may not be done; nil if it may be.
func (r *Registry) deniedWrite(txn registry.Txn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.denials {
		for _, w := range txn.Then {
			if d.writes && registry.Within(w.Path, d.path) {
				return fmt.Errorf("%w: no permission to write %s", registry.ErrDenied, d.path)
			}
		}
	}
	return nil
}
