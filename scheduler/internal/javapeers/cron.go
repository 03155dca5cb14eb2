package javapeers

import (
	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/javarules"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// lastCron is the last cron by which Java instances would fire. The Java console stores any text, and Java
// instances go on by the last one that they could read.
type lastCron struct {
	good string // empty before the first
	bad  string // the stored one that is not used, as it was reported
}

// InForce implements [peers.Leaders]: it returns the stored configuration, with the last good cron in the place
// of one that Java cannot fire by.
func (s *java) InForce(v room.View, stored *job.Config) *job.Config {
	fault := cronFault(v, *stored)
	if fault == nil {
		if s.bad != "" {
			s.ports.Log().InfoContext(s.ports.Life(), "the stored cron can be used again", "cron", stored.Cron)
		}
		s.good, s.bad = stored.Cron, ""
		return stored
	}
	inForce := *stored
	inForce.Cron = s.good
	if s.good == "" || cronFault(v, inForce) != nil {
		return stored // there is no good one, or something else is wrong
	}
	if s.bad != stored.Cron {
		s.bad = stored.Cron
		s.ports.Log().ErrorContext(s.ports.Life(), "job goes on by its last good cron, as Java instances do: the stored one cannot be used", "cron", s.good, room.KeyError, fault)
	}
	return &inForce
}

// cronFault tells what keeps a Java instance from firing by a configuration's cron; nil if nothing does.
func cronFault(v room.View, cfg job.Config) error {
	schedule, err := cfg.Schedule()
	if err != nil {
		return err
	}
	if reason := javarules.CronReason(cfg.Cron); reason != "" {
		return &job.FieldError{Field: "Cron", Value: cfg.Cron, Reason: reason}
	}
	if cronexpr.NeverAfter(schedule, v.Clock.Now()) {
		return &job.FieldError{Field: "Cron", Value: cfg.Cron, Reason: "never fires again"}
	}
	return nil
}
