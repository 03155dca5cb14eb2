package fires

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jitter"
)

const (
	// WallCheck bounds how long a job sleeps until a time: Go's timers run on the monotonic clock, which
	// knows nothing of a wall clock that was set and stands still while a machine sleeps.
	WallCheck = 10 * time.Second
	// longestSleep is that of the timetable. It is shorter than [inforce.LateAfter]: a fire that is told of so late by a clock
	// that was set forward has its turn, and is no missed one.
	longestSleep = 4 * time.Second
)

// Tick tells a runner that its job fired.
type Tick struct {
	Fire  time.Time // the newest fire that is due
	First time.Time // the earliest; an earlier one than fire if fires went by unseen

	// Early tells that the fire is still to come, by a head start: it is told of again when it does. Without a fire, one that
	// was told of early will not come soon, as the clock was set back.
	Early bool
}

// MaxHeadStart bounds every head start.
const MaxHeadStart = 200 * time.Millisecond

// Entry is one job's place in the timetable.
type Entry struct {
	schedule  cronexpr.Schedule
	jitter    jitter.Jitter
	next      time.Time     // the fire it waits for; zero = none, unless the clock is set back
	at        time.Time     // when it is told: next, and its jitter, less its head start if that is still to come
	headStart time.Duration // how long before that it is told of the fire as an early one
	fired     func(Tick)
	index     int32 // in the heap; -1 = not in it
	early     bool  // it was told of next as an early one
}

// NewEntry makes an entry that is in no timetable yet. fired is called with the job's fires, by the
// goroutine that runs the timetable, and must not block.
func NewEntry(fired func(Tick)) *Entry { return &Entry{fired: fired, index: -1} }

// waitDelayed makes the entry wait for its first fire that is told of after now: it may have come already. told is the last one
// that was told of, which is not told of again unless the clock was set back behind it; zero = none.
func (e *Entry) waitDelayed(now, told time.Time) {
	since := now.Add(-e.jitter.Most)
	if told.After(since) && !told.After(now) {
		since = told
	}
	fire := e.schedule.Next(since)
	for !fire.IsZero() && !fire.Add(e.jitter.Of(fire)).After(now) {
		fire = e.schedule.Next(fire)
	}
	e.waitFor(fire)
}

// waitFor makes the entry wait for a fire; zero = for none.
func (e *Entry) waitFor(fire time.Time) {
	e.next, e.at, e.early = fire, never, false
	if !fire.IsZero() {
		e.at = e.told().Add(-e.headStart)
	}
}

// told returns when the entry is told of the fire that it waits for.
func (e *Entry) told() time.Time { return e.next.Add(e.jitter.Of(e.next)) }

// HeadStart returns how long before they come the entry is told of fires. It is for whoever calls [Timetable.SetHeadStart].
func (e *Entry) HeadStart() time.Duration { return e.headStart }

// never is when an entry is told whose schedule has no more fires. It stays in its place: the clock may have been ahead.
var never = time.Unix(1<<40, 0)

// Timetable is the one clock of a process: it tells every job of its fires. The goroutine that runs
// it calls the jobs' functions, which must not block.
//
// It goes by the wall clock. When that was set forward, or the machine slept, the fires passed over
// come as one tick; when it was set back, every job goes on with its next fire by the clock as it is
// now, and what ran already for a fire does not run for it again.
type Timetable struct {
	now  func() time.Time
	Woke func() // called after each look; set it before Run

	timerLate time.Duration // of tests of the bell: how much later the timer beside it rings

	mu      sync.Mutex
	entries entryHeap
	seen    time.Time     // the latest time that was seen since the clock was set back
	looked  time.Time     // when the clock was looked at last, by the monotonic clock
	changed chan struct{} // size 1: a fire may be due, or the earliest one another
}

// NewTimetable makes a timetable that goes by the clock now.
func NewTimetable(now func() time.Time) *Timetable {
	return &Timetable{now: now, Woke: func() {}, changed: make(chan struct{}, 1)}
}

// Set gives e the schedule, and puts it in its place, where it waits for its first fire after now, with its jitter. delayed
// tells whether a fire counts that has come, and whose jitter is not over. It must not where somebody may have run for it
// already, and no record tells. told is the last fire that was told of before, and is not told of again; zero = none.
func (t *Timetable) Set(e *Entry, schedule cronexpr.Schedule, j jitter.Jitter, delayed bool, told time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(e)
	now := t.now()
	t.see(now) // without e: a clock that was set back gives the others fires that came before this one was set
	e.schedule, e.jitter = schedule, j
	if delayed {
		e.waitDelayed(now, told)
	} else {
		e.waitFor(schedule.Next(now))
	}
	heap.Push(&t.entries, e)
	t.notify()
}

// Remove takes e out, if it is in its place.
func (t *Timetable) Remove(e *Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(e)
}

// remove is Remove for a caller that holds mu.
func (t *Timetable) remove(e *Entry) {
	if e.index >= 0 {
		heap.Remove(&t.entries, int(e.index))
	}
	e.schedule, e.jitter, e.next, e.early = nil, jitter.Jitter{}, time.Time{}, false
}

// Delay gives e another jitter, if it is in its place. A fire that has come and was not told of goes by it, too: if that one is
// over already, it is told of at once. One that was told of is not told of again.
func (t *Timetable) Delay(e *Entry, j jitter.Jitter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.index < 0 || e.jitter == j {
		return
	}
	e.jitter = j
	e.waitFor(e.next)
	heap.Fix(&t.entries, int(e.index))
	t.notify()
}

// SetHeadStart has e told of fires also so long before they come. It does not change what is told of the next one if that was
// told of early.
func (t *Timetable) SetHeadStart(e *Entry, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.headStart = d
	if e.index < 0 || e.early {
		return
	}
	was := t.entries[0].at
	e.waitFor(e.next)
	heap.Fix(&t.entries, int(e.index))
	if t.entries[0].at.Before(was) { // as a rule others come before it
		t.notify()
	}
}

// ToldEarly tells whether e was told of a fire early, and is told of it again when it comes.
func (t *Timetable) ToldEarly(e *Entry) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return e.early
}

// Run tells the jobs of their fires until ctx ends.
func (t *Timetable) Run(ctx context.Context) {
	timer := time.NewTimer(longestSleep)
	defer timer.Stop()
	bell := newBell(t.notify)
	defer bell.close()
	for {
		began := time.Now()
		sleep := t.fire(t.now())
		sleep = max(1, sleep-time.Since(began)) // to tell many jobs takes a while
		bell.set(sleep)
		timer.Reset(sleep + t.timerLate)
		t.Woke()
		select {
		case <-timer.C:
		case <-t.changed:
		case <-ctx.Done():
			return
		}
	}
}

// fire tells every job whose time has come and returns how long to sleep.
func (t *Timetable) fire(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.see(now)
	for len(t.entries) > 0 {
		e := t.entries[0]
		if e.at.After(now) {
			return min(e.at.Sub(now), longestSleep)
		}
		due := e.pass(now)
		heap.Fix(&t.entries, 0)
		e.fired(due)
	}
	return longestSleep
}

// Passed returns the time by which every fire has come that is not told of again, by now: the present time, or the latest that
// was seen before, if the clock went back since by so little that it does not count as set.
func (t *Timetable) Passed() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.see(t.now())
	return t.seen
}

// see takes in what the clock shows. The caller holds mu.
func (t *Timetable) see(now time.Time) {
	switch {
	case now.Before(t.seen.Add(-setBack)):
		t.restart(now)
		t.seen = now
		t.notify() // the earliest fire may be another one
	case now.After(t.seen):
		t.seen = now
	}
	t.looked = time.Now()
}

// pass moves the entry on whose time has come, and returns what it is told.
func (e *Entry) pass(now time.Time) Tick {
	if told := e.told(); told.After(now) {
		e.at, e.early = told, true
		return Tick{Fire: e.next, First: e.next, Early: true}
	}
	return e.advance(now)
}

// advance moves the entry past now and tells which fires that passes. It takes the same time however
// many they are.
func (e *Entry) advance(now time.Time) Tick {
	due := Tick{Fire: e.next, First: e.next}
	if next := e.schedule.Next(e.next); next.IsZero() || next.After(now) { // there is but one, as a rule
		e.waitFor(next)
		return due
	}
	// A fire whose jitter is not over is not passed; it is the next one.
	if newest := cronexpr.Last(e.schedule, e.next, now); !newest.Add(e.jitter.Of(newest)).After(now) {
		due.Fire = newest
	} else if over := cronexpr.Last(e.schedule, e.next, now.Add(-e.jitter.Most)); !over.IsZero() {
		due.Fire = over
	}
	e.waitFor(e.schedule.Next(due.Fire))
	return due
}

// setBack is how far the wall clock must have gone back to count as set. Less is the ordinary
// correction of a clock that runs fast, and the fires of that time have been ticked.
const setBack = time.Second

// restart gives every entry its next fire by a clock that was set back, but for those that wait for the jitter of an earlier
// one. That was at some time since the last look: fires may have come by the new time already. The caller holds mu.
func (t *Timetable) restart(now time.Time) {
	since := now.Add(-time.Since(t.looked))
	for _, e := range t.entries {
		if e.early {
			e.fired(Tick{Early: true})
			e.waitFor(e.next)
		}
		if e.next.IsZero() || e.next.After(now) {
			e.waitFor(e.schedule.Next(since))
		}
	}
	heap.Init(&t.entries)
}

func (t *Timetable) notify() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// entryHeap orders entries by when they are told of their next fire.
type entryHeap []*Entry

func (h entryHeap) Len() int           { return len(h) }
func (h entryHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h entryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = int32(i), int32(j)
}

// Push is for package heap.
func (h *entryHeap) Push(x any) {
	e := x.(*Entry)
	e.index = int32(len(*h))
	*h = append(*h, e)
}

// Pop is for package heap.
func (h *entryHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	e.index = -1
	return e
}
