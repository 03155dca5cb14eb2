package etcd

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
)

const (
	// firstProgressPause is how long to wait for a watch to bring a wanted revision by itself before asking.
	firstProgressPause = time.Millisecond
	maxProgressPause   = 100 * time.Millisecond
	// ownProgressPause is the same for what this handle's own commits brought about, while nobody waits for it: who
	// committed knows. So one question is enough for the begins of a job's items and their ends.
	ownProgressPause = 100 * time.Millisecond
	// maxLag is when a view that somebody waits for is read afresh instead.
	maxLag = 400 * time.Millisecond
)

// want is that a view is to reach the revision that its follower wants: somebody waits for that, or some watches of a
// view of parts have brought the revision and others may still bring more of it.
type want struct {
	ask   time.Time     // when to ask the store, if the watches have not told by then
	pause time.Duration // after that, until it is asked again
	asked time.Time     // when that was done first, or the view moved on since; zero = it was not
	open  []doubt
}

// doubt is a revision that requests may have made which had no answer when a watch brought it.
type doubt struct {
	revision registry.Revision
	sent     int // the number of the last of these requests
}

// awaitRevision takes in that somebody waits for a view to reach a revision.
func (h *hub) awaitRevision(f *follower, to registry.Revision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.watches == nil {
		return
	}
	at := time.Now()
	if !f.holdsBack(to) {
		at = at.Add(firstProgressPause)
	}
	h.sooner(h.want(f, to), at)
}

// awaitParts takes in that a watch has brought a view of parts revisions that the others have not reached yet.
func (h *hub) awaitParts(f *follower, revisions []registry.Revision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.watches == nil {
		return
	}
	now := time.Now()
	w := h.want(f, slices.Max(revisions))
	pause := ownProgressPause
	for _, revision := range revisions {
		switch h.own.made(revision) {
		case others:
			pause = firstProgressPause
		case undecided:
			w.open = append(w.open, doubt{revision, h.own.sent})
		case ours:
		}
	}
	h.sooner(w, now.Add(pause))
}

// want has the view of a follower reach a revision. The caller holds mu, and says when to ask.
func (h *hub) want(f *follower, to registry.Revision) *want {
	w := h.waiting[f]
	if w == nil || f.reached() >= f.wanted {
		w = &want{pause: 2 * firstProgressPause}
		h.waiting[f] = w
	}
	f.wanted = max(f.wanted, to)
	return w
}

// sooner has the store asked at a time, or before. The caller holds mu.
func (h *hub) sooner(w *want, at time.Time) {
	if w.ask.IsZero() || at.Before(w.ask) {
		w.ask = at
	}
	if h.looks.IsZero() || w.ask.Before(h.looks) {
		h.looks = w.ask
		select {
		case h.wake <- struct{}{}:
		default:
		}
	}
}

// answered takes in that a request of commits is over, and which revision it made; 0 = none that is known.
func (h *hub) answered(number int, made registry.Revision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.own.over(number, made)
	for _, w := range h.waiting {
		if len(w.open) == 0 {
			continue
		}
		w.open = slices.DeleteFunc(w.open, func(d doubt) bool {
			switch h.own.madeBefore(d.revision, d.sent) {
			case others:
				h.sooner(w, time.Now())
				return true
			case ours:
				return true
			default:
				return false
			}
		})
	}
}

// sending takes in that a request of commits is sent, and returns its number.
func (h *hub) sending() (number int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.own.begin()
}

// lagging tells whether to ask the store now, which followers have not reached what is wanted of them for too long
// although it was asked, and when to look again; zero = nobody wants anything. It forgets those that have.
func (h *hub) lagging(now time.Time) (ask bool, stalled []*follower, next time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f, w := range h.waiting {
		reached := f.reached()
		if reached >= f.wanted {
			delete(h.waiting, f)
			continue
		}
		if f.ranges != nil && reached > f.came { // it waits for each revision that it is shown, so it only stalls if none comes
			f.came = reached
			if !w.asked.IsZero() {
				w.asked = now
			}
		}
		ask = ask || !w.ask.After(now)
		if !w.asked.IsZero() && now.Sub(w.asked) > maxLag {
			stalled = append(stalled, f)
		}
	}
	for _, w := range h.waiting {
		if ask {
			w.asks(now, h.progress.patience())
		}
		if next.IsZero() || w.ask.Before(next) {
			next = w.ask
		}
	}
	if ask {
		h.progress.ask(now)
	}
	h.looks = next
	return ask, stalled, next
}

// asks notes that the store is asked, whoever it is that wants it: the answer tells of all that came before.
func (w *want) asks(now time.Time, patience time.Duration) {
	due := !w.ask.After(now)
	if again := now.Add(max(w.pause, patience)); w.ask.Before(again) {
		w.ask = again
	}
	if due {
		w.pause = min(2*w.pause, maxProgressPause)
		if w.asked.IsZero() {
			w.asked = now
		}
	}
}

// progress is how long the store takes to say how far the watches are.
type progress struct {
	since time.Time     // when it was asked what it has not answered yet; zero = it has
	usual time.Duration // smoothed
}

func (p *progress) ask(now time.Time) {
	if p.since.IsZero() {
		p.since = now
	}
}

func (p *progress) answered(now time.Time) {
	if p.since.IsZero() {
		return
	}
	took := min(now.Sub(p.since), maxProgressPause)
	p.since = time.Time{}
	if p.usual == 0 {
		p.usual = took
	}
	p.usual += (took - p.usual) / 8
}

// patience is how long an answer has before the question is asked again. A server that is catching up with a burst
// gives none.
func (p *progress) patience() time.Duration { return min(2*p.usual, maxProgressPause) }
