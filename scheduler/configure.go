package scheduler

import (
	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
)

// newConfiguration makes the room of the job's configuration.
func (r *runner) newConfiguration(p ports) *configuration.Configuration {
	return configuration.New(configuration.Ports{
		Ports: p, Class: r.class, Handler: r.handler, Others: r.s.traits, Handlers: r.s.handlers, Lookup: r.s.strategies.Lookup,
		Adopt: r.adopt,
		TakenUp: func() {
			r.rounds.TakenUp(r.look())
			r.leadership.LookAgain()
		},
		Paused: func(why error) {
			text := ""
			if why != nil {
				text = why.Error()
			}
			r.s.mu.Lock()
			r.pausedFor = text
			r.s.mu.Unlock()
			r.s.observer.observe(PauseEvent{Job: r.name, Err: why})
		},
		Again: r.configure,
	})
}

// configure takes up the configuration as the state shows it.
func (r *runner) configure() { r.configuration.TakeUp(r.look(), r.peers) }

// adopt puts settings into force. Fires that were missed under another cron or zone are forgotten.
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
		r.s.timetable.Set(r.entry, nil)
		r.rounds.Unticked()
		if !r.state.Config.Exists() {
			r.rounds.FireBy(fires.Times{})
		}
		return
	}
	if r.departure.shutDown && r.departure.isDrained() {
		return
	}
	if next := fires.TimesOf(*now.Config); !r.rounds.FiresBy(next) {
		r.rounds.FireBy(next)
	} else if !paused {
		return
	}
	if now.Rules.Delay == 0 && !cronexpr.IsTriggered(now.Rules.Schedule) && cronexpr.NeverAfter(now.Rules.Schedule, r.s.now()) {
		r.log.WarnContext(r.life, "the job's cron never fires again", "cron", now.Config.Cron)
	}
	r.s.timetable.SetWith(r.entry, now.Rules.Schedule, fires.Jitter{Job: r.name, Most: now.Rules.Jitter})
}
