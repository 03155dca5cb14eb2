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

// The bounds of what is in a [Config].
const (
	year = 365 * 24 * time.Hour

	maxTimeDiff          = 24 * time.Hour
	maxPort              = 65_535
	maxReconcileInterval = year
	maxFailoverLimit     = 1_000
	maxMisfireMax        = 1_000
	maxMisfireWindow     = year
	maxTimeout           = year
	maxRetries           = 1_000
	maxBackoff           = time.Minute
	maxJitter            = 24 * time.Hour
	maxOffset            = year
)

// The least that a time may be unless it is 0: a number without a unit is nanoseconds, which nobody means.
const (
	leastSpan              = time.Millisecond
	leastTimeDiff          = time.Second // clocks cannot be compared much more closely
	leastReconcileInterval = time.Second
	leastMisfireWindow     = time.Second
)

// noTimeDiff is the [Config.MaxTimeDiff] that allows none.
const noTimeDiff = time.Nanosecond

// Validate reports every fault of the configuration at once: the error joins one [*FieldError] for
// each. Whether the job will ever fire, [Config.ValidateAt] tells.
func (c Config) Validate() error {
	var f faults
	f.check(c)
	return f.join()
}

// faults gathers what is wrong with a configuration.
type faults []error

func (f *faults) add(field, value, reason string) {
	f.addCause(field, value, reason, nil)
}

func (f *faults) addCause(field, value, reason string, cause error) {
	*f = append(*f, &FieldError{Field: field, Value: value, Reason: reason, Err: cause})
}

// join returns all faults as one error, nil if there are none.
func (f *faults) join() error { return errors.Join(*f...) }

// check gathers every fault of c. It returns when the job fires, nil if that has faults.
func (f *faults) check(c Config) cronexpr.Schedule {
	f.checkName(c.Name)
	f.checkTexts(c)
	f.checkType(c)
	f.checkItems(c)
	if c.MaxTimeDiff != noTimeDiff {
		f.checkSpan("MaxTimeDiff", c.MaxTimeDiff, leastTimeDiff, maxTimeDiff)
	}
	f.checkMost("ReconcileInterval", c.ReconcileInterval, leastReconcileInterval, maxReconcileInterval, time.Minute)
	checkWord(f, "FailoverScope", c.FailoverScope, FailoverRunning, FailoverAssigned)
	f.checkMostNumber("FailoverLimit", c.FailoverLimit, maxFailoverLimit)
	checkWord(f, "Misfire", c.Misfire, MisfireOnce, MisfireAll, MisfireSkip)
	f.checkMostNumber("MisfireMax", c.MisfireMax, maxMisfireMax)
	f.checkSpan("MisfireWindow", c.MisfireWindow, leastMisfireWindow, maxMisfireWindow)
	f.checkSpan("Timeout", c.Timeout, leastSpan, maxTimeout)
	f.checkRange("Retries", c.Retries, 0, maxRetries)
	f.checkMost("RetryBackoff", c.RetryBackoff, leastSpan, maxBackoff, time.Second)
	checkWord(f, "ClockPolicy", c.ClockPolicy, ClockWarn, ClockRefuse)
	f.checkSpan("Jitter", c.Jitter, leastSpan, maxJitter)
	f.checkSpan("Offset", c.Offset, leastSpan, maxOffset)
	f.checkRange("MaxConcurrentItems", c.MaxConcurrentItems, 0, MaxShardingTotalCount)
	schedule := f.schedule(c)
	if schedule != nil {
		f.checkDelay(c, schedule)
		f.checkOffset(c, schedule)
		f.checkJitter(c, schedule)
	}
	f.checkPort(c.Java.MonitorPort)
	f.checkFailover(c)
	f.checkProps(c.Props)
	return schedule
}

// checkFailover asks of a job whose executions are run again after a crash that somebody writes down
// which there are.
func (f *faults) checkFailover(c Config) {
	if c.Failover && c.Unmonitored {
		f.add("Failover", "true", "must be false for an unmonitored job, as nothing records the executions that a crash cuts short")
	}
}

// firesLookedAt is how many fires of a job tell how far apart they are. Those of most jobs repeat within a day. On the
// days of a year on which the clock is changed they may be closer, and a job that fires often is far from those by then.
const firesLookedAt = 2_000

// checkJitter asks that no fire is delayed to beyond the next one's time.
func (f *faults) checkJitter(c Config, schedule cronexpr.Schedule) {
	if _, delay := cronexpr.DelayOf(schedule); delay || c.Jitter <= 0 || c.Jitter > maxJitter {
		return
	}
	first := schedule.Next(jitterFrom)
	if apart := closerThan(c.Jitter, schedule, first, first.AddDate(10_000, 0, 0)); apart > 0 {
		f.add("Jitter", c.Jitter.String(), fmt.Sprintf("must not be above the time between two fires, which is %s", apart))
		return
	}
	for change := nextClockChange(first); !change.IsZero() && change.Before(first.AddDate(1, 0, 0)); change = nextClockChange(change) {
		if apart := closerThan(c.Jitter, schedule, schedule.Next(change.Add(-c.Jitter)), change.AddDate(0, 0, 1)); apart > 0 {
			f.add("Jitter", c.Jitter.String(), fmt.Sprintf(
				"must not be above the time between two fires, which is %s when the clock is changed, as on %s", apart, change.Format(time.DateOnly)))
			return
		}
	}
}

// closerThan returns the time between the first two fires, from one on and up to a time, that are less than so much apart,
// or 0. It looks at no more than firesLookedAt.
func closerThan(least time.Duration, schedule cronexpr.Schedule, fire, until time.Time) time.Duration {
	for range firesLookedAt {
		if fire.IsZero() || fire.After(until) {
			return 0
		}
		next := schedule.Next(fire)
		if next.IsZero() {
			return 0
		}
		if apart := next.Sub(fire); apart < least {
			return apart
		}
		fire = next
	}
	return 0
}

// nextClockChange returns when the clock of a time's zone is changed next; zero is never.
func nextClockChange(after time.Time) time.Time {
	_, change := after.ZoneBounds()
	switch {
	case change.IsZero():
		return time.Time{}
	case !change.After(after): // on the last day of a leap year, package time names an end that has passed
		return after.AddDate(0, 0, 1)
	}
	return change.In(after.Location())
}

// jitterFrom is from when the fires are looked at. Any time would do, but the same one every time, so
// that a configuration that is good is good for ever.
var jitterFrom = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)

// checkOffset asks that there is something that an offset moves.
func (f *faults) checkOffset(c Config, schedule cronexpr.Schedule) {
	if _, is := cronexpr.PeriodOf(schedule); !is && c.Offset != 0 {
		f.add("Offset", c.Offset.String(), `must be 0 unless Cron is "@every <duration>"`)
	}
}

// checkDelay asks of a job that counts from the ends of its runs that somebody writes those down.
func (f *faults) checkDelay(c Config, schedule cronexpr.Schedule) {
	if _, is := cronexpr.DelayOf(schedule); !is {
		return
	}
	if c.Unmonitored {
		f.add("Unmonitored", "true", "must not be so for a job with a fixed delay, which counts from recorded ends")
	}
	if c.Jitter != 0 {
		f.add("Jitter", c.Jitter.String(), "must be 0 for a job with a fixed delay, whose fires drift apart by themselves")
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
	if !slices.ContainsFunc(types, func(known Type) bool { return known.String() == c.Type.String() }) {
		f.add("Type", c.Type.String(), fmt.Sprintf("must be one of %s", types))
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
		f.add("ShardingItemParameters", c.ShardingItemParameters,
			fmt.Sprintf("must be of items below ShardingTotalCount, which is %d; item %d is not", c.ShardingTotalCount, most))
	}
}

func (f *faults) checkRange(field string, value, least, most int) {
	if value < least || value > most {
		f.add(field, strconv.Itoa(value), fmt.Sprintf("must be between %d and %d", least, most))
	}
}

// checkMostNumber is checkRange for a number whose negative values stand for none.
func (f *faults) checkMostNumber(field string, value, most int) {
	if value > most {
		f.add(field, strconv.Itoa(value), fmt.Sprintf("must be at most %d", most))
	}
}

// checkPort is about Java's port. To Java, every number below -1 means none.
func (f *faults) checkPort(port int) {
	const field = "Java.MonitorPort"
	if port < -1 {
		f.add(field, strconv.Itoa(port), fmt.Sprintf("must be between -1 and %d", maxPort))
		return
	}
	f.checkRange(field, port, -1, maxPort)
}

// checkSpan asks for a time from 0 on. The reason has the unit in which the time is stored, because operators read
// it beside the stored number.
func (f *faults) checkSpan(field string, value, least, most time.Duration) {
	switch {
	case value < 0 || value > most:
		f.add(field, value.String(), fmt.Sprintf("must be between 0 and %d seconds", most/time.Second))
	case value > 0 && value < least:
		f.add(field, value.String(), fmt.Sprintf("must be 0 or at least %s", least))
	}
}

// checkMost is checkSpan for a time whose negative values stand for none.
func (f *faults) checkMost(field string, value, least, most, unit time.Duration) {
	switch {
	case value > most:
		f.add(field, value.String(), fmt.Sprintf("must be at most %d %s", most/unit, unitNames[unit]))
	case value > 0 && value < least:
		f.add(field, value.String(), fmt.Sprintf("must be 0 or at least %s", least))
	}
}

var unitNames = map[time.Duration]string{time.Second: "seconds", time.Minute: "minutes"}

// checkWord asks for one of the words; empty stands for the first.
func checkWord[T interface {
	~string
	fmt.Stringer
}](f *faults, field string, value T, words ...T) {
	var all []string
	for _, word := range words {
		if value.String() == word.String() {
			return
		}
		all = append(all, word.String())
	}
	f.add(field, string(value), "must be empty or one of "+strings.Join(all, ", "))
}
