package job

import "time"

// What the zero value of a number in a [Config] stands for.
const (
	DefaultFailoverLimit     = 3
	DefaultMisfireMax        = 100
	DefaultRetryBackoff      = time.Second
	DefaultReconcileInterval = 10 * time.Minute
)

// Monitored tells whether executions of the job are recorded.
func (c Config) Monitored() bool { return !c.Unmonitored }

// ClassName returns the class under which the job is stored: Class, or what stands for an empty one.
func (c Config) ClassName() string {
	switch {
	case c.Class != "":
		return c.Class
	case c.Type == TypeScript:
		return ScriptClass
	default:
		return c.Name
	}
}

// The values of [Config.ExecutorServiceHandler], which are the words of ElasticJob 3.x.
const (
	// ExecutorCPU runs at most two items of a job for each CPU at once in one process.
	ExecutorCPU = "CPU"
	// ExecutorSingleThread runs the items of a job one after the other in each process.
	ExecutorSingleThread = "SINGLE_THREAD"
)
