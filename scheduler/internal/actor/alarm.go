package actor

import "time"

// Alarm wakes a runner at the earliest of the times that it was set to. It costs no goroutine.
// It is for use by one goroutine at a time; Ring is called on a goroutine of its own, and leads to a call of Rang.
type Alarm struct {
	Ring  func()
	timer *time.Timer // nil if it is not set
	at    time.Time
}

// Set makes the Alarm ring in d, unless it rings earlier anyway.
func (a *Alarm) Set(d time.Duration) {
	now := time.Now()
	at := now.Add(d)
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.Ring)
	} else if a.at.After(now) && a.at.Before(at) {
		return
	} else if pending := a.timer.Reset(d); pending && !a.at.After(now) {
		go a.Ring() // its time had come, and it had not rung yet
	}
	a.at = at
}

// Rang lets go of the timer that has rung, unless it was set again meanwhile: most jobs need none again for long.
func (a *Alarm) Rang() {
	if !a.at.After(time.Now()) {
		a.timer = nil
	}
}

// Stop silences the Alarm.
func (a *Alarm) Stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
