package etcd

import "time"

// latencyWindow is for how long at least the fastest answer counts. In a shorter one all of them may have
// waited for what other processes asked.
const latencyWindow = time.Minute

// latency is how slow the store's answers have been lately. Requests that are repeated to a store that
// is merely busy make it busier, so a try gets a multiple of what others took.
type latency struct {
	slowest time.Duration
	fadedAt time.Time     // when the slowest came, or was last halved since
	usual   time.Duration // smoothed
	// The fastest answers of this window and of the one before; 0 = there was none. That is what an answer
	// takes when nothing waits for anything.
	fastest, formerFastest time.Duration
	windowEnds             time.Time
}

// observe notes how long an answer took. Slow ones are forgotten after a few that were faster, and with time.
func (l *latency) observe(took time.Duration, now time.Time) {
	l.fade(now)
	l.slowest = l.slowest * 7 / 8
	if took >= l.slowest {
		l.slowest, l.fadedAt = took, now
	}
	if l.usual == 0 {
		l.usual = took
	}
	l.usual += (took - l.usual) / 8
	if now.After(l.windowEnds) {
		l.formerFastest, l.fastest, l.windowEnds = l.fastest, 0, now.Add(latencyWindow)
	}
	if l.fastest == 0 || took < l.fastest {
		l.fastest = took
	}
}

// parallelRequests returns how many requests should be under way at a time: some to keep a fast store busy, more
// for one whose answers take long however little it has to do, because its disk or the way to it is slow.
//
// Requests that wait in the store for others make its answers slower and it no faster, and each process
// sees those of all. So only so many should wait there: of the requests under way, what usual answers take
// beyond the fastest one is the share that waits.
func (l *latency) parallelRequests() int {
	least := l.fastest
	if l.formerFastest > 0 && l.formerFastest < least {
		least = l.formerFastest
	}
	most := min(max(baseInFlight, int(least/latencyPerRequest)), maxInFlight)
	waiting := l.usual - least
	if waiting <= 0 {
		return most
	}
	return min(max(baseInFlight, int(baseInFlight*l.usual/waiting)), most)
}

// fade halves the slowest answer for each window that has passed: where little is asked, few answers come that could have it
// forgotten.
func (l *latency) fade(now time.Time) {
	if windows := now.Sub(l.fadedAt) / latencyWindow; windows > 0 {
		l.slowest >>= min(windows, 63)
		l.fadedAt = now
	}
}

// minTimeout returns the least time that the next request gets: four times the slowest recent answer, but no more
// than timeout doubled maxDoublings times.
func (l *latency) minTimeout(timeout time.Duration, now time.Time) time.Duration {
	l.fade(now)
	return min(4*l.slowest, timeout<<maxDoublings)
}
