package clustertest

import "time"

// Crash ends the instance as SIGKILL ends a process. The registry does not notice: the instance's session, and what
// the session holds, stay until the session's TTL of five seconds has passed. The contexts of its code end with
// the cause [scheduler.ErrVanished]; what the code still does has no effect on the cluster. If the instance is not
// running, Crash does nothing.
func (i *Instance) Crash() {
	i.c.tb.Helper()
	i.c.alive("Crash")
	if i.now().kill() {
		i.c.book.note(i.name + " crashes")
	}
}

// Freeze makes the instance stand still, as SIGSTOP, a pause of its virtual machine or a laptop's lid does: it sends
// and receives nothing, while its clock goes on. Code that is in [Sleep] stands still, too. Other code goes on,
// because Go cannot stop it, but it does not return before [Instance.Thaw], and no code begins. If the instance is
// frozen already, or not running, Freeze does nothing.
func (i *Instance) Freeze() {
	i.c.tb.Helper()
	i.c.alive("Freeze")
	if p := i.now(); p.is(running) && p.gate.shut() {
		p.handle.Pause()
		i.c.book.note(i.name + " freezes")
	}
}

// Thaw ends [Instance.Freeze]. The instance finds out at once how much time has passed. If it was more than its
// session's TTL, the contexts of its code end before the code goes on.
func (i *Instance) Thaw() {
	i.c.tb.Helper()
	i.c.alive("Thaw")
	p := i.now()
	if p.is(running) && p.gate.openSoon() {
		i.c.book.note(i.name + " thaws")
		p.handle.Resume()
	}
}

// CutOff cuts the network between the instance and the registry. The registry ends the instance's session five seconds
// later. The instance takes its session for lost a little earlier.
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

// Slow sets how long each message between the instance and the registry takes from now on. A commit takes two
// messages. At the beginning, messages take no time.
func (i *Instance) Slow(oneWay time.Duration) {
	i.c.tb.Helper()
	i.c.alive("Slow")
	if oneWay < 0 {
		i.c.fatalf("Slow %s by %s: no message arrives before it was sent", i.name, oneWay)
	}
	i.c.book.note(i.name + "'s messages take " + oneWay.String())
	i.now().handle.SetLatency(oneWay)
}

// SetClock sets by how much the instance's wall clock is ahead of the cluster's time from now on; a negative duration
// sets it back. Its jobs fire by this clock. The clocks of other instances, of the registry and of the test
// function stay as they are. So does [time.Now] in the code of jobs; [Instance.Clock] tells the instance's time.
func (i *Instance) SetClock(ahead time.Duration) {
	i.c.tb.Helper()
	i.c.alive("SetClock")
	i.c.book.note(i.name + "'s clock is ahead by " + ahead.String())
	i.ahead.Store(int64(ahead))
}
