package prometheus

import (
	"fmt"
	"math"

	"github.com/elasticron/elasticron/internal/option"
)

// ErrInvalidOption is the error of [New] if an option is not allowed. It is one error in all packages of this module:
// errors.Is finds it by any of their names.
var ErrInvalidOption = option.ErrInvalid

// defaultMaxJobs is how many jobs have a label of their own if nothing else is said.
const defaultMaxJobs = 1000

// Option changes how a [Collector] counts.
type Option func(*options) error

type options struct {
	maxJobs int
	items   int
	buckets []float64
}

// WithMaxJobs sets how many jobs have a label of their own; the first ones seen do, and a job that this process leaves
// makes room for one that comes later. 0 is allowed: then no job has.
// The default is 1000.
func WithMaxJobs(n int) Option {
	return func(o *options) error {
		if n < 0 {
			return fmt.Errorf("%w: %d jobs with a label of their own is negative", ErrInvalidOption, n)
		}
		o.maxJobs = n
		return nil
	}
}

// WithItems adds metrics for each item whose number is below n. The default is 0, which adds none.
func WithItems(n int) Option {
	return func(o *options) error {
		if n < 0 {
			return fmt.Errorf("%w: %d items with metrics of their own is negative", ErrInvalidOption, n)
		}
		o.items = n
		return nil
	}
}

// WithBuckets sets the upper bounds, in seconds and ascending, of the histograms. The default goes from 5 ms to an
// hour. The alert rule ElasticronLate needs a bound of 30 and a higher one, and the dashboard shows no more than the highest:
// docs/alerts.md tells what stands on buckets.
func WithBuckets(seconds ...float64) Option {
	return func(o *options) error {
		for i, bound := range seconds {
			if math.IsNaN(bound) || i > 0 && bound <= seconds[i-1] {
				return fmt.Errorf("%w: bucket %g is not above the one before it", ErrInvalidOption, bound)
			}
		}
		o.buckets = seconds
		return nil
	}
}
