package scheduler

import (
	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/job"
)

// settings are the job's configuration as the registry has it, made ready for use.
type settings struct {
	ok         bool // false: there is none, or it cannot be used, and nothing may begin
	config     job.Config
	parameters map[int]string // of items
	schedule   cronexpr.Schedule
	misfires   misfires
}

// configure takes up a new configuration. Of one that cannot be used nothing is: half of it might be
// worse than none. Fires that were missed under another cron or zone are forgotten.
func (r *runner) configure() {
	before := r.settings
	r.settings = settings{}
	defer r.keepTime(before)
	stored := r.state.Config
	if stored.Revision == 0 {
		r.log.WarnContext(r.life, "job was removed from the registry, it pauses")
		return
	}
	if stored.Err != nil {
		r.log.ErrorContext(r.life, "job pauses: its configuration cannot be read", logError, stored.Err)
		return
	}
	next := settings{ok: true, config: stored.Value, misfires: misfiresOf(stored.Value)}
	var err error
	if next.schedule, err = stored.Value.Schedule(); err == nil {
		next.parameters, err = job.ParseItemParameters(stored.Value.ShardingItemParameters)
	}
	if err != nil {
		r.log.ErrorContext(r.life, "job pauses: its configuration cannot be used", logError, err)
		return
	}
	r.settings = next
	if !next.misfires.on {
		for _, it := range r.items {
			it.due.missed = nil
		}
	}
}

// keepTime gives the timetable the schedule in force, if it is another one than before.
func (r *runner) keepTime(before settings) {
	now := r.settings
	if before.ok && now.ok && sameTimes(before.config, now.config) {
		return
	}
	for _, it := range r.items {
		it.due = due{}
	}
	if !now.ok {
		r.s.timetable.set(&r.entry, nil)
		return
	}
	if now.schedule.Next(r.s.now()).IsZero() {
		r.log.WarnContext(r.life, "the job's cron never fires again", "cron", now.config.Cron)
	}
	r.s.timetable.set(&r.entry, now.schedule)
}

func sameTimes(a, b job.Config) bool {
	return a.Cron == b.Cron && a.TimeZone == b.TimeZone && a.DaylightSaving == b.DaylightSaving
}

// failoverLimit is how often in a row a lost execution is run again.
func (r *runner) failoverLimit() int {
	if !r.settings.ok {
		return job.DefaultFailoverLimit
	}
	return r.settings.config.FailoverLimit
}
