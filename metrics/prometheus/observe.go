package prometheus

import (
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/metrics/internal/catalog"
	"github.com/elasticron/elasticron/scheduler"
)

// Observe implements [scheduler.Observer].
func (c *Collector) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.RoundEvent:
		if e.Over() {
			c.roundEnded(e)
		}
	case scheduler.ItemEvent:
		if e.Over() {
			c.itemEnded(e)
		} else {
			c.itemStarted(e)
		}
	case scheduler.RetryEvent:
		c.itemRetrying(e)
	case scheduler.WaitingEvent:
		c.itemsWaiting(e)
	case scheduler.ErrorHandlerEvent:
		c.handlerFailed(e)
	case scheduler.ViewEvent:
		c.viewChanged(e)
	case scheduler.LeadershipEvent:
		c.leadershipChanged(e)
	case scheduler.PauseEvent:
		c.jobPaused(e)
	case scheduler.ReshardEvent:
		c.resharded(e)
	case scheduler.ConnectionEvent:
		c.connectionChanged(e)
	case scheduler.WholeRoundEvent:
		c.barrierSettled(e)
	case scheduler.LoadEvent:
		c.loadChanged(e)
	case scheduler.ListenerEvent:
		c.listenerFailed(e)
	case scheduler.JoinEvent:
		c.job(e.Job) // the first that comes of most jobs
	case scheduler.LeftEvent:
		c.jobLeft(e)
	case scheduler.EndEvent:
		c.schedulerEnded()
	}
}

// between is how many seconds lie between two times, and none if the clock was set back: a sum that goes back looks like a
// restart of the process.
func between(from, to time.Time) float64 { return max(0, to.Sub(from)).Seconds() }

func (c *Collector) roundEnded(e scheduler.RoundEvent) {
	c.round.WithLabelValues(c.job(e.Job)).Observe(between(e.Began, e.Ended))
}

func (c *Collector) itemStarted(e scheduler.ItemEvent) {
	name := c.job(e.Context.JobName)
	c.addOfJob(c.running, e.Context.JobName, 1)
	if source := e.Context.Source; source == job.Scheduled || source == job.Misfire {
		c.lateness.WithLabelValues(name).Observe(between(e.Context.Fire, e.Began))
	}
	if c.items > 0 {
		c.itemBegin.WithLabelValues(name, c.item(e.Context.Item)).Set(seconds(e.Began))
	}
}

func (c *Collector) itemRetrying(e scheduler.RetryEvent) {
	c.retries.WithLabelValues(c.job(e.Context.JobName)).Inc()
}

func (c *Collector) itemEnded(e scheduler.ItemEvent) {
	name, outcome, took := c.job(e.Context.JobName), catalog.OutcomeOf(e), between(e.Began, e.Ended)
	c.addOfJob(c.running, e.Context.JobName, -1)
	c.executions.WithLabelValues(name, string(e.Context.Source), outcome).Inc()
	c.duration.WithLabelValues(name).Observe(took)
	if c.items > 0 {
		item := c.item(e.Context.Item)
		c.itemExecutions.WithLabelValues(name, item, outcome).Inc()
		c.itemEnd.WithLabelValues(name, item).Set(seconds(e.Ended))
		c.itemDuration.WithLabelValues(name, item).Set(took)
	}
}

func (c *Collector) itemsWaiting(e scheduler.WaitingEvent) {
	c.setOfJob(c.waiting, e.Job, float64(e.Waiting))
}

func (c *Collector) loadChanged(e scheduler.LoadEvent) {
	overloaded := 0.0
	if e.Overloaded {
		overloaded = 1
	}
	c.overloaded.WithLabelValues().Set(overloaded)
	c.load.WithLabelValues("wanted").Add(float64(e.Wanted))
	c.load.WithLabelValues("begun").Add(float64(e.Begun))
	c.load.WithLabelValues("dropped").Add(float64(e.Dropped))
}

func (c *Collector) handlerFailed(e scheduler.ErrorHandlerEvent) {
	c.handlers.WithLabelValues(c.jobOfLate(e.Context.JobName)).Inc()
}

func (c *Collector) leadershipChanged(e scheduler.LeadershipEvent) {
	leads := 0.0
	if e.Leading {
		leads = 1
		c.elections.WithLabelValues(c.job(e.Job)).Inc()
	}
	c.setOfJob(c.leader, e.Job, leads)
}

func (c *Collector) jobPaused(e scheduler.PauseEvent) {
	paused := 0.0
	if e.Err != nil {
		paused = 1
	}
	c.setOfJob(c.paused, e.Job, paused)
}

func (c *Collector) viewChanged(e scheduler.ViewEvent) {
	blind := 0.0
	if e.Err != nil {
		blind = 1
	}
	c.setOfJob(c.blind, e.Job, blind)
}

func (c *Collector) resharded(e scheduler.ReshardEvent) {
	c.reshardings.WithLabelValues(c.job(e.Job)).Inc()
	c.moved.WithLabelValues(c.job(e.Job)).Add(float64(e.Moved))
}

func (c *Collector) connectionChanged(e scheduler.ConnectionEvent) {
	c.changes.WithLabelValues(string(e.Change)).Inc()
	connected := 0.0
	if e.Change == scheduler.ConnectionEstablished || e.Change == scheduler.ConnectionBack {
		connected = 1
	}
	c.connected.WithLabelValues().Set(connected)
}

func (c *Collector) barrierSettled(e scheduler.WholeRoundEvent) {
	c.barriers.WithLabelValues(c.job(e.Job), e.Phase, e.Outcome).Inc()
}

func (c *Collector) listenerFailed(e scheduler.ListenerEvent) {
	c.failures.WithLabelValues(c.jobOfLate(e.Job), e.Listener).Inc()
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
