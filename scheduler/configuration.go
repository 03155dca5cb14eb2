package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/sharding"
)

// configurationPorts is what the room of the job's configuration may ask beside.
type configurationPorts struct{ ports }

var _ configuration.Ports = configurationPorts{}

func (p configurationPorts) Class() string { return p.runner().class }

func (p configurationPorts) Handler() job.Handler { return p.runner().handler }

func (p configurationPorts) Traits() peers.Traits { return p.runner().s.traits }

func (p configurationPorts) ErrorHandlers() *errorhandler.Registry { return p.runner().s.errorHandlers }

func (p configurationPorts) Lookup(strategy string) (sharding.Strategy, error) {
	return p.runner().s.strategies.Lookup(strategy)
}

func (p configurationPorts) Schedules() *fires.Schedules { return &p.runner().s.schedules }

func (p configurationPorts) Adopt(next *configuration.Settings) { p.runner().adopt(next) }

func (p configurationPorts) TakenUp() {
	r := p.runner()
	r.rounds.TakenUp(r.look())
	r.leadership.LookAgain()
}

func (p configurationPorts) Paused(why error) {
	text := ""
	if why != nil {
		text = why.Error()
	}
	r := p.runner()
	r.s.mu.Lock()
	r.pausedFor = text
	r.s.mu.Unlock()
	r.s.observer.observe(PauseEvent{Job: r.name, Err: why})
}

func (p configurationPorts) Again() { p.runner().configure() }

// configure takes up the configuration as the state shows it.
func (r *runner) configure() { r.configuration.TakeUp(r.look(), r.peers) }

// adopt puts settings into force. Fires that were missed under another cron, or other times, are forgotten.
func (r *runner) adopt(next *configuration.Settings) {
	paused := !r.settings.OK
	r.settings = next
	r.rounds.Adopt(r.look(), next)
	r.keepTime(paused)
}

// keepTime gives the timetable the schedule in force, if it is another one than before or the job was
// paused. What is due outlasts a pause, and is forgotten when the times have changed or the job is
// gone.
func (r *runner) keepTime(paused bool) {
	now := r.settings
	if !now.OK {
		r.s.timetable.Remove(r.entry)
		r.rounds.Missed().Unticked()
		if !r.state.Config.Exists() {
			r.rounds.FireBy(fires.Times{}, r.s.now(), nil)
		} else if r.configuration.Refusal() != "" {
			r.overhear(r.state.Config.Value)
		}
		return
	}
	if r.departure.shutDown && r.departure.drained.Has() {
		return
	}
	next := fires.TimesOf(*now.Config)
	same := r.rounds.Missed().FiresBy(next)
	// A fire that has come may have been run for under other times, which only a record tells; and Java knows no jitter.
	delayed := same || (now.Config.Monitored() || !r.rounds.Missed().Timed()) && !r.state.SharedWithJava()
	schedule, delays := now.Rules.Schedule, now.Rules.Jitter
	if !same {
		r.rounds.FireBy(next, r.s.now(), r.firesByBoth())
	} else if !paused {
		r.s.timetable.Delay(r.entry, delays)
		return
	}
	if now.Rules.Delay == 0 && !cronexpr.IsTriggered(schedule) && cronexpr.NeverAfter(schedule, r.s.now().Add(-delays.Most)) {
		r.log.WarnContext(r.life, "the job's cron never fires again", "cron", now.Config.Cron)
	}
	var told time.Time // no fire is told of again because its delay is another one now
	if same {
		told = r.rounds.Missed().NewestTick()
	}
	r.s.timetable.Set(r.entry, schedule, delays, delayed, told)
}

// overhear takes in a configuration that this process refuses, and by which others may go on.
func (r *runner) overhear(cfg job.Config) {
	schedule, err := r.s.schedules.Of(cfg)
	if err != nil {
		return // beside Java, which goes on by the cron before
	}
	delay, _ := cronexpr.DelayOf(schedule)
	r.rounds.Overhear(cfg, delay, r.s.now())
}

// firesByBoth returns which of the fires that are due stay when the times have changed: those of the last moment that the
// settings in force have, too. They came when those settings may have been stored already, and what runs by the former ones
// is refused. Where nobody could tell that an item has run for such a fire, it returns nil; and a fire with a delay of its
// own comes anew.
func (r *runner) firesByBoth() func(fire time.Time) bool {
	c, rules, now := r.settings.Config, r.settings.Rules, r.s.now()
	if !c.Monitored() || r.state.SharedWithJava() || rules.Delay != 0 || rules.Jitter.Most != 0 || cronexpr.IsTriggered(rules.Schedule) {
		return nil
	}
	return func(fire time.Time) bool {
		return now.Sub(fire) <= policy.LateAfter && rules.Schedule.Next(fire.Add(-1)).Equal(fire)
	}
}
