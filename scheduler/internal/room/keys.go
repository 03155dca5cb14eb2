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

// RetryAfter is how long a runner waits after a refusal that no event will end, such as a full registry, and how
// long an end or a hook that could not be recorded waits for the next try.
const RetryAfter = time.Second
