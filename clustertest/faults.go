package clustertest

import "time"

// Crash ends the instance as SIGKILL ends a process: the registry is told nothing, and its session and what
// it held stay until the session's TTL has passed, five seconds. The contexts of its code end with the cause
// [scheduler.ErrVanished]; what they still do concerns nobody. If it is not running, Crash does nothing.
func (i *Instance) Crash() {
	i.c.tb.Helper()
	i.c.alive("Crash")
	if i.now().kill() {
		i.c.book.note(i.name + " crashes")
	}
}

// Freeze has the instance stand still as SIGSTOP, a pause of its virtual machine or a laptop's lid does it:
// it hears and says nothing, and its clock goes on. Code that runs goes on, too, as Go cannot stop it, unless
// it is in [Sleep]; it does not return, and none begins, before [Instance.Thaw]. To freeze an instance that
// is frozen, or not running, does nothing.
func (i *Instance) Freeze() {
	i.c.tb.Helper()
	i.c.alive("Freeze")
	if p := i.now(); p.is(running) && p.gate.shut() {
		p.handle.Pause()
		i.c.book.note(i.name + " freezes")
	}
}

// Thaw ends [Instance.Freeze]. The instance finds out at once how much time has passed; if that was more than
// its session's TTL, the contexts of its code end before the code goes on.
func (i *Instance) Thaw() {
	i.c.tb.Helper()
	i.c.alive("Thaw")
	p := i.now()
	if p.is(running) && p.gate.openSoon() {
		i.c.book.note(i.name + " thaws")
		p.handle.Resume()
	}
}

// CutOff cuts the network between the instance and the registry. Its session is lost five seconds later, as
// the registry sees it, and a little earlier as the instance does.
func (i *Instance) CutOff() {
	i.c.tb.Helper()
	i.c.alive("CutOff")
	i.c.book.note(i.name + " is cut off")
	i.now().handle.Cut()
}

// Heal ends [Instance.CutOff].
func (i *Instance) Heal() {
	i.c.tb.Helper()
	i.c.alive("Heal")
	i.c.book.note(i.name + " is connected again")
	i.now().handle.Heal()
}

// Slow has each message between the instance and the registry take so long, from now on: a commit takes twice
// that. 0, as at the beginning, is no time at all.
func (i *Instance) Slow(oneWay time.Duration) {
	i.c.tb.Helper()
	i.c.alive("Slow")
	i.c.book.note(i.name + "'s messages take " + oneWay.String())
	i.now().handle.SetLatency(oneWay)
}

// SetClock sets by how much the instance's wall clock is ahead of the cluster's, from now on; behind if it is
// below 0. Its jobs fire by that clock. The clocks of other instances, of the registry and of the test
// function, and what [time.Now] says to code, stay as they are; code may ask [Instance.Clock].
func (i *Instance) SetClock(ahead time.Duration) {
	i.c.tb.Helper()
	i.c.alive("SetClock")
	i.c.book.note(i.name + "'s clock is ahead by " + ahead.String())
	i.ahead.Store(int64(ahead))
}
