package room

import "time"

// Keys of log records, the same everywhere in the scheduler. Operators filter by them.
const (
	KeyError   = "error"
	KeyFire    = "fire"
	KeyItem    = "item"
	KeyReason  = "reason"
	KeySession = "session"
	KeySource  = "source"
	KeyToken   = "token"
)

// FireOf is a fire as the value of [KeyFire]. A run by hand may stand for none, and then the value is empty: the zero time
// would read as one of the year 1.
func FireOf(fire time.Time) any {
	if fire.IsZero() {
		return ""
	}
	return fire
}
