package scheduler

import (
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/misfires"
)

// settings are the job's configuration as the registry has it, made ready for use.
type settings struct {
	ok         bool            // false: there is none, or it cannot be used, and nothing may begin
	config     *job.Config     // what the state has, and not a copy: there may be thousands of jobs
	parameters map[int]string  // of items
	rules      misfires.Rules  // by what it fires
	code       job.HandlerFunc // what runs the items
	awaitsCode bool            // the code is that of a former configuration, and nothing begins
	handler    job.ErrorHandler
	maxRunning int // items at once in this process; 0 = without limit
}

// unconfigured are the settings of a job that cannot run.
func unconfigured() settings { return settings{config: &noConfig} }

var noConfig job.Config // never written

// configure takes up a new configuration. Of one that cannot be used nothing is: half of it might be
// worse than none. What the application's code makes of it comes later, and until then nothing begins.
func (r *runner) configure() {
	next, warnings, err := r.judge()
	if next.config == nil {
		r.maker.Drop()
		r.takeUp(unconfigured(), nil, err)
		return
	}
	switch {
	case !r.settings.ok: // it goes on when everything is known
	case err != nil:
		r.adopt(unconfigured())
	default:
		known := next
		known.code, known.handler, known.awaitsCode = r.settings.code, r.settings.handler, true
		r.adopt(known)
	}
	r.makeCode(*next.config, func(m made) {
		faults := err
		if m.fault != nil {
			faults = errors.Join(faults, jobtree.StoredError(r.tree.Config(), m.fault))
		}
		if faults == nil && m.instead != nil {
			r.log.ErrorContext(r.life, "the job's error handler cannot be used, its failures are logged instead", logError, m.instead)
		}
		next.code, next.handler = m.code, m.handler
		r.takeUp(next, warnings, faults)
	})
}

// takeUp has the job go on by its settings, or pause for what is wrong with them.
func (r *runner) takeUp(next settings, warnings, faults error) {
	r.tellPause(faults)
	if faults != nil {
		r.adopt(unconfigured())
		return
	}
	r.tellDoubts(warnings)
	r.adopt(next)
	r.followItems(jobtree.Touched{})
	r.toConsider.Note(nil, true)
	r.leadership.LookAgain()
}

// adopt has settings be in force. Fires that were missed under another cron or zone are forgotten.
func (r *runner) adopt(next settings) {
	paused := !r.settings.ok
	r.settings = next
	if next.ok {
		// A fixed delay has no fires but what the records say.
		r.records = next.config.Monitored() && next.rules.Delay == 0
		for _, it := range r.items {
			it.due.Missed = next.rules.Keep(it.due.Missed)
		}
	}
	r.keepTime(paused)
}

// errNotStored: the job has no configuration.
var errNotStored = errors.New("the job is not in the registry")

// judge makes the settings of the configuration as the registry has it. The error has every reason why
// they cannot be used but those of the code, warnings what they are used in spite of. They are without
// the code, and have no configuration if there is none that could be read.
func (r *runner) judge() (next settings, warnings, err error) {
	stored := r.state.Config
	switch {
	case stored.Revision == 0:
		return settings{}, nil, errNotStored
	case stored.Err != nil:
		return settings{}, nil, stored.Err
	}
	cfg := r.peers.InForce(r.look(), &r.state.Config.Value)
	warnings, err = jobtree.CheckConfig(r.name, *cfg)
	faults := []error{err}
	fault := func(err error) { faults = append(faults, jobtree.StoredError(r.tree.Config(), err)) }
	if class := cfg.ClassName(); r.class != "" && class != r.class {
		fault(&job.FieldError{Field: "Class", Value: class, Reason: fmt.Sprintf("must be %q, which this process declares", r.class)})
	}
	if err := r.judgeStrategy(cfg.ShardingStrategy); err != nil && r.s.traits.OwnRules {
		warnings = errors.Join(warnings, err) // another may know it, and lead
	} else if err != nil {
		faults = append(faults, err)
	}
	next = settings{ok: true, config: cfg}
	if err = errors.Join(faults...); err != nil {
		return next, warnings, err
	}
	next.rules, _ = misfires.RulesOf(*cfg) // CheckConfig found no fault with either
	next.parameters, _ = job.ParseItemParameters(cfg.ShardingItemParameters)
	next.maxRunning = r.maxRunning(*cfg)
	return next, warnings, nil
}

// judgeStrategy tells whether this process has a strategy. One that it does not have would leave the job
// without anybody to lead it, or with a leader until that one goes.
func (r *runner) judgeStrategy(name string) error {
	_, err := r.s.strategies.Lookup(name)
	if err == nil {
		return nil
	}
	return jobtree.StoredError(r.tree.Config(), &job.FieldError{
		Field: "ShardingStrategy", Value: name, Reason: "must be empty or the name of a strategy that this process has", Err: err,
	})
}

// tellPause says once why the job pauses, and once that it goes on. nil is that it runs.
func (r *runner) tellPause(why error) {
	text := ""
	if why != nil {
		text = why.Error()
	}
	if text == r.pausedFor {
		return
	}
	r.s.mu.Lock()
	r.pausedFor = text
	r.s.mu.Unlock()
	switch {
	case why == nil:
		r.log.InfoContext(r.life, "job goes on: its configuration can be used again")
	case errors.Is(why, errNotStored):
		r.log.WarnContext(r.life, "job was removed from the registry, it pauses")
	case r.state.Config.Err != nil:
		r.log.ErrorContext(r.life, "job pauses: its configuration cannot be read", logError, why)
	default:
		r.log.ErrorContext(r.life, "job pauses: its configuration cannot be used", logError, why)
	}
	r.s.observer.observe(PauseEvent{Job: r.name, Err: why})
}

// tellDoubts warns once of what a configuration is used in spite of.
func (r *runner) tellDoubts(warnings error) {
	text := ""
	if warnings != nil {
		text = warnings.Error()
	}
	if text != "" && text != r.doubts {
		r.log.WarnContext(r.life, "job runs, and its configuration should be looked at", logError, warnings)
	}
	r.doubts = text
}

// keepTime gives the timetable the schedule in force, if it is another one than before or the job was
// paused. What is due outlasts a pause, and is forgotten when the times have changed or the job is
// gone.
func (r *runner) keepTime(paused bool) {
	now := r.settings
	if !now.ok {
		r.s.timetable.Set(r.entry, nil)
		r.witness.Missing()
		if !r.state.Config.Exists() {
			r.fireBy(fires.Times{})
		}
		return
	}
	if next := fires.TimesOf(*now.config); next != r.times {
		r.fireBy(next)
	} else if !paused {
		return
	}
	if now.rules.Delay == 0 && !cronexpr.IsTriggered(now.rules.Schedule) && cronexpr.NeverAfter(now.rules.Schedule, r.s.now()) {
		r.log.WarnContext(r.life, "the job's cron never fires again", "cron", now.config.Cron)
	}
	r.s.timetable.SetWith(r.entry, now.rules.Schedule, fires.Jitter{Job: r.name, Most: now.rules.Jitter})
}

// fireBy notes by what the job fires from now on, and forgets what came under other times.
func (r *runner) fireBy(next fires.Times) {
	r.times = next
	for _, it := range r.items {
		it.due = it.due.DropOtherTimes()
	}
	r.witness.Forget()
}

// failoverLimit is how often in a row a lost execution is run again.
func (r *runner) failoverLimit() int {
	if !r.settings.ok {
		return job.Config{}.FailoverLimitInForce()
	}
	return r.settings.config.FailoverLimitInForce()
}
