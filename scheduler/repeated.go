package scheduler

import (
	"errors"
	"log/slog"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
)

// commitRefused is logged wherever a transaction was not done.
const commitRefused = "commit refused, will try again"

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
