package room

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
