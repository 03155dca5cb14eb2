package scheduler

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/job"
)

// settings are the job's configuration as the registry has it, made ready for use.
type settings struct {
	ok         bool           // false: there is none, or it cannot be used, and nothing may begin
	config     *job.Config    // what the state has, and not a copy: there may be thousands of jobs
	parameters map[int]string // of items
	schedule   cronexpr.Schedule
	delay      time.Duration // after the end of a run; 0 = the job fires by its schedule
	misfires   misfires
	code       job.Simple // what runs the items
	handler    job.ErrorHandler
	maxRunning int // items at once in this process; 0 = without limit
}

// unconfigured are the settings of a job that cannot run.
func unconfigured() settings { return settings{config: &noConfig} }

var noConfig job.Config // never written

// configure takes up a new configuration. Of one that cannot be used nothing is: half of it might be
// worse than none. Fires that were missed under another cron or zone are forgotten.
func (r *runner) configure() {
	paused := !r.settings.ok
	r.settings = unconfigured()
	defer func() { r.keepTime(paused) }()
	stored := r.state.Config
	if stored.Revision == 0 {
		r.log.WarnContext(r.life, "job was removed from the registry, it pauses")
		return
	}
	if stored.Err != nil {
		r.log.ErrorContext(r.life, "job pauses: its configuration cannot be read", logError, stored.Err)
		return
	}
	cfg := r.shared.cronInForce(&r.state.Config.Value)
	stored.Value = *cfg
	next := settings{ok: true, config: cfg, misfires: misfiresOf(stored.Value)}
	var err error
	if next.schedule, err = stored.Value.Schedule(); err == nil {
		next.parameters, err = job.ParseItemParameters(stored.Value.ShardingItemParameters)
	}
	if err == nil {
		next.code, err = configureCode(r.simple, stored.Value)
	}
	if err != nil {
		r.log.ErrorContext(r.life, "job pauses: its configuration cannot be used", logError, err)
		return
	}
	next.delay, next.misfires.ageless = cronexpr.DelayOf(next.schedule)
	next.handler, next.maxRunning = r.handlerOf(stored.Value), r.maxRunning(stored.Value)
	r.settings = next
	// A fixed delay has no fires but what the records say.
	r.records = stored.Value.MonitorExecution && next.delay == 0
	for _, it := range r.items {
		it.due.missed = next.misfires.dropBeyond(next.misfires.dropUnwanted(it.due.missed))
	}
}

// times are what a job fires by.
type times struct {
	cron, zone, daylightSaving string
	start, end                 time.Time
	jitter, offset             int
}

func timesOf(cfg job.Config) times {
	return times{
		cron: cfg.Cron, zone: cfg.TimeZone, daylightSaving: cfg.DaylightSaving,
		start: cfg.StartTime, end: cfg.EndTime, jitter: cfg.JitterSeconds, offset: cfg.OffsetSeconds,
	}
}

// keepTime gives the timetable the schedule in force, if it is another one than before or the job was
// paused. What is due outlasts a pause, and is forgotten when the times have changed or the job is
// gone.
func (r *runner) keepTime(paused bool) {
	now := r.settings
	if !now.ok {
		r.s.timetable.set(&r.entry, nil)
		r.witness.missing()
		if !r.state.Config.Exists() {
			r.fireBy(times{})
		}
		return
	}
	if next := timesOf(*now.config); next != r.times {
		r.fireBy(next)
	} else if !paused {
		return
	}
	if now.delay == 0 && !cronexpr.IsTriggered(now.schedule) && cronexpr.NeverAfter(now.schedule, r.s.now()) {
		r.log.WarnContext(r.life, "the job's cron never fires again", "cron", now.config.Cron)
	}
	r.s.timetable.setWith(&r.entry, now.schedule, jitter{job: r.name, most: now.misfires.jitter})
}

// fireBy notes by what the job fires from now on, and forgets what came under other times.
func (r *runner) fireBy(next times) {
	r.times = next
	r.dropOtherTimes()
}

// name returns a short name of the times, the same in every process, by which notes of missed fires tell
// that they are of these.
func (t times) name() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %q %d %d %d %d", t.cron, t.zone, t.daylightSaving, unixOf(t.start), unixOf(t.end), t.jitter, t.offset)
	return strconv.FormatUint(h.Sum64(), 36)
}

func unixOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// failoverLimit is how often in a row a lost execution is run again.
func (r *runner) failoverLimit() int {
	if !r.settings.ok {
		return job.DefaultFailoverLimit
	}
	return r.settings.config.FailoverLimit
}
