package rounds

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// ObserveFires takes in which items a step leaves the job, once its configuration has been taken up, and which
// instances must be told of fires.
func (r *Rounds) ObserveFires(v room.View, t jobtree.Touched) {
	if t.Config || t.Epoch {
		r.dropSurplus(v)
	}
	r.missed.Observe(v, r.ports.Traits(), t)
	r.missed.FollowOwners(v, t)
}

// FireBy sets the times by which the job fires from now on, and forgets fires that were due by others, but for those that stay.
func (r *Rounds) FireBy(next fires.Times, now time.Time, stays func(fire time.Time) bool) {
	r.rouseAll()
	r.ahead = nil
	r.missed.FireBy(next, now)
	for _, it := range r.items {
		it.Due = it.Due.DropOtherTimes(stays)
	}
}

// Overhear takes in by which settings others go on while this process refuses them: what they forget is not made up here
// either when it can use the next ones.
func (r *Rounds) Overhear(cfg job.Config, delay time.Duration, now time.Time) {
	r.missed.Heed(cfg, delay, now) // first: before a job has fired by any times, it tells of nothing forgotten
	if times := fires.TimesOf(cfg); !r.missed.FiresBy(times) {
		r.FireBy(times, now, nil)
	}
}

// ClockWrong takes in that this process's clock is off by so much; negative if it is behind.
func (r *Rounds) ClockWrong(v room.View, off time.Duration) {
	r.rouseAll()
	// What this clock ticked ahead of time was not missed, and says nothing about what others missed.
	r.missed.ForgetTicks()
	if horizon := v.Clock.Now().Add(-off); off > 0 {
		for _, it := range r.items {
			it.Due = v.Rules.Miss(it.Due).DropAhead(horizon)
		}
	}
}
