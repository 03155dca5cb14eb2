package clustertest

import (
	"time"

	"github.com/elasticron/elasticron/job"
)

// Outcome says how an execution ended.
type Outcome string

// The outcomes of an execution.
const (
	Running Outcome = "running" // its code has not returned, or is to be tried again
	OK      Outcome = "ok"      // its code returned nil
	Failed  Outcome = "failed"  // its code returned an error, panicked or took too long, and is not tried again
	// CutShort: it stopped because its context had ended, with its session or in a stop, also before it was to be tried
	// again; or it made room: [job.ErrYielded].
	CutShort Outcome = "cut short"
	Crashed  Outcome = "crashed" // its instance crashed before that
)

// Execution is one execution of an item, retries included.
type Execution struct {
	job.ShardingContext        // job, item, fire, source, token and so on, as the code saw it
	Instance            string // the name of the instance that ran it
	Began               time.Time
	Ended               time.Time // when the code returned for the last time, or the instance crashed; zero while it runs
	Attempts            int       // 1, and one more for each retry
	Outcome             Outcome
	Err                 error // what the code returned, as [scheduler.ItemEvent] has it, or its [job.PanicError]
	// Refused tells why the end could not be recorded although the code returned: usually because another
	// instance had taken it over by then. It is nil if the end was recorded, or has not reached the
	// registry yet.
	Refused error

	deeds int   // that were done before it began
	calls int   // of its code, as far as the test knows
	last  error // that the code returned which is to be tried again; nil while it runs
}

// Took returns how long the execution took, or takes so far.
func (e Execution) Took() time.Duration {
	if e.Ended.IsZero() {
		return time.Since(e.Began)
	}
	return e.Ended.Sub(e.Began)
}

// of tells whether the execution is that of a fire. A run by hand is of none, whatever it stands for.
func (e Execution) of(f Fire) bool { return e.Item == f.Item && e.Trigger == 0 && e.Fire.Equal(f.Time) }
