package job

import (
	"errors"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/timezone"
)

// Schedule returns when the job fires, by Cron, Offset, TimeZone, DaylightSaving, StartTime and
// EndTime. The error joins one [*FieldError] for each of them that is at fault.
//
// Time zones come from the host, or from the program if it imports time/tzdata. Processes whose
// versions of the zone database differ may disagree about fires in times to come.
func (c Config) Schedule() (cronexpr.Schedule, error) {
	var f faults
	schedule := f.schedule(c)
	return schedule, f.join()
}

// ValidateAt is [Config.Validate], and besides refuses a cron expression that never fires after now,
// such as one of February 30th or of a year that has passed, and an EndTime that is over.
func (c Config) ValidateAt(now time.Time) error {
	var f faults
	schedule := f.check(c)
	switch never := "never fires after " + now.UTC().Format(time.RFC3339); {
	case schedule == nil || !c.over(schedule, now):
	case !c.EndTime.IsZero() && !now.Before(c.EndTime):
		f.add("EndTime", c.EndTime.UTC().Format(time.RFC3339Nano), "is over, so the job "+never)
	default:
		f.add("Cron", c.Cron, never)
	}
	return f.join()
}

// over tells whether a job that fires by s will not do so again after now.
func (c Config) over(s cronexpr.Schedule, now time.Time) bool {
	if cronexpr.IsTriggered(s) {
		return false
	}
	if _, is := cronexpr.DelayOf(s); is {
		return !c.EndTime.IsZero() && !now.Before(c.EndTime)
	}
	return cronexpr.NeverAfter(s, now)
}

// schedule returns nil if one of the fields is at fault.
func (f *faults) schedule(c Config) cronexpr.Schedule {
	before := len(*f)
	location, err := timezone.Load(c.TimeZone)
	if err != nil {
		f.addCause("TimeZone", c.TimeZone, "must be empty for UTC, or "+timezone.Wanted, err)
	}
	daylight, err := cronexpr.ParseDaylightSaving(string(c.DaylightSaving))
	if err != nil {
		f.addCause("DaylightSaving", string(c.DaylightSaving), "must be empty, natural or quartz", nil)
	}
	start, end := c.StartTime, c.EndTime
	if !f.checkWindow(start, end) {
		start, end = time.Time{}, time.Time{} // so that a fault of the cron is found, too
	}
	schedule, err := cronexpr.Parse(c.Cron, cronexpr.WithLocation(location), cronexpr.WithDaylightSaving(daylight),
		cronexpr.WithStart(start), cronexpr.WithEnd(end), cronexpr.WithOffset(c.Offset))
	if err != nil && !errors.Is(err, cronexpr.ErrInvalidOption) {
		f.addCause("Cron", c.Cron, "must be a cron expression", err)
	}
	if len(*f) > before {
		return nil
	}
	return schedule
}

// checkWindow also asks that times can be stored. It tells whether all is well.
func (f *faults) checkWindow(start, end time.Time) bool {
	before := len(*f)
	for _, bound := range []struct {
		field string
		at    time.Time
	}{{"StartTime", start}, {"EndTime", end}} {
		if year := bound.at.UTC().Year(); year < 1 || year > 9999 {
			f.add(bound.field, bound.at.String(), "must be in the years 1 to 9999")
		}
	}
	if !end.IsZero() && end.Before(start) {
		f.add("EndTime", end.Format(time.RFC3339Nano), "must not be before StartTime, "+start.Format(time.RFC3339Nano))
	}
	return len(*f) == before
}
