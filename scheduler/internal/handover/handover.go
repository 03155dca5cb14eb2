// Package handover says when a job that is left may tell the registry so, and in which parts. It knows nothing of jobs.
package handover

import (
	"sync"
	"time"
)

const (
	// firstWindow is how many transactions of jobs that are left may be under way at a time, at first and at least: as many
	// as keep a registry busy that is near. One that takes its time to answer needs more of them to be kept busy.
	firstWindow = 512
	mostWindow  = 8192
	// firstPart is how many notes of a job that has many are made first: how long a few take says what an answer takes at best.
	firstPart = 32
	// queueFactor is how many times what it takes at best an answer may take. Beyond that what is under way waits for other
	// such, and more of it makes nothing faster.
	queueFactor = 2
	// rememberFor is for how long nothing may be handed over before what was learnt of the registry counts no more.
	rememberFor = 10 * time.Second
)

// Handovers lets jobs that are left tell the registry so, as many at a time as keep the registry busy, and no more: a stop
// has thousands of transactions, in a deep overload tens of thousands, as most items have missed fires to be noted. While a
// job waits for its turn it goes on to record the ends of what still runs, which would otherwise stand behind all of that,
// and the stop timeout does not wait. Jobs that only a resharding, a wrong clock or a lost view takes items from need no
// turn: their ends may wait, as the process goes on. It is safe for concurrent use.
type Handovers struct {
	mu       sync.Mutex
	grown    int           // how many more transactions than at first may be under way
	best     time.Duration // that an answer took; zero = there was none
	learnt   time.Time     // when the last one came
	underWay int           // transactions
	waiting  []*Turn       // in the order in which they came, some of which have been withdrawn
}

// Turn is a job's turn. All but Wake belongs to the handovers.
type Turn struct {
	Wake  func() // is called when it is this job's turn; it must not block
	size  int    // transactions
	waits bool
	has   bool
}

// Take returns how many transactions it is a job's turn to commit, of so many; 0 if the job waits, and its Wake is called in
// time. They may be fewer than it asks for now, as it asked for no more when it began to wait. Who has the turn gives it back.
func (h *Handovers) Take(t *Turn, size int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case t.has, t.waits:
	case len(h.waiting) == 0 && h.room(size):
		t.size = size
		h.grant(t)
	default:
		t.size, t.waits = size, true
		h.waiting = append(h.waiting, t)
	}
	if !t.has {
		return 0
	}
	return t.size
}

// WaitsFor tells whether a job waits for its turn. nil is that of a job that is not left.
func (h *Handovers) WaitsFor(t *Turn) bool {
	if t == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return t.waits
}

// GiveBack ends a job's turn, if it has one.
func (h *Handovers) GiveBack(t *Turn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(t)
}

// end takes a job's turn from it, if it has one, and gives their turns to those that fit in now. The caller holds mu.
func (h *Handovers) end(t *Turn) {
	if t.has {
		t.has = false
		h.underWay -= t.size
	}
	for len(h.waiting) > 0 && (!h.waiting[0].waits || h.room(h.waiting[0].size)) {
		next := h.waiting[0]
		h.waiting[0], h.waiting = nil, h.waiting[1:]
		if next.waits {
			h.grant(next)
			next.Wake()
		}
	}
}

// Withdraw ends a job's turn, and its wait for one. nil is that of a job that never came so far.
func (h *Handovers) Withdraw(t *Turn) {
	if t == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t.waits = false // so that who stood behind it comes to his turn
	h.end(t)
}

// Part returns how many notes a job that has many makes at a time.
func (h *Handovers) Part() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.forget(); h.best == 0 {
		return firstPart
	}
	return h.window() / 2
}

// forget drops what was learnt before a time in which nothing was handed over. The caller holds mu.
func (h *Handovers) forget() {
	if h.underWay == 0 && time.Since(h.learnt) > rememberFor {
		h.best, h.grown = 0, 0
	}
}

// Answered takes in how long the registry took to answer so many transactions of a turn.
func (h *Handovers) Answered(size int, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.forget(); h.best == 0 || took < h.best {
		h.best = took
	}
	h.learnt = time.Now()
	switch {
	case took > 2*queueFactor*h.best:
		h.grown = max(0, h.grown-size)
	case took <= queueFactor*h.best && (len(h.waiting) > 0 || size >= h.window()/2): // there is a use for more
		h.grown = min(h.grown+size, mostWindow-firstWindow)
	}
}

// window is how many transactions may be under way. The caller holds mu.
func (h *Handovers) window() int { return firstWindow + h.grown }

// room tells whether so many transactions fit in. A job that has more than fit goes alone. The caller holds mu.
func (h *Handovers) room(size int) bool { return h.underWay == 0 || h.underWay+size <= h.window() }

func (h *Handovers) grant(t *Turn) {
	t.waits, t.has = false, true
	h.underWay += t.size
}
