package job

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/elasticron/elasticron/cronexpr"
)

// The bounds of the numbers in a [Config].
const (
	maxTimeDiffSeconds          = 24 * 60 * 60
	maxPort                     = 65_535
	maxReconcileIntervalMinutes = 365 * 24 * 60
	maxFailoverLimit            = 1_000
	maxMisfireMax               = 1_000
	maxSeconds                  = 365 * 24 * 60 * 60
	maxRetries                  = 1_000
	maxBackoffSeconds           = 60
	maxJitterSeconds            = 24 * 60 * 60
)

// Validate reports every fault of the configuration at once: the error joins one [*FieldError] for
// each. It does not ask whether the job will ever fire; see [Config.ValidateAt].
func (c Config) Validate() error {
	var f faults
	f.check(c)
	return f.join()
}

// ValidateStored judges a configuration that is stored already by the same rules. Of what [Config.Validate]
// refuses, it tells apart what Java accepts and a job can run with, which is a reason for a warning
// only: failover without monitoring, parameters of items beyond the count, and a monitor port or a
// reconcile interval below -1. Each error joins one [*FieldError] for each field.
func (c Config) ValidateStored() (warnings, faulty error) {
	var f faults
	f.check(c)
	return errors.Join(f.mild...), errors.Join(f.grave...)
}

// faults gathers what is wrong with a configuration. With what is mild, a job can run.
type faults struct {
	grave, mild []error
}

func (f *faults) add(field, value, reason string) {
	f.addCause(field, value, reason, nil)
}

func (f *faults) addCause(field, value, reason string, cause error) {
	f.grave = append(f.grave, &FieldError{Field: field, Value: value, Reason: reason, Err: cause})
}

func (f *faults) addMild(field, value, reason string) {
	f.mild = append(f.mild, &FieldError{Field: field, Value: value, Reason: reason})
}

// join returns all faults as one error, nil if there are none.
func (f *faults) join() error { return errors.Join(append(f.grave, f.mild...)...) }

// check gathers every fault of c. It returns when the job fires, nil if that has faults.
func (f *faults) check(c Config) cronexpr.Schedule {
	f.checkName(c.Name)
	f.checkTexts(c)
	f.checkType(c)
	f.checkItems(c)
	f.checkRange("MaxTimeDiffSeconds", c.MaxTimeDiffSeconds, -1, maxTimeDiffSeconds)
	f.checkOff("MonitorPort", c.MonitorPort, maxPort)
	f.checkOff("ReconcileIntervalMinutes", c.ReconcileIntervalMinutes, maxReconcileIntervalMinutes)
	f.checkFailover(c)
	f.checkWord("FailoverScope", c.FailoverScope, FailoverRunning, FailoverAssigned)
	f.checkRange("FailoverLimit", c.FailoverLimit, 0, maxFailoverLimit)
	f.checkWord("MisfirePolicy", c.MisfirePolicy, MisfireOnce, MisfireAll)
	f.checkRange("MisfireMax", c.MisfireMax, 0, maxMisfireMax)
	f.checkRange("MisfireWindowSeconds", c.MisfireWindowSeconds, 0, maxSeconds)
	f.checkRange("TimeoutSeconds", c.TimeoutSeconds, 0, maxSeconds)
	f.checkRange("Retries", c.Retries, 0, maxRetries)
	f.checkRange("RetryBackoffSeconds", c.RetryBackoffSeconds, 0, maxBackoffSeconds)
	f.checkWord("ClockPolicy", c.ClockPolicy, ClockWarn, ClockRefuse)
	f.checkRange("JitterSeconds", c.JitterSeconds, 0, maxJitterSeconds)
	f.checkRange("OffsetSeconds", c.OffsetSeconds, 0, maxSeconds)
	f.checkProps(c.Props)
	f.checkRange("MaxConcurrentItems", c.MaxConcurrentItems, 0, MaxShardingTotalCount)
	schedule := f.schedule(c)
	if schedule != nil {
		f.checkDelay(c, schedule)
		f.checkOffset(c, schedule)
		f.checkJitter(c, schedule)
	}
	return schedule
}

// checkFailover asks of a job whose executions are run again after a crash that somebody writes down
// which there are.
func (f *faults) checkFailover(c Config) {
	if c.Failover && !c.MonitorExecution {
		f.addMild("Failover", "true", "must be false without MonitorExecution, which records the executions that a crash cuts short")
	}
}

// firesLookedAt is how many fires of a job tell how far apart they are. Those of most jobs repeat
// within a day; a day that a clock is changed has more of them than these.
const firesLookedAt = 2_000

// checkJitter asks that no fire is delayed to beyond the next one's time.
func (f *faults) checkJitter(c Config, schedule cronexpr.Schedule) {
	if _, delay := cronexpr.DelayOf(schedule); delay || c.JitterSeconds <= 0 || c.JitterSeconds > maxJitterSeconds {
		return
	}
	most := time.Duration(c.JitterSeconds) * time.Second
	fire := schedule.Next(jitterFrom)
	for range firesLookedAt {
		next := schedule.Next(fire)
		if fire.IsZero() || next.IsZero() {
			return
		}
		if apart := next.Sub(fire); apart < most {
			f.add("JitterSeconds", strconv.Itoa(c.JitterSeconds), fmt.Sprintf("must not be above the time between two fires, which is %s", apart))
			return
		}
		fire = next
	}
}

// jitterFrom is from when the fires are looked at. Any time would do, but the same one every time, so
// that a configuration that is good is good for ever.
var jitterFrom = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)

// checkOffset asks that there is something that an offset moves.
func (f *faults) checkOffset(c Config, schedule cronexpr.Schedule) {
	if _, is := cronexpr.PeriodOf(schedule); !is && c.OffsetSeconds != 0 {
		f.add("OffsetSeconds", strconv.Itoa(c.OffsetSeconds), `must be 0 unless Cron is "@every <duration>"`)
	}
}

// checkDelay asks of a job that counts from the ends of its runs that somebody writes those down.
func (f *faults) checkDelay(c Config, schedule cronexpr.Schedule) {
	if _, is := cronexpr.DelayOf(schedule); !is {
		return
	}
	if !c.MonitorExecution {
		f.add("MonitorExecution", "false", "must be true for a job with a fixed delay, which counts from recorded ends")
	}
	if c.JitterSeconds != 0 {
		f.add("JitterSeconds", strconv.Itoa(c.JitterSeconds), "must be 0 for a job with a fixed delay, whose fires drift apart by themselves")
	}
}

// checkName keeps a name apart from what it is pasted together with in paths and task ids. One that
// ends in "@-" would, followed by the separator of a task id, contain a separator too early.
func (f *faults) checkName(name string) {
	switch {
	case name == "" || name == "." || name == "..":
		f.add("Name", name, `must be a name, other than "." and ".."`)
	case !utf8.ValidString(name):
		f.add("Name", name, "must be valid UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		f.add("Name", name, "must not contain control characters")
	case strings.Contains(name, "/"):
		f.add("Name", name, `must not contain "/"`)
	case strings.Index(name+taskIDSeparator, taskIDSeparator) != len(name):
		f.add("Name", name, `must neither contain "@-@" nor end in "@-"`)
	}
}

// checkTexts asks of all free texts that they can be stored.
func (f *faults) checkTexts(c Config) {
	for _, text := range []struct{ field, value string }{
		{"Class", c.Class},
		{"ShardingItemParameters", c.ShardingItemParameters},
		{"JobParameter", c.JobParameter},
		{"Description", c.Description},
		{"ErrorHandler", c.ErrorHandler},
		{"ExecutorServiceHandler", c.ExecutorServiceHandler},
		{"ScriptCommandLine", c.ScriptCommandLine},
		{"ShardingStrategy", c.ShardingStrategy},
	} {
		if !utf8.ValidString(text.value) {
			f.add(text.field, text.value, "must be valid UTF-8")
		}
	}
}

// checkType also asks of the fields that belong to one type that they are set for it alone.
func (f *faults) checkType(c Config) {
	if !c.Type.Known() {
		f.add("Type", string(c.Type), fmt.Sprintf("must be one of %s", Types()))
		return
	}
	switch {
	case c.Type == TypeScript && strings.TrimSpace(c.ScriptCommandLine) == "":
		f.add("ScriptCommandLine", c.ScriptCommandLine, "must not be empty for a script job")
	case c.Type != TypeScript && c.ScriptCommandLine != "":
		f.add("ScriptCommandLine", c.ScriptCommandLine, "must be empty, as the job is no script job")
	}
	if c.StreamingProcess && c.Type != TypeDataflow {
		f.add("StreamingProcess", "true", "must be false, as the job is no dataflow job")
	}
}

func (f *faults) checkItems(c Config) {
	f.checkRange("ShardingTotalCount", c.ShardingTotalCount, 1, MaxShardingTotalCount)
	parameters, err := ParseItemParameters(c.ShardingItemParameters)
	if err != nil {
		f.addCause("ShardingItemParameters", c.ShardingItemParameters, "must be pairs such as 0=Berlin,1=Oslo", err)
		return
	}
	most := 0
	for item := range parameters {
		most = max(most, item)
	}
	if most > 0 && most >= c.ShardingTotalCount {
		f.addMild("ShardingItemParameters", c.ShardingItemParameters,
			fmt.Sprintf("must be of items below ShardingTotalCount, which is %d; item %d is not", c.ShardingTotalCount, most))
	}
}

func (f *faults) checkProps(p Props) {
	if _, err := p.Map(); err != nil {
		// They may hold passwords, and what cannot be read cannot be masked.
		f.addCause("Props", fmt.Sprintf("%d bytes", len(p)), "must be a JSON object of strings", err)
	}
}

func (f *faults) checkRange(field string, value, least, most int) {
	if value < least || value > most {
		f.add(field, strconv.Itoa(value), fmt.Sprintf("must be between %d and %d", least, most))
	}
}

// checkOff is checkRange for a setting that -1 switches off. Java takes any number below for that, too.
func (f *faults) checkOff(field string, value, most int) {
	if value < -1 {
		f.addMild(field, strconv.Itoa(value), fmt.Sprintf("must be between -1 and %d", most))
		return
	}
	f.checkRange(field, value, -1, most)
}

// checkWord asks for one of the words; empty stands for the first.
func (f *faults) checkWord(field, value string, words ...string) {
	if value != "" && !slices.Contains(words, value) {
		f.add(field, value, "must be empty or one of "+strings.Join(words, ", "))
	}
}
