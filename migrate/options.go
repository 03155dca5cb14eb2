package migrate

import (
	"cmp"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/internal/timezone"
)

// Options say what Run does. With the zero Options, it compares all jobs and writes nothing.
type Options struct {
	// Jobs are the names of the jobs to copy. Empty means all jobs of the namespace.
	Jobs []string
	// Apply writes to the target. The default only reports what Run would write.
	Apply bool
	// Overwrite makes jobs that differ in the target as the source has them. The default leaves them.
	Overwrite bool
	// EvenIfRunning also copies jobs that have instances or executions in the source. The default
	// refuses these jobs.
	EvenIfRunning bool
	// TimeZone is the zone of the jobs that name none: an IANA name, such as Europe/Berlin. Java reads
	// their cron expressions in the zone of its host. The default, empty, is UTC.
	TimeZone string
	// Who changes jobs that the target has, How, such as by which program, and why, is written down with the change. Who and
	// How have at most 200 bytes, a Reason 1,000. The defaults are "unknown", "migrate" and no reason.
	Who, How, Reason string
	// Progress hears after each job how many of all are done, on the caller's goroutine. nil hears nothing.
	Progress func(done, of int)
}

// author is who is written down.
func (o Options) author() guarded.Author {
	return guarded.Author{Who: cmp.Or(o.Who, "unknown"), How: cmp.Or(o.How, "migrate"), Reason: o.Reason}
}

func (o Options) check() error {
	if err := o.author().Check(); err != nil {
		return err
	}
	if _, err := timezone.Load(o.TimeZone); err != nil {
		return &OptionError{Option: "TimeZone", Value: o.TimeZone, Reason: "must be empty for UTC, or " + timezone.Wanted}
	}
	return nil
}

// ErrInvalidOption is what every [OptionError] is. It is one error in all packages of this module: errors.Is finds it by
// any of their names.
var ErrInvalidOption = option.ErrInvalid

// OptionError says which option cannot be used.
type OptionError struct {
	Option string // field of [Options]
	Value  string
	Reason string // what is allowed
}

// Unwrap makes it an [ErrInvalidOption].
func (e *OptionError) Unwrap() error { return ErrInvalidOption }

// Error names option, value and what is allowed.
func (e *OptionError) Error() string { return e.Option + " is " + quote(e.Value) + ", " + e.Reason }
