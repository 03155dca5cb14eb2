package scheduler

import (
	"context"
	"errors"
	"log/slog"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Keys of log records. Operators filter by them. Those of rooms are in package room.
const (
	logJob      = "job"
	logInstance = "instance"
	logItem     = room.KeyItem
	logFire     = room.KeyFire
	logError    = room.KeyError
	logSession  = room.KeySession
	logReason   = room.KeyReason
	logItems    = "items"
	logServer   = "server"
	logObserver = "observer"

	logDifferences = "differences" // of two configurations, with their values
	logDecides     = "decided_by"
)

// commitRefused is logged wherever a transaction was not done.
const commitRefused = "commit refused, will try again"

// named is the handler of a job's lines: it names the job. A line costs more by that, and a job that says nothing less.
type named struct{ r *runner }

// Enabled implements [slog.Handler].
func (n named) Enabled(ctx context.Context, level slog.Level) bool {
	return n.r.s.log.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (n named) Handle(ctx context.Context, line slog.Record) error {
	return n.handler().Handle(ctx, line)
}

// WithAttrs implements [slog.Handler].
func (n named) WithAttrs(attrs []slog.Attr) slog.Handler { return n.handler().WithAttrs(attrs) }

// WithGroup implements [slog.Handler].
func (n named) WithGroup(name string) slog.Handler { return n.handler().WithGroup(name) }

func (n named) handler() slog.Handler {
	return n.r.s.log.Handler().WithAttrs([]slog.Attr{slog.String(logJob, n.r.name)})
}

// causes are the errors by which refusals are told apart when they are counted.
var causes = []error{
	registry.ErrNoSpace, registry.ErrDenied, registry.ErrTooLarge, registry.ErrOwned, registry.ErrUnsupported, registry.ErrInvalid,
	registry.ErrNotSent, registry.ErrSessionLost, registry.ErrUnknownOutcome, registry.ErrUnavailable, registry.ErrClosed,
}

func causeOf(err error) string {
	for _, cause := range causes {
		if errors.Is(err, cause) {
			return cause.Error()
		}
	}
	return ""
}

// repeated logs what affects many jobs and items at once, or recurs with every try: once for each cause
// and message, and then as a count. err is nil where the message says all; job may be empty.
func (s *Scheduler) repeated(level slog.Level, message, job string, err error, attrs ...any) {
	line := repeats.Line{Level: level, Message: message, Job: job, Cause: causeOf(err), Attrs: attrs}
	if err != nil {
		line.Attrs = append(attrs[:len(attrs):len(attrs)], logError, err)
	}
	s.repeats.Tell(line)
}

// ofRuns are the lines about single executions, fires, rounds and items. They come as often as jobs run, so
// for one job and one cause they are logged once, and then as a count. Line by line they are in the history
// of executions, if one is kept, and for observers.
var ofRuns = []string{
	"item failed", // of the error handler LOG
	"item failed, will try again",
	"item was cut short",
	"item was cut short, and taken away before that could be recorded",
	"item has finished, and its end could not be recorded: the execution was taken away",
	"item runs without the started hook: its round did not come together in time",
	"round failed",
	"error handler failed",
	"listener failed",
	"barrier settled",
	"cannot begin",
	"cannot claim",
	"the record of an item could not be read: it was set aside, and the item goes on with its next fire",
	"item pauses: a newer version wrote its record",
	"execution lost: its instance is gone",
	"execution lost: its Java instance is gone",
	"cannot record a lost execution",
	"cannot leave an execution to Java",
	"cannot have an item run again",
	"running a lost execution again",
	"a Java instance runs a lost execution again",
	"item of a crashed instance is run again",
	"cannot end an execution that nobody runs",
	"ended an execution that nobody runs",
	"removed a mark under which nothing runs",
}

// ofCauses are the attributes by which their causes are told apart.
var ofCauses = []string{logError, logReason, "failure", "listener", "lost_instance", "phase", "outcome"}

// countRuns returns a logger that counts the repetitions of ofRuns, and where it counts them.
func countRuns(log *slog.Logger) (*slog.Logger, *repeats.Log) {
	runs := repeats.New(log, repeats.Every)
	return slog.New(repeats.Handler(log.Handler(), runs, ofRuns, ofCauses)), runs
}
