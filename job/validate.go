package job

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	return errors.Join(f...)
}

// faults gathers what is wrong with a configuration.
type faults []error

func (f *faults) add(field, value, reason string) {
	f.addCause(field, value, reason, nil)
}

func (f *faults) addCause(field, value, reason string, cause error) {
	*f = append(*f, &FieldError{Field: field, Value: value, Reason: reason, Err: cause})
}

// check gathers every fault of c. It returns when the job fires, nil if that has faults.
func (f *faults) check(c Config) cronexpr.Schedule {
	f.checkName(c.Name)
	f.checkTexts(c)
	f.checkType(c)
	f.checkItems(c)
	f.checkRange("MaxTimeDiffSeconds", c.MaxTimeDiffSeconds, -1, maxTimeDiffSeconds)
	f.checkRange("MonitorPort", c.MonitorPort, -1, maxPort)
	f.checkRange("ReconcileIntervalMinutes", c.ReconcileIntervalMinutes, -1, maxReconcileIntervalMinutes)
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
	}
	return schedule
}

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
	if _, err := ParseItemParameters(c.ShardingItemParameters); err != nil {
		f.addCause("ShardingItemParameters", c.ShardingItemParameters, "must be pairs such as 0=Berlin,1=Oslo", err)
	}
}

func (f *faults) checkProps(p Props) {
	if _, err := p.Map(); err != nil {
		f.addCause("Props", string(p), "must be a JSON object of strings", err)
	}
}

func (f *faults) checkRange(field string, value, least, most int) {
	if value < least || value > most {
		f.add(field, strconv.Itoa(value), fmt.Sprintf("must be between %d and %d", least, most))
	}
}

// checkWord asks for one of the words; empty stands for the first.
func (f *faults) checkWord(field, value string, words ...string) {
	if value != "" && !slices.Contains(words, value) {
		f.add(field, value, "must be empty or one of "+strings.Join(words, ", "))
	}
}
