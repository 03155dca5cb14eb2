package prometheus

import (
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// RoundEnded implements [scheduler.Observer].
func (c *Collector) RoundEnded(e scheduler.RoundEvent) {
	c.round.WithLabelValues(c.job(e.Job)).Observe(e.Ended.Sub(e.Began).Seconds())
}

// ItemStarted implements [scheduler.Observer].
func (c *Collector) ItemStarted(e scheduler.ItemEvent) {
	name := c.job(e.Context.JobName)
	c.running.WithLabelValues(name).Inc()
	if source := e.Context.Source; source == job.Scheduled || source == job.Misfire {
		c.lateness.WithLabelValues(name).Observe(e.Began.Sub(e.Context.Fire).Seconds())
	}
	if c.items > 0 {
		c.itemBegin.WithLabelValues(name, c.item(e.Context.Item)).Set(seconds(e.Began))
	}
}

// ItemRetrying implements [scheduler.Observer].
func (c *Collector) ItemRetrying(e scheduler.RetryEvent) {
	c.retries.WithLabelValues(c.job(e.Context.JobName)).Inc()
}

// ItemEnded implements [scheduler.Observer].
func (c *Collector) ItemEnded(e scheduler.ItemEvent) {
	name, outcome, took := c.job(e.Context.JobName), outcomeOf(e), e.Ended.Sub(e.Began).Seconds()
	c.running.WithLabelValues(name).Dec()
	c.executions.WithLabelValues(name, string(e.Context.Source), outcome).Inc()
	c.duration.WithLabelValues(name).Observe(took)
	if c.items > 0 {
		item := c.item(e.Context.Item)
		c.itemExecutions.WithLabelValues(name, item, outcome).Inc()
		c.itemEnd.WithLabelValues(name, item).Set(seconds(e.Ended))
		c.itemDuration.WithLabelValues(name, item).Set(took)
	}
}

// ItemsWaiting implements [scheduler.Observer].
func (c *Collector) ItemsWaiting(e scheduler.WaitingEvent) {
	c.waiting.WithLabelValues(c.job(e.Job)).Set(float64(e.Waiting))
}

// LoadChanged implements [scheduler.Observer].
func (c *Collector) LoadChanged(e scheduler.LoadEvent) {
	overloaded := 0.0
	if e.Overloaded {
		overloaded = 1
	}
	c.overloaded.WithLabelValues().Set(overloaded)
	c.load.WithLabelValues("wanted").Add(float64(e.Wanted))
	c.load.WithLabelValues("begun").Add(float64(e.Begun))
	c.load.WithLabelValues("dropped").Add(float64(e.Dropped))
}

// HandlerFailed implements [scheduler.Observer].
func (c *Collector) HandlerFailed(e scheduler.HandlerEvent) {
	c.handlers.WithLabelValues(c.job(e.Context.JobName)).Inc()
}

// Elected implements [scheduler.Observer].
func (c *Collector) Elected(name string) {
	c.elections.WithLabelValues(c.job(name)).Inc()
	c.leader.WithLabelValues(c.job(name)).Set(1)
}

// Resigned implements [scheduler.Observer].
func (c *Collector) Resigned(name string) { c.leader.WithLabelValues(c.job(name)).Set(0) }

// JobPaused implements [scheduler.Observer].
func (c *Collector) JobPaused(e scheduler.PauseEvent) {
	paused := 0.0
	if e.Err != nil {
		paused = 1
	}
	c.paused.WithLabelValues(c.job(e.Job)).Set(paused)
}

// ViewChanged implements [scheduler.Observer].
func (c *Collector) ViewChanged(e scheduler.ViewEvent) {
	name, blind := "", 0.0
	if e.Job != "" {
		name = c.job(e.Job)
	}
	if e.Err != nil {
		blind = 1
	}
	c.blind.WithLabelValues(name).Set(blind)
}

// Resharded implements [scheduler.Observer].
func (c *Collector) Resharded(e scheduler.ReshardEvent) {
	c.reshardings.WithLabelValues(c.job(e.Job)).Inc()
	c.moved.WithLabelValues(c.job(e.Job)).Add(float64(e.Moved))
}

// ConnectionChanged implements [scheduler.Observer].
func (c *Collector) ConnectionChanged(e scheduler.ConnectionEvent) {
	c.changes.WithLabelValues(string(e.Change)).Inc()
	connected := 0.0
	if e.Change == scheduler.ConnectionEstablished || e.Change == scheduler.ConnectionBack {
		connected = 1
	}
	c.connected.WithLabelValues().Set(connected)
}

// BarrierSettled implements [scheduler.Observer].
func (c *Collector) BarrierSettled(e scheduler.BarrierEvent) {
	c.barriers.WithLabelValues(c.job(e.Job), e.Phase, e.Outcome).Inc()
}

// ListenerFailed implements [scheduler.Observer].
func (c *Collector) ListenerFailed(e scheduler.ListenerEvent) {
	name := ""
	if e.Job != "" {
		name = c.job(e.Job)
	}
	c.failures.WithLabelValues(name, e.Listener).Inc()
}

func outcomeOf(e scheduler.ItemEvent) string {
	switch {
	case e.Refused != nil:
		return "refused"
	case e.Err != nil:
		return "failure"
	default:
		return "success"
	}
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
