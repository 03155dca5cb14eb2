package prometheus

import (
	"errors"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/metrics/internal/catalog"
	"github.com/elasticron/elasticron/scheduler"
)

// Collector is an observer of one scheduler and a collector of its metrics. Its methods are safe for
// concurrent use. Collect waits up to two seconds for the scheduler's report; the others do not block.
type Collector struct {
	options
	vectors
	reports

	mu     sync.Mutex
	places places
	states states
	report catalog.Reporter // nil before there is a scheduler
}

var (
	_ scheduler.Observer       = (*Collector)(nil)
	_ scheduler.HealthObserver = (*Collector)(nil)
	_ prometheus.Collector     = (*Collector)(nil)
)

// New makes a collector with nothing counted. Register it, and give it to one scheduler, and to another one when that has
// ended. Of two at a time it would add up what they count, and tell how things are in the one made last alone: nothing keeps
// you from that. Two collectors go to registerers with labels of their own, as prometheus.WrapRegistererWith makes them. The
// error is [ErrInvalidOption], with all faults of the options.
func New(opts ...Option) (*Collector, error) {
	o := options{maxJobs: defaultMaxJobs, buckets: catalog.Buckets()}
	faults := option.Apply(&o, opts)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &Collector{options: o, vectors: newVectors(o), reports: newReports(), places: newPlaces(o.maxJobs), states: make(states)}, nil
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, v := range c.all {
		v.Describe(descriptions)
	}
	for _, d := range c.reports {
		descriptions <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	for _, v := range c.all {
		v.Collect(metrics)
	}
	c.collectReports(metrics)
}

// job returns the label of a job that something happens in; of no job it is empty.
func (c *Collector) job(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.places.heard(name)
}

// jobOfLate is job for what may come when the job was left: that is no reason to give it a place again.
func (c *Collector) jobOfLate(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.places.known(name)
}

// setOfJob sets what a gauge says of a job.
func (c *Collector) setOfJob(gauge *prometheus.GaugeVec, name string, value float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gauge.WithLabelValues(c.places.heard(name)).Add(c.states.change(gauge, name, value))
}

// addOfJob adds to what a gauge says of a job, which never falls below 0: the observer may have missed something.
func (c *Collector) addOfJob(gauge *prometheus.GaugeVec, name string, value float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value = max(c.states[gauge][name]+value, 0)
	gauge.WithLabelValues(c.places.heard(name)).Add(c.states.change(gauge, name, value))
}

// jobLeft takes back what is said of a job. Its place is free for another, so its series go.
func (c *Collector) jobLeft(e scheduler.LeftEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	label := c.places.known(e.Job)
	for gauge, jobs := range c.states {
		if jobs[e.Job] != 0 {
			gauge.WithLabelValues(label).Add(c.states.change(gauge, e.Job, 0))
		}
	}
	if c.places.leave(e.Job) {
		c.forget(label)
	}
}

// schedulerEnded takes back what is said of how things are. What was counted stays.
func (c *Collector) schedulerEnded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for gauge, jobs := range c.states {
		for name := range jobs {
			gauge.WithLabelValues(c.places.known(name)).Add(c.states.change(gauge, name, 0))
		}
	}
	c.connected.WithLabelValues().Set(0)
	c.overloaded.WithLabelValues().Set(0)
}

// item returns the label of an item.
func (c *Collector) item(n int) string {
	if n >= c.items {
		return other
	}
	return strconv.Itoa(n)
}
