// Package admission bounds how many begins of a process are under way at once, and orders those that wait.
package admission

import (
	"cmp"
	"container/heap"
	"sync"
	"time"
)

const (
	// firstWindow is how many begins may be under way before anything is known of the registry. Few
	// clusters begin more at a time, so most never hear of the window. It grows with swift answers.
	firstWindow = 1024
	mostWindow  = 16_384
	leastWindow = 8
	// swift is how soon begins should be confirmed, so that what is sent is still wanted then. A registry
	// that needs longer for anything is given twice the time that it needs at best, up to slow.
	swift = time.Second
	slow  = 4 * time.Second
	// bestFor is for how long the best answer counts. A worse one takes its place only if little was under way: what
	// waited for much else says nothing of the registry. Under a small window that may never be so, so the next best
	// answer is then asked for: by probes, before which what is under way comes to its end.
	bestFor     = 30 * time.Second
	smallWindow = 4 * leastWindow
	probes      = leastWindow / 2
	// quantum is how many begins a job is granted before the next job's turn.
	quantum = 16

	// lateWindow is the part of the window that late begins may fill if any was on time within lull. In the registry's queue
	// those on time pass them by, so more of them would but wait there until they are dropped, and have been decided
	// and built for nothing.
	lateWindow = 4
	lull       = 5 * time.Second
	// lateShare is how many begins are admitted while late ones wait until one of these goes before those on time. Else,
	// beyond capacity, items whose fires are on time would keep all others from running for ever.
	lateShare = 4
)

// Urgency orders begins while more of them wait than the registry takes.
type Urgency int

// The urgencies, the most urgent first.
const (
	OnTimeFirst Urgency = iota // of fires that are due
	MissedLast                 // of fires that are late already; when no other waits, and each fourth time
	Urgencies
)

// Admission bounds how many begins of this process are under way, by how soon the registry confirms
// them. What is not admitted is not even built: beyond capacity, deciding about what never runs must not
// take the time of what does. It is safe for concurrent use.
//
// Late begins wait for those on time, but are given one of four: none waits for ever.
//
// Jobs take turns, a few begins each. One that did not wait yet is served in alternation with those that
// do, so that a job of a single item never waits for all that a job of ten thousand asks for. Of those that did not wait
// yet, the one that had its turn longest ago comes first: else, beyond capacity, it is always the same jobs whose turn
// comes too late.
type Admission struct {
	mu         sync.Mutex
	window     int
	out        int // begins under way
	lines      [Urgencies]jobLine
	turns      uint64    // that jobs had so far
	passed     int       // how many begins on time went before late ones that wait, less what those were given for it
	lastOnTime time.Time // when one was admitted that is on time
	changed    time.Time // when the window was changed last
	best       time.Duration
	bestAt     time.Time
	usual      time.Duration // how long a confirmation takes, smoothed
}

// Applicant is a job that waits for turns.
type Applicant interface {
	// Granted tells what is admitted. It must not block. It is false if nobody is there to use it.
	Granted(g Grant) bool
	// Place is what admission remembers of the job. It is for admission alone.
	Place() *Place
}

// Place is what is remembered of a job. The zero Place is that of one that had no turn yet.
type Place struct {
	last uint64 // when it last made use of its turn, as a count of such turns since the process started
	out  int    // its begins that are under way
}

// Grant is begins that are admitted.
type Grant struct {
	Urgency Urgency
	Begins  int
	Ahead   bool // late ones, that go with those on time
}

// New makes one that knows nothing of the registry yet.
func New() *Admission { return &Admission{window: firstWindow} }

// jobLine is the jobs that wait with one urgency.
type jobLine struct {
	wants     map[Applicant]int // begins that each waits for
	fresh     places            // those that had no turn yet
	served    []Applicant       // the others
	freshTurn bool
	arrivals  uint64
}

// Take admits a begin at once, or makes the job wait for its turn. What comes free is granted at once, so
// where there is room nobody waits of that urgency.
func (a *Admission) Take(job Applicant, u Urgency) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.out < a.limit(u) {
		a.admit(job, Grant{Urgency: u, Begins: 1})
		return true
	}
	a.lines[u].want(job)
	return false
}

// Full tells whether a begin that is asked for now would have to wait.
func (a *Admission) Full() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out >= a.open()
}

// Wait makes the job wait for its turn, unless a begin could be admitted at once.
func (a *Admission) Wait(job Applicant, u Urgency) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.out < a.limit(u) {
		return false
	}
	a.lines[u].want(job)
	return true
}

// GiveBack returns begins of a job that were admitted and are not made. Late ones had their share by them all the same.
func (a *Admission) GiveBack(job Applicant, n int) {
	if n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over(job, n)
	a.grant()
}

// Decline is GiveBack of what a job has no use for as it gets a grant: as if it had been granted less. It counts neither as a
// turn of late ones, nor as one that these were passed by for.
func (a *Admission) Decline(job Applicant, g Grant, n int) {
	if n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over(job, n)
	a.pass(g, -n)
	a.grant()
}

// Withdraw is for a job that goes. What it waits for and what it was granted is given to others.
func (a *Admission) Withdraw(job Applicant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for u := range a.lines {
		delete(a.lines[u].wants, job)
	}
	a.over(job, job.Place().out)
	a.grant()
}

// Handed is when begins were handed to the registry, and what was under way then.
type Handed struct {
	At   time.Time
	Out  int
	Full bool // no more were admitted of this kind
	Late bool // late ones, that wait for those on time
}

// Hand notes that begins of a job that were admitted are handed to the registry, and whether there are late ones among
// them that go behind those on time.
func (a *Admission) Hand(job Applicant, late bool, now time.Time) Handed {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns++
	job.Place().last = a.turns
	full := a.out >= a.window || late && !a.probing() && a.out >= a.limit(MissedLast)
	return Handed{At: now, Out: a.out, Full: full, Late: late}
}

// Confirmed returns begins of a job that the registry has answered, or none of which it has if all were dropped unsent or
// given up.
func (a *Admission) Confirmed(job Applicant, n int, h Handed, answered bool, now time.Time) {
	if n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.learn(h, answered, now)
	a.over(job, n)
	a.grant()
}

// learn fits the window to how long an answer took. Only what was handed over under the present window
// says something of it, and only what had a full one before it tells that there is room for more: the first ones of
// a burst are always confirmed soon. The caller holds mu.
func (a *Admission) learn(h Handed, answered bool, now time.Time) {
	took := now.Sub(h.At)
	if answered {
		a.measure(h, took, now)
	}
	if h.At.Before(a.changed) {
		return
	}
	wanted := min(max(swift, 2*a.best), slow)
	queued := took - a.best
	switch {
	case took > wanted && h.Out > leastWindow: // else it is not they who wait for each other
		from := min(a.window, h.Out)
		if h.Late && h.Full {
			from = a.window // of which those are only a part
		}
		a.window = max(leastWindow, int(float64(from)*max(0.5, float64(wanted)/float64(took))))
	case took > wanted || !h.Full || !answered:
		return
	case queued < wanted/8:
		a.window = min(mostWindow, 2*a.window)
	case queued < wanted/4:
		a.window = min(mostWindow, a.window+a.window/4)
	default:
		return
	}
	a.changed = now
}

// measure notes how long an answer took. The caller holds mu.
func (a *Admission) measure(h Handed, took time.Duration, now time.Time) {
	a.usual += (took - a.usual) / 8
	alone := h.Out <= max(probes, a.window/8)
	if a.best == 0 || took < a.best || alone && now.Sub(a.bestAt) > bestFor {
		a.best, a.bestAt = took, now
	}
}

// Expected returns about how long the registry takes to confirm a begin, and for how long one that is admitted now waits
// until it is sent, for those that are under way before it.
func (a *Admission) Expected() (usual, queue time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	queue = min(max(0, a.usual-a.best), swift) // a longer one is that of a moment in which the registry stood still
	return a.usual, time.Duration(float64(queue) * min(1, float64(a.out)/float64(a.window)))
}

// limit is how many begins may be under way for one more to be admitted. The caller holds mu.
func (a *Admission) limit(u Urgency) int {
	return a.limitOf(u, a.open())
}

// limitOf is limit, if so many may be under way for one more of the most urgent ones. The caller holds mu.
func (a *Admission) limitOf(u Urgency, open int) int {
	if u == MissedLast && time.Since(a.lastOnTime) < lull {
		return min(open, max(leastWindow, a.window/lateWindow))
	}
	return open
}

// open is how many begins may be under way for one more of the most urgent ones. The caller holds mu.
func (a *Admission) open() int {
	if a.probing() {
		return probes
	}
	return a.window
}

// probing tells whether begins are to show what the registry takes at best. The caller holds mu.
func (a *Admission) probing() bool {
	return a.window <= smallWindow && a.best != 0 && time.Since(a.bestAt) > bestFor
}

// grant hands out what is free. The caller holds mu.
func (a *Admission) grant() {
	for {
		open := a.open() // which may change any moment
		g, ok := a.next(open)
		if !ok {
			return
		}
		line := &a.lines[g.Urgency]
		job := line.next()
		if line.wants[job] == 0 {
			continue // it has withdrawn
		}
		// All of a turn, though the window is passed by a few: jobs that are given what has just come
		// free decide and commit for one item at a time. Under a small window a few are many.
		g.Begins = min(line.wants[job], quantum, open)
		if open == probes { // each of which would else have others under way with it
			g.Begins = min(g.Begins, open-a.out)
		}
		if !job.Granted(g) {
			delete(line.wants, job)
			continue
		}
		a.admit(job, g)
		if line.wants[job] -= g.Begins; line.wants[job] > 0 {
			line.served = append(line.served, job)
		} else {
			delete(line.wants, job)
		}
	}
}

// next returns whose turn it is: the most urgent's, but for each fourth. It is false if nobody's. open is how many may
// be under way for one more of the most urgent ones. The caller holds mu.
func (a *Admission) next(open int) (Grant, bool) {
	onTime, late := a.lines[OnTimeFirst].waits(), a.lines[MissedLast].waits()
	switch {
	case late && a.passed >= lateShare-1 && a.out < open:
		return Grant{Urgency: MissedLast, Ahead: true}, true
	case onTime && a.out < open:
		return Grant{Urgency: OnTimeFirst}, true
	case late && !onTime && a.out < a.limitOf(MissedLast, open):
		return Grant{Urgency: MissedLast}, true
	default:
		return Grant{}, false
	}
}

// admit notes begins of a job that are under way from now on. The caller holds mu.
func (a *Admission) admit(job Applicant, g Grant) {
	a.out += g.Begins
	job.Place().out += g.Begins
	if g.Urgency == OnTimeFirst {
		a.lastOnTime = time.Now()
	}
	a.pass(g, g.Begins)
}

// over notes begins of a job that are not under way any more. The caller holds mu.
func (a *Admission) over(job Applicant, n int) {
	place := job.Place()
	n = min(n, place.out)
	a.out -= n
	place.out -= n
}

// pass counts what late ones that wait are passed by for, and what they are given for it. Of what came of a time in which none
// waited, no more is remembered than of a few turns. The caller holds mu.
func (a *Admission) pass(g Grant, n int) {
	const most = quantum * lateShare
	switch {
	case !a.lines[MissedLast].waits():
		a.passed = 0
	case g.Urgency == OnTimeFirst:
		a.passed += n
	case g.Ahead:
		a.passed -= n * (lateShare - 1)
	}
	a.passed = max(-most, min(most, a.passed))
}

// waits tells whether a job waits.
func (l *jobLine) waits() bool { return len(l.wants) > 0 }

// want notes that a job waits for one more begin.
func (l *jobLine) want(job Applicant) {
	if l.wants == nil {
		l.wants = make(map[Applicant]int)
	}
	if l.wants[job] == 0 {
		l.arrivals++
		heap.Push(&l.fresh, waiter{job: job, last: job.Place().last, arrival: l.arrivals})
	}
	l.wants[job]++
}

// next takes the job out whose turn it is. There is one.
func (l *jobLine) next() Applicant {
	l.freshTurn = !l.freshTurn
	if len(l.fresh) > 0 && (l.freshTurn || len(l.served) == 0) {
		return heap.Pop(&l.fresh).(waiter).job
	}
	job := l.served[0]
	l.served[0] = nil
	l.served = l.served[1:]
	return job
}

// waiter is a job that waits and had no turn yet.
type waiter struct {
	job     Applicant
	last    uint64
	arrival uint64
}

// places are those that wait, the one that had its turn longest ago before the others, and of two like it the first one
// that came.
type places []waiter

// Len implements [heap.Interface].
func (p places) Len() int { return len(p) }

// Less implements [heap.Interface].
func (p places) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(p[i].last, p[j].last), cmp.Compare(p[i].arrival, p[j].arrival)) < 0
}

// Swap implements [heap.Interface].
func (p places) Swap(i, j int) { p[i], p[j] = p[j], p[i] }

// Push implements [heap.Interface].
func (p *places) Push(w any) { *p = append(*p, w.(waiter)) }

// Pop implements [heap.Interface].
func (p *places) Pop() any {
	n := len(*p) - 1
	w := (*p)[n]
	(*p)[n] = waiter{}
	*p = (*p)[:n]
	return w
}
