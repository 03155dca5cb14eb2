// Package admission bounds how many begins of a process are under way at once, and orders those that wait.
package admission

import (
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
	swift = 2 * time.Second
	slow  = 4 * time.Second
	// bestFor is for how long the best answer counts.
	bestFor = 30 * time.Second
	// quantum is how many begins a job is granted before the next job's turn.
	quantum = 16
)

// Urgency orders begins while more of them wait than the registry takes.
type Urgency int

// The urgencies, the most urgent first.
const (
	OnTimeFirst Urgency = iota // of fires that are due
	MissedLast                 // of fires that are late already; only when no other waits
	Urgencies
)

// Admission bounds how many begins of this process are under way, by how soon the registry confirms
// them. What is not admitted is not even built: beyond capacity, deciding about what never runs must not
// take the time of what does. It is safe for concurrent use.
//
// Jobs take turns, a few begins each. One that did not wait yet is served in alternation with those that
// do, so that a job of a single item never waits for all that a job of ten thousand asks for.
type Admission struct {
	mu      sync.Mutex
	window  int
	out     int // begins under way
	lines   [Urgencies]jobLine
	changed time.Time // when the window was changed last
	best    time.Duration
	bestAt  time.Time
	usual   time.Duration // how long a confirmation takes, smoothed
}

// Applicant is a job that waits for turns.
type Applicant interface {
	// Granted tells that so many begins are admitted. It must not block. It is false if nobody is there
	// to use them.
	Granted(u Urgency, n int) bool
}

// New makes one that knows nothing of the registry yet.
func New() *Admission { return &Admission{window: firstWindow} }

// jobLine is the jobs that wait with one urgency.
type jobLine struct {
	wants     map[Applicant]int // begins that each waits for
	fresh     []Applicant       // those that had no turn yet
	served    []Applicant       // the others
	freshTurn bool
}

// Take admits a begin at once, or makes the job wait for its turn. What comes free is granted at once, so
// where there is room nobody waits.
func (a *Admission) Take(job Applicant, u Urgency) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.out < a.window {
		a.out++
		return true
	}
	a.lines[u].want(job)
	return false
}

// Full tells whether a begin that is asked for now would have to wait.
func (a *Admission) Full() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out >= a.window
}

// Wait makes the job wait for its turn, unless a begin could be admitted at once.
func (a *Admission) Wait(job Applicant, u Urgency) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.out < a.window {
		return false
	}
	a.lines[u].want(job)
	return true
}

// GiveBack returns begins that were admitted and are not made.
func (a *Admission) GiveBack(n int) {
	if n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out -= n
	a.grant()
}

// Confirmed returns begins that the registry has answered, which were handed to it at a time.
func (a *Admission) Confirmed(n int, handed, now time.Time) {
	if n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.learn(handed, now)
	a.out -= n
	a.grant()
}

// learn fits the window to how long an answer took. Only what was handed over under the present window
// says something of it. The caller holds mu.
func (a *Admission) learn(handed, now time.Time) {
	took := now.Sub(handed)
	a.usual += (took - a.usual) / 8
	if a.best == 0 || took < a.best || now.Sub(a.bestAt) > bestFor {
		a.best, a.bestAt = took, now
	}
	if handed.Before(a.changed) {
		return
	}
	wanted := min(max(swift, 2*a.best), slow)
	switch {
	case took > wanted && a.out > leastWindow: // else it is not they who wait for each other
		a.window = max(leastWindow, int(float64(min(a.window, a.out))*max(0.5, float64(wanted)/float64(took))))
	case took < wanted/8 && a.out >= a.window:
		a.window = min(mostWindow, 2*a.window)
	case took < wanted/2 && a.out >= a.window:
		a.window = min(mostWindow, a.window+a.window/4)
	default:
		return
	}
	a.changed = now
}

// Confirmation returns about how long the registry takes to confirm a begin.
func (a *Admission) Confirmation() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.usual
}

// grant hands out what is free, to the most urgent first. The caller holds mu.
func (a *Admission) grant() {
	for u := range Urgencies {
		line := &a.lines[u]
		for a.out < a.window && len(line.wants) > 0 {
			job := line.next()
			// All of a turn, though the window is passed by a few: jobs that are given what has just come
			// free decide and commit for one item at a time.
			n := min(line.wants[job], quantum)
			if !job.Granted(u, n) {
				delete(line.wants, job)
				continue
			}
			a.out += n
			if line.wants[job] -= n; line.wants[job] > 0 {
				line.served = append(line.served, job)
			} else {
				delete(line.wants, job)
			}
		}
	}
}

// want notes that a job waits for one more begin.
func (l *jobLine) want(job Applicant) {
	if l.wants == nil {
		l.wants = make(map[Applicant]int)
	}
	if l.wants[job] == 0 {
		l.fresh = append(l.fresh, job)
	}
	l.wants[job]++
}

// next takes the job out whose turn it is. There is one.
func (l *jobLine) next() Applicant {
	l.freshTurn = !l.freshTurn
	from := &l.served
	if len(l.fresh) > 0 && (l.freshTurn || len(l.served) == 0) {
		from = &l.fresh
	}
	job := (*from)[0]
	(*from)[0] = nil
	*from = (*from)[1:]
	return job
}
