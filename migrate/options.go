package migrate

import "time"

// Options say what to do. The zero Options compare all jobs and write nothing.
type Options struct {
	// Jobs are the names of the jobs to copy. Empty means all jobs of the namespace.
	Jobs []string
	// Apply writes to the target. The default only tells what would be written.
	Apply bool
	// Overwrite makes jobs that differ in the target as the source has them. The default leaves them.
	Overwrite bool
	// EvenIfRunning copies jobs also while the source has instances or executions of them. The default
	// refuses.
	EvenIfRunning bool
	// TimeZone is given to the jobs that have none. It is an IANA name, such as Europe/Berlin. Java reads
	// cron expressions in the zone of its host. The default, empty, is UTC.
	TimeZone string
}

func (o Options) check() error {
	if _, err := time.LoadLocation(o.TimeZone); err != nil || o.TimeZone == "Local" {
		return &OptionError{Option: "TimeZone", Value: o.TimeZone, Reason: "must be empty for UTC, or an IANA name that is known here, such as Europe/Berlin"}
	}
	return nil
}

// OptionError says which option cannot be used.
type OptionError struct {
	Option string // field of [Options]
	Value  string
	Reason string // what is allowed
}

// Error names option, value and what is allowed.
func (e *OptionError) Error() string { return e.Option + " is " + quote(e.Value) + ", " + e.Reason }
