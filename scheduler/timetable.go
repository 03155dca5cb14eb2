package scheduler

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
)

// wallCheck bounds how long the timetable sleeps: Go's timers run on the monotonic clock, which
// knows nothing of a wall clock that was set and stands still while a machine sleeps.
const wallCheck = 10 * time.Second

// tick tells a runner that its job fired.
type tick struct {
	fire  time.Time // the newest fire that is due
	first time.Time // the earliest; an earlier one than fire if fires went by unseen
}

// entry is one job's place in the timetable.
type entry struct {
	schedule cronexpr.Schedule
	jitter   jitter
	next     time.Time // the fire it waits for; zero = never again
	at       time.Time // when it is told: next, and its jitter
	fired    func(tick)
	index    int // in the heap; -1 = not in it
}

// wait has the entry wait for its first fire after a time.
func (e *entry) wait(after time.Time) {
	e.next = e.schedule.Next(after)
	e.at = e.next.Add(e.jitter.of(e.next))
}

// timetable is the one clock of a process: it tells every job of its fires. The goroutine that runs
// it calls the jobs' functions, which must not block.
//
// It goes by the wall clock. When that was set forward, or the machine slept, the fires passed over
// come as one tick; when it was set back, every job goes on with its next fire by the clock as it is
// now, and what ran already for a fire does not run for it again.
type timetable struct {
	now  func() time.Time
	woke func() // called after each look

	mu      sync.Mutex
	entries entryHeap
	seen    time.Time     // the latest time that was seen
	changed chan struct{} // size 1: the earliest fire may have changed
}

func newTimetable(now func() time.Time) *timetable {
	return &timetable{now: now, woke: func() {}, changed: make(chan struct{}, 1)}
}

// set gives e the schedule and its first fire after now, and puts it in its place. A nil schedule
// takes it out.
func (t *timetable) set(e *entry, schedule cronexpr.Schedule) {
	t.setWith(e, schedule, jitter{})
}

// setWith is set for fires that are told with a jitter.
func (t *timetable) setWith(e *entry, schedule cronexpr.Schedule, j jitter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.index >= 0 {
		heap.Remove(&t.entries, e.index)
	}
	e.schedule, e.jitter, e.next = schedule, j, time.Time{}
	if schedule != nil {
		e.wait(t.now())
	}
	if e.next.IsZero() {
		return
	}
	heap.Push(&t.entries, e)
	t.notify()
}

// run tells the jobs of their fires until ctx ends.
func (t *timetable) run(ctx context.Context) {
	timer := time.NewTimer(wallCheck)
	defer timer.Stop()
	for {
		timer.Reset(t.fire(t.now()))
		t.woke()
		select {
		case <-timer.C:
		case <-t.changed:
		case <-ctx.Done():
			return
		}
	}
}

// fire tells every job whose time has come and returns how long to sleep.
func (t *timetable) fire(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.seen.Add(-setBack)) {
		t.restart(now)
	}
	t.seen = now
	for len(t.entries) > 0 {
		e := t.entries[0]
		if e.at.After(now) {
			return min(e.at.Sub(now), wallCheck)
		}
		due := e.advance(now)
		if e.next.IsZero() {
			heap.Pop(&t.entries)
		} else {
			heap.Fix(&t.entries, 0)
		}
		e.fired(due)
	}
	return wallCheck
}

// advance moves the entry past now and tells which fires that passes. It takes the same time however
// many they are.
func (e *entry) advance(now time.Time) tick {
	due := tick{fire: e.next, first: e.next}
	// A fire whose jitter is not over is not passed; it is the next one.
	if newest := cronexpr.Last(e.schedule, e.next, now); newest.IsZero() {
		// there is but one
	} else if !newest.Add(e.jitter.of(newest)).After(now) {
		due.fire = newest
	} else if over := cronexpr.Last(e.schedule, e.next, now.Add(-e.jitter.most)); !over.IsZero() {
		due.fire = over
	}
	e.wait(due.fire)
	return due
}

// setBack is how far the wall clock must have gone back to count as set. Less is the ordinary
// correction of a clock that runs fast, and the fires of that time have been ticked.
const setBack = time.Second

// restart gives every entry its next fire after now. The caller holds mu.
func (t *timetable) restart(now time.Time) {
	for _, e := range t.entries {
		e.wait(now)
	}
	heap.Init(&t.entries)
}

func (t *timetable) notify() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// entryHeap orders entries by when they are told of their next fire.
type entryHeap []*entry

func (h entryHeap) Len() int           { return len(h) }
func (h entryHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h entryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push is for package heap.
func (h *entryHeap) Push(x any) {
	e := x.(*entry)
	e.index = len(*h)
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
