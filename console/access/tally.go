package access

import (
	"sync"
	"sync/atomic"
	"time"
)

// tally counts who comes in.
type tally struct {
	succeeded, failed, delayed atomic.Int64

	mu   sync.Mutex
	used map[usedSession]int64 // when each was used last, in seconds
}

// usedSession names a session.
type usedSession struct {
	name  string
	began int64
}

// manySessions is how many are remembered before those that have ended are forgotten.
const manySessions = 4_096

func (t *tally) use(s session, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used == nil {
		t.used = make(map[usedSession]int64)
	}
	t.used[usedSession{s.Name, s.Began}] = now.Unix()
	if len(t.used) > manySessions {
		t.forget(now)
	}
}

func (t *tally) end(s session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.used, usedSession{s.Name, s.Began})
}

func (t *tally) forget(now time.Time) {
	for s, last := range t.used {
		if !now.Before(session{Began: s.began, Seen: last}.until()) {
			delete(t.used, s)
		}
	}
}

// Logins tells how many logins succeeded, how many failed, and how many were put off because too many had failed.
func (g *Guard) Logins() (succeeded, failed, delayed int64) {
	return g.tally.succeeded.Load(), g.tally.failed.Load(), g.tally.delayed.Load()
}

// Sessions tells how many sessions were used here and have not ended since. Of those of other servers it knows nothing.
func (g *Guard) Sessions() int {
	g.tally.mu.Lock()
	defer g.tally.mu.Unlock()
	g.tally.forget(time.Now())
	return len(g.tally.used)
}
