package policy

import (
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/job"
)

// Policy is what a job does about missed fires.
type Policy struct {
	On      bool
	All     bool          // run each, instead of one run for all
	Ageless bool          // a fire is never too late to be on time
	Most    int           // of them to keep, if All
	Window  time.Duration // how old they may be; 0 = any age

	Jitter jitter.Jitter // by how much each fire is told late
	former *former       // nil = the job had no other jitter lately
}

// former is a jitter that was in force until a moment.
type former struct {
	jitter jitter.Jitter
	until  time.Time
}

// policyOf returns the policy of a configuration. Whether a fire is never too late, the schedule tells.
func policyOf(cfg job.Config) Policy {
	return Policy{
		On:     cfg.Misfire != job.MisfireSkip,
		All:    cfg.Misfire == job.MisfireAll,
		Most:   inforce.MisfireMax(cfg),
		Window: cfg.MisfireWindow,
		Jitter: jitter.For(cfg),
	}
}

// After returns the policy as it follows another one now. A fire whose delay was over under that one, or ends as a shorter
// one takes its place, is on time for as long as any.
func (m Policy) After(before Policy, now time.Time) Policy {
	switch before.Jitter {
	case m.Jitter:
		m.former = before.former
	case jitter.Jitter{}: // of a job that paused
	default:
		m.former = &former{before.Jitter, now}
	}
	return m
}

// Told returns when a fire is told of: when it has come, and its jitter is over.
func (m Policy) Told(fire time.Time) time.Time { return fire.Add(m.Jitter.Of(fire)) }

// due returns when a fire was told of, which was perhaps by the former jitter, or when that was replaced.
func (m Policy) due(fire time.Time) time.Time {
	told := m.Told(fire)
	if m.former == nil {
		return told
	}
	was := fire.Add(m.former.jitter.Of(fire))
	if was.After(m.former.until) {
		was = m.former.until
	}
	return Later(told, was)
}
