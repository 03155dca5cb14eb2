package etcd

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstPause = 10 * time.Millisecond
	longPause  = 250 * time.Millisecond
	// paceSpan is for how long at least the swiftest answer counts. In a shorter span all of them may have
	// waited for what other processes asked.
	paceSpan = time.Minute
	// doublings bounds how often the time of a try is doubled.
	doublings = 4
)

// patience is how long a call waits for one try, and between two. The zero value with a timeout is
// that of a first try.
type patience struct {
	timeout time.Duration // of a first try
	others  int           // members that later tries may go to
	failed  int           // tries that failed
	slow    int           // tries that took too long
}

// patience returns that of a first request. Tries go round among the members.
func (c Config) patience() patience {
	return patience{timeout: c.RequestTimeout, others: len(c.Endpoints) - 1}
}

// limit returns the time for the next try. A store that is merely slow must get more time, or no try
// would ever be answered; but a member that stands still is no slow store, so every member may be asked
// once before that.
func (p *patience) limit() time.Duration {
	return p.timeout << min(max(p.slow-p.others, 0), doublings)
}

// note counts a failed try.
func (p *patience) note(err error) {
	p.failed++
	if tookTooLong(err) {
		p.slow++
	}
}

// pause returns how long to wait before the next try: the double after each failure, up to a bound,
// of which a random half is taken off so that processes do not repeat in step.
func (p *patience) pause() time.Duration {
	d := min(firstPause<<min(max(p.failed-1, 0), 10), longPause)
	return d/2 + rand.N(d/2)
}

// pace is how slow the store's answers have been lately. Requests that are repeated to a store that
// is merely busy make it busier, so a try gets a multiple of what others took.
type pace struct {
	slowest time.Duration
	usual   time.Duration // smoothed
	// The swiftest answers of this span and of the one before; 0 = there was none. That is what an answer
	// takes when nothing waits for anything.
	swiftest, former time.Duration
	spanEnds         time.Time
}

// answered notes how long an answer took. Slow ones are forgotten after a few that were faster.
func (p *pace) answered(took time.Duration, now time.Time) {
	p.slowest = max(took, p.slowest*7/8)
	if p.usual == 0 {
		p.usual = took
	}
	p.usual += (took - p.usual) / 8
	if now.After(p.spanEnds) {
		p.former, p.swiftest, p.spanEnds = p.swiftest, 0, now.Add(paceSpan)
	}
	if p.swiftest == 0 || took < p.swiftest {
		p.swiftest = took
	}
}

// requests returns how many requests should be under way at a time: some to keep a swift store busy, more
// for one whose answers take long however little it has to do, because its disk or the way to it is slow.
//
// Requests that wait in the store for others make its answers slower and it no faster, and each process
// sees those of all. So only so many should wait there: of the requests under way, what usual answers take
// beyond the swiftest one is the share that waits.
func (p *pace) requests() int {
	least := p.swiftest
	if p.former > 0 && p.former < least {
		least = p.former
	}
	most := min(max(inFlight, int(least/perRequest)), mostInFlight)
	waiting := p.usual - least
	if waiting <= 0 {
		return most
	}
	return min(max(inFlight, int(inFlight*p.usual/waiting)), most)
}

// atLeast returns the time that a try should have; a timeout multiplied by the usual bound is enough.
func (p *pace) atLeast(timeout time.Duration) time.Duration {
	return min(4*p.slowest, timeout<<doublings)
}

// sleep waits, and tells whether the context is still going on.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
