package scheduler

import (
	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/job"
)

// lastCron is the last cron by which Java instances would fire. The Java console stores any text, and Java
// instances go on by the last one that they could read.
type lastCron struct {
	good string // empty before the first
	bad  string // the stored one that is not used, as it was reported
}

// cronInForce returns the configuration by which to go on: the stored one, with the last good cron in the
// place of one that Java cannot fire by.
func (s *shared) cronInForce(stored *job.Config) *job.Config {
	r := s.runner
	if !r.s.java {
		return stored
	}
	fault := r.cronFault(*stored)
	if fault == nil {
		if s.bad != "" {
			r.log.InfoContext(r.life, "the stored cron can be used again", "cron", stored.Cron)
		}
		s.good, s.bad = stored.Cron, ""
		return stored
	}
	inForce := *stored
	inForce.Cron = s.good
	if s.good == "" || r.cronFault(inForce) != nil {
		return stored // there is no good one, or something else is wrong
	}
	if s.bad != stored.Cron {
		s.bad = stored.Cron
		r.log.ErrorContext(r.life, "job goes on by its last good cron, as Java instances do: the stored one cannot be used", "cron", s.good, logError, fault)
	}
	return &inForce
}

// cronFault tells what keeps a Java instance from firing by a configuration's cron; nil if nothing does.
func (r *runner) cronFault(cfg job.Config) error {
	schedule, err := cfg.Schedule()
	if err != nil {
		return err
	}
	if reason := javaCron(cfg.Cron); reason != "" {
		return &job.FieldError{Field: "Cron", Value: cfg.Cron, Reason: reason}
	}
	if cronexpr.NeverAfter(schedule, r.s.now()) {
		return &job.FieldError{Field: "Cron", Value: cfg.Cron, Reason: "never fires again"}
	}
	return nil
}
