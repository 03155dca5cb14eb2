package admission

import "time"

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

	// lateWindow is the part of the window that late begins may fill if any was on time within lull. In the registry's queue
	// those on time pass them by, so more of them would but wait there until they are dropped, and have been decided
	// and built for nothing.
	lateWindow = 4
	lull       = 5 * time.Second
)

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
