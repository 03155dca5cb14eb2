// Package admission bounds how many begins of a process are under way at once, and orders those that wait.
package admission

import (
	"sync"
	"time"
)

const (
	// quantum is how many begins a job is granted before the next job's turn.
	quantum = 16
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
