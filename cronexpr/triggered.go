package cronexpr

import "time"

// Triggered is the expression of a job that no clock starts: it runs when somebody triggers it.
const Triggered = "@triggered"

// triggered is the schedule without fires.
type triggered struct{}

func (triggered) String() string { return Triggered }

// Next implements [Schedule]: there is none.
func (triggered) Next(time.Time) time.Time { return time.Time{} }

// IsTriggered tells whether s is the schedule of [Triggered], which means to have no fires.
func IsTriggered(s Schedule) bool {
	s = unbound(s)
	_, is := s.(triggered)
	return is
}
