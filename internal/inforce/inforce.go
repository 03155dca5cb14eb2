// Package inforce says what the numbers in a job's configuration come to, where zero stands for a default and a negative
// number for none, and has those that are the same for all jobs.
package inforce

import (
	"fmt"
	"runtime"
	"time"

	"github.com/elasticron/elasticron/job"
)

// FailoverLimit returns how often in a row a lost execution is run again; 0 is without limit.
func FailoverLimit(c job.Config) int { return number(c.FailoverLimit, job.DefaultFailoverLimit) }

// MisfireMax returns how many missed fires [job.MisfireAll] keeps.
func MisfireMax(c job.Config) int { return number(c.MisfireMax, job.DefaultMisfireMax) }

// RetryBackoff returns the pause before the first retry; 0 is none.
func RetryBackoff(c job.Config) time.Duration {
	return number(c.RetryBackoff, job.DefaultRetryBackoff)
}

// ReconcileInterval returns how often the leader compares the assignment with the one that it should be; 0 is never.
func ReconcileInterval(c job.Config) time.Duration {
	return number(c.ReconcileInterval, job.DefaultReconcileInterval)
}

// OverdueAfter returns how long after a fire an item that should run counts as overdue: what may be late by the rules, time
// for the request and for a view to show it, and the jitter.
func OverdueAfter(c job.Config) time.Duration { return 2*LateAfter + c.Jitter }

func number[T int | time.Duration](set, standard T) T {
	if set == 0 {
		return standard
	}
	return max(0, set)
}

// MaxRunning returns how many items of the job may run at once in one process: MaxConcurrentItems if that is set, else
// what ExecutorServiceHandler stands for; 0 is without limit. For an unknown executor, such as a Java class, it returns 0
// and an error that names the known ones.
func MaxRunning(c job.Config) (int, error) {
	if c.MaxConcurrentItems > 0 {
		return c.MaxConcurrentItems, nil
	}
	switch c.ExecutorServiceHandler {
	case "":
		return 0, nil
	case job.ExecutorCPU:
		return 2 * runtime.NumCPU(), nil
	case job.ExecutorSingleThread:
		return 1, nil
	default:
		return 0, &job.FieldError{
			Field: "ExecutorServiceHandler", Value: c.ExecutorServiceHandler,
			Reason: fmt.Sprintf("must be empty, %s or %s", job.ExecutorCPU, job.ExecutorSingleThread),
		}
	}
}
