package job

import (
	"fmt"
	"runtime"
)

// The values of [Config.ExecutorServiceHandler], which are the words of ElasticJob 3.x.
const (
	// ExecutorCPU runs at most two items of a job for each CPU at once in one process.
	ExecutorCPU = "CPU"
	// ExecutorSingleThread runs the items of a job one after the other in each process.
	ExecutorSingleThread = "SINGLE_THREAD"
)

// MaxRunning returns how many items of the job may run at once in one process: MaxConcurrentItems if
// that is set, else what ExecutorServiceHandler stands for; 0 is without limit. For an unknown executor, such as
// a Java class, it returns 0 and an error that names the known ones.
func (c Config) MaxRunning() (int, error) {
	if c.MaxConcurrentItems > 0 {
		return c.MaxConcurrentItems, nil
	}
	switch c.ExecutorServiceHandler {
	case "":
		return 0, nil
	case ExecutorCPU:
		return 2 * runtime.NumCPU(), nil
	case ExecutorSingleThread:
		return 1, nil
	default:
		return 0, &FieldError{
			Field: "ExecutorServiceHandler", Value: c.ExecutorServiceHandler,
			Reason: fmt.Sprintf("must be empty, %s or %s", ExecutorCPU, ExecutorSingleThread),
		}
	}
}
