package policy

import (
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/job"
)

// Policy is what a job does about missed fires.
type Policy struct {
	On     bool
	All    bool          // run each, instead of one run for all
	Most   int           // of them to keep, if All
	Window time.Duration // how old they may be; 0 = any age

	Jitter  jitter.Jitter // by how much each fire is told late
	Ageless bool          // a fire is never too late to be on time
}

// policyOf returns the policy of a configuration. Whether a fire is never too late, the schedule tells.
func policyOf(cfg job.Config) Policy {
	return Policy{
		On:     cfg.Misfire != job.MisfireSkip,
		All:    cfg.Misfire == job.MisfireAll,
		Most:   inforce.MisfireMax(cfg),
		Window: cfg.MisfireWindow,
		Jitter: jitter.Jitter{Job: cfg.Name, Most: cfg.Jitter},
	}
}

// Told returns when a fire is told of: when it has come, and its jitter is over.
func (m Policy) Told(fire time.Time) time.Time { return fire.Add(m.Jitter.Of(fire)) }
