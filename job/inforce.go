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
