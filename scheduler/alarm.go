package scheduler

import "time"

// alarm wakes a runner at the earliest of the times that it was set to. It costs no goroutine.
// It is for use by one goroutine at a time; ring is called on a goroutine of its own.
type alarm struct {
	ring  func()
	timer *time.Timer
	at    time.Time
}

// set has the alarm ring in d, unless it rings earlier anyway.
func (a *alarm) set(d time.Duration) {
	now := time.Now()
	at := now.Add(d)
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.ring)
	} else if a.at.After(now) && a.at.Before(at) {
		return
	} else {
		a.timer.Reset(d)
	}
	a.at = at
}

// stop silences the alarm.
func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
