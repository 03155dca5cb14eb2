package prometheus

// defaultMaxJobs is how many jobs have a label of their own if nothing else is said.
const defaultMaxJobs = 1000

// Option changes how a [Collector] counts.
type Option func(*options)

type options struct {
	maxJobs int
	items   int
	buckets []float64
}

// WithMaxJobs sets how many jobs have a label of their own; the first ones seen do. The default is
// 1000.
func WithMaxJobs(n int) Option { return func(o *options) { o.maxJobs = n } }

// WithItems adds metrics for each item whose number is below n. The default is 0, which adds none.
func WithItems(n int) Option { return func(o *options) { o.items = n } }

// WithBuckets sets the upper bounds, in seconds, of the histograms. The default goes from 5 ms to an
// hour.
func WithBuckets(seconds ...float64) Option { return func(o *options) { o.buckets = seconds } }

func defaultBuckets() []float64 {
	return []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
}
