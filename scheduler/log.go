package scheduler

// Keys of log records. Operators filter by them.
const (
	logJob      = "job"
	logInstance = "instance"
	logItem     = "item"
	logFire     = "fire"
	logSource   = "source"
	logToken    = "token"
	logError    = "error"
	logSession  = "session"
	logReason   = "reason"
	logItems    = "items"
	logServer   = "server"
	logObserver = "observer"

	logDifferences = "differences" // of two configurations, with their values
	logDecides     = "decided_by"
)
