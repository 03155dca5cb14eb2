package job

import (
	"errors"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
)

// Schedule returns when the job fires, by Cron, TimeZone and DaylightSaving. The error joins one
// [*FieldError] for each of the three that is at fault.
//
// Time zones come from the host, or from the program if it imports time/tzdata. Processes whose
// versions of the zone database differ may disagree about fires in times to come.
func (c Config) Schedule() (cronexpr.Schedule, error) {
	var f faults
	schedule := f.schedule(c)
	return schedule, errors.Join(f...)
}

// ValidateAt is [Config.Validate], and besides refuses a cron expression that never fires after now,
// such as one of February 30th or of a year that has passed.
func (c Config) ValidateAt(now time.Time) error {
	var f faults
	schedule := f.check(c)
	if schedule != nil && cronexpr.NeverAfter(schedule, now) {
		f.add("Cron", c.Cron, "never fires after "+now.UTC().Format(time.RFC3339))
	}
	return errors.Join(f...)
}

// schedule returns nil if one of the fields is at fault.
func (f *faults) schedule(c Config) cronexpr.Schedule {
	before := len(*f)
	location, err := time.LoadLocation(c.TimeZone) // "" is UTC
	if err != nil || c.TimeZone == "Local" {
		f.addCause("TimeZone", c.TimeZone, "must be empty for UTC, or an IANA name that is known here, such as Europe/Berlin", err)
	}
	daylight, err := cronexpr.ParseDaylightSaving(c.DaylightSaving)
	if err != nil {
		f.addCause("DaylightSaving", c.DaylightSaving, "must be empty, natural or quartz", nil)
	}
	schedule, err := cronexpr.Parse(c.Cron, cronexpr.WithLocation(location), cronexpr.WithDaylightSaving(daylight))
	if err != nil {
		f.addCause("Cron", c.Cron, "must be a cron expression", err)
	}
	if len(*f) > before {
		return nil
	}
	return schedule
}
