package memory

import "time"

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
