package prometheus

import (
	"errors"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticron/elasticron/metrics/internal/catalog"
	"github.com/elasticron/elasticron/scheduler"
)

// other is the label of jobs and items beyond the bounds.
const other = "other"

// Collector is an observer of one scheduler and a collector of its metrics. Its methods are safe for
// concurrent use. Collect waits up to two seconds for the scheduler's report; the others do not block.
type Collector struct {
	options
	vectors
	reports

	mu     sync.Mutex
	jobs   map[string]struct{} // that have a label of their own
	shared shared
	report catalog.Reporter // nil before there is a scheduler
}

var (
	_ scheduler.Observer       = (*Collector)(nil)
	_ scheduler.HealthObserver = (*Collector)(nil)
	_ prometheus.Collector     = (*Collector)(nil)
)

// New makes a collector with nothing counted. Register it, and give it to one scheduler. The error is
// [ErrInvalidOption], with all faults of the options.
func New(opts ...Option) (*Collector, error) {
	o := options{maxJobs: defaultMaxJobs, buckets: catalog.Buckets()}
	var faults []error
	for _, set := range opts {
		faults = append(faults, set(&o))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &Collector{options: o, vectors: newVectors(o), reports: newReports(), jobs: make(map[string]struct{}), shared: make(shared)}, nil
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

// job returns the label of a job.
func (c *Collector) job(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.jobs[name]; known {
		return name
	}
	if len(c.jobs) >= c.maxJobs {
		return other
	}
	c.jobs[name] = struct{}{}
	return name
}

// setOfJob sets what a gauge says of a job.
func (c *Collector) setOfJob(gauge *prometheus.GaugeVec, name string, value float64) {
	label := c.job(name)
	if label != other {
		gauge.WithLabelValues(label).Set(value)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	gauge.WithLabelValues(other).Add(c.shared.change(gauge, name, value))
}

// item returns the label of an item.
func (c *Collector) item(n int) string {
	if n >= c.items {
		return other
	}
	return strconv.Itoa(n)
}
