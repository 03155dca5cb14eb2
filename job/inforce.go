package job

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"time"
)

// What the zero value of a number in a [Config] stands for.
const (
	DefaultFailoverLimit     = 3
	DefaultMisfireMax        = 100
	DefaultRetryBackoff      = time.Second
	DefaultReconcileInterval = 10 * time.Minute
)

// Monitored tells whether executions of the job are recorded.
func (c Config) Monitored() bool { return !c.Unmonitored }

// FailoverLimitInForce returns how often in a row a lost execution is run again; 0 is without limit.
func (c Config) FailoverLimitInForce() int { return inForce(c.FailoverLimit, DefaultFailoverLimit) }

// MisfireMaxInForce returns how many missed fires [MisfireAll] keeps.
func (c Config) MisfireMaxInForce() int { return inForce(c.MisfireMax, DefaultMisfireMax) }

// RetryBackoffInForce returns the pause before the first retry; 0 is none.
func (c Config) RetryBackoffInForce() time.Duration {
	return inForce(c.RetryBackoff, DefaultRetryBackoff)
}

// ReconcileIntervalInForce returns how often the leader compares the assignment with the one that it
// should be; 0 is never.
func (c Config) ReconcileIntervalInForce() time.Duration {
	return inForce(c.ReconcileInterval, DefaultReconcileInterval)
}

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

// inForce returns what a number stands for whose zero is the default and whose negatives are none.
func inForce[T int | time.Duration](set, standard T) T {
	if set == 0 {
		return standard
	}
	return max(0, set)
}

// inForce returns the configuration with all its defaults spelt out: two that mean the same are equal
// then, apart from what they say to nobody.
func (c Config) inForce() Config {
	c.Class = c.ClassName()
	c.Type = Type(c.Type.String())
	c.Misfire = MisfirePolicy(c.Misfire.String())
	c.FailoverScope = FailoverScope(c.FailoverScope.String())
	c.ClockPolicy = ClockPolicy(c.ClockPolicy.String())
	c.DaylightSaving = DaylightSaving(c.DaylightSaving.String())
	c.FailoverLimit = c.FailoverLimitInForce()
	c.MisfireMax = c.MisfireMaxInForce()
	c.RetryBackoff = c.RetryBackoffInForce()
	c.ReconcileInterval = c.ReconcileIntervalInForce()
	return c
}

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

// Differences names the fields in which two configurations of a job differ, in the order of their
// declaration, such as "Cron" or "Java.MonitorPort". A default that is spelt out equals a zero value, and two
// classes are equal if [Config.ClassName] is. Two fields are not compared: Java.Overwrite, which is about a
// declaration and not about the job, and Unknown, which the registry keeps whoever declares the job.
func (c Config) Differences(other Config) []string {
	c, other = c.inForce(), other.inForce()
	c.Java.Overwrite, other.Java.Overwrite = false, false
	c.Unknown, other.Unknown = "", ""
	return differences("", reflect.ValueOf(c), reflect.ValueOf(other))
}

// differences goes into the fields that are groups of settings.
func differences(prefix string, one, two reflect.Value) (fields []string) {
	for i := range one.NumField() {
		name := prefix + one.Type().Field(i).Name
		switch a := one.Field(i).Interface().(type) {
		case Java:
			fields = append(fields, differences(name+".", one.Field(i), two.Field(i))...)
		case time.Time:
			if !a.Equal(two.Field(i).Interface().(time.Time)) {
				fields = append(fields, name)
			}
		case map[string]string:
			if !maps.Equal(a, two.Field(i).Interface().(map[string]string)) {
				fields = append(fields, name)
			}
		default:
			if a != two.Field(i).Interface() {
				fields = append(fields, name)
			}
		}
	}
	return fields
}
