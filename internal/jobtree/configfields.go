package jobtree

import (
	"time"

	"github.com/elasticron/elasticron/job"
)

// configField is one member of a config node.
type configField struct {
	name  string                         // of the member
	field string                         // of job.Config
	of    func(*storedConfig) configText // what the member stores

	exact    bool     // another member has the same field in whole units, rounded
	kind     job.Type // the only type that the member is written of; empty = all
	own      bool     // it is none of Java's, and written only if it says something
	standard []byte   // what an own member would say of a configuration that says nothing
}

// configFields are the members of a config node, in the order in which Java writes them, and behind
// them our own. A new field is a new row at the end.
var configFields = withStandards([]configField{
	{name: "jobName", field: "Name", of: func(c *storedConfig) configText { return text{&c.Name} }},
	{name: "jobClass", field: "Class", of: func(c *storedConfig) configText { return text{&c.Class} }},
	{name: "jobType", field: "Type", of: func(c *storedConfig) configText { return typeWord{&c.Type} }},
	{name: "cron", field: "Cron", of: func(c *storedConfig) configText { return text{&c.Cron} }},
	{name: "shardingTotalCount", field: "ShardingTotalCount", of: func(c *storedConfig) configText { return count(&c.ShardingTotalCount) }},
	{name: "shardingItemParameters", field: "ShardingItemParameters", of: func(c *storedConfig) configText { return text{&c.ShardingItemParameters} }},
	{name: "jobParameter", field: "JobParameter", of: func(c *storedConfig) configText { return text{&c.JobParameter} }},
	{name: "failover", field: "Failover", of: func(c *storedConfig) configText { return boolean{&c.Failover} }},
	{name: "misfire", field: "Misfire", of: func(c *storedConfig) configText { return boolean{&c.misfire} }},
	{name: "description", field: "Description", of: func(c *storedConfig) configText { return text{&c.Description} }},
	{name: "jobProperties", field: "ErrorHandler", of: func(c *storedConfig) configText { return properties{&c.Config} }},
	{name: "streamingProcess", field: "StreamingProcess", of: func(c *storedConfig) configText { return boolean{&c.StreamingProcess} }, kind: job.TypeDataflow},
	{name: "scriptCommandLine", field: "ScriptCommandLine", of: func(c *storedConfig) configText { return text{&c.ScriptCommandLine} }, kind: job.TypeScript},
	{name: "monitorExecution", field: "Unmonitored", of: func(c *storedConfig) configText { return opposite{&c.Unmonitored} }},
	{name: "maxTimeDiffSeconds", field: "MaxTimeDiff", of: rounded(maxTimeDiffOf)},
	{name: "monitorPort", field: "Java.MonitorPort", of: func(c *storedConfig) configText {
		return number[int]{field: &c.Java.MonitorPort, unit: 1, standard: -1, none: -1, least: anyNumber}
	}},
	{name: "jobShardingStrategyClass", field: "ShardingStrategy", of: func(c *storedConfig) configText { return text{&c.ShardingStrategy} }},
	{name: "reconcileIntervalMinutes", field: "ReconcileInterval", of: rounded(reconcileIntervalOf)},
	{name: "disabled", field: "Disabled", of: func(c *storedConfig) configText { return boolean{&c.Disabled} }},
	{name: "overwrite", field: "Java.Overwrite", of: func(c *storedConfig) configText { return boolean{&c.Java.Overwrite} }},

	{name: "timeZone", field: "TimeZone", of: func(c *storedConfig) configText { return text{&c.TimeZone} }, own: true},
	{name: "daylightSaving", field: "DaylightSaving", of: func(c *storedConfig) configText { return choice[job.DaylightSaving]{&c.DaylightSaving} }, own: true},
	{name: "failoverScope", field: "FailoverScope", of: func(c *storedConfig) configText { return choice[job.FailoverScope]{&c.FailoverScope} }, own: true},
	{name: "failoverLimit", field: "FailoverLimit", of: func(c *storedConfig) configText {
		return number[int]{field: &c.FailoverLimit, unit: 1, standard: job.DefaultFailoverLimit, none: -1}
	}, own: true},
	{name: "misfirePolicy", field: "Misfire", of: func(c *storedConfig) configText { return choice[job.MisfirePolicy]{&c.misfirePolicy} }, own: true},
	{name: "misfireMax", field: "MisfireMax", of: func(c *storedConfig) configText {
		return number[int]{field: &c.MisfireMax, unit: 1, standard: job.DefaultMisfireMax, none: -1}
	}, own: true},
	{name: "misfireWindowSeconds", field: "MisfireWindow", of: rounded(misfireWindowOf), own: true},
	{name: "timeoutSeconds", field: "Timeout", of: rounded(timeoutOf), own: true},
	{name: "retries", field: "Retries", of: func(c *storedConfig) configText { return count(&c.Retries) }, own: true},
	{name: "retryBackoffSeconds", field: "RetryBackoff", of: rounded(retryBackoffOf), own: true},
	{name: "clockPolicy", field: "ClockPolicy", of: func(c *storedConfig) configText { return choice[job.ClockPolicy]{&c.ClockPolicy} }, own: true},
	{name: "startTime", field: "StartTime", of: func(c *storedConfig) configText { return instant{&c.StartTime} }, own: true},
	{name: "endTime", field: "EndTime", of: func(c *storedConfig) configText { return instant{&c.EndTime} }, own: true},
	{name: "jitterSeconds", field: "Jitter", of: rounded(jitterOf), own: true},
	{name: "offsetSeconds", field: "Offset", of: rounded(offsetOf), own: true},
	{name: "props", field: "Props", of: func(c *storedConfig) configText { return props{&c.Props} }, own: true},
	{name: "maxConcurrentItems", field: "MaxConcurrentItems", of: func(c *storedConfig) configText { return count(&c.MaxConcurrentItems) }, own: true},

	{name: "maxTimeDiffExact", field: "MaxTimeDiff", of: exactly(maxTimeDiffOf, 0), own: true, exact: true},
	{name: "reconcileIntervalExact", field: "ReconcileInterval", of: exactly(reconcileIntervalOf, 1), own: true, exact: true},
	{name: "misfireWindowExact", field: "MisfireWindow", of: exactly(misfireWindowOf, 2), own: true, exact: true},
	{name: "timeoutExact", field: "Timeout", of: exactly(timeoutOf, 3), own: true, exact: true},
	{name: "retryBackoffExact", field: "RetryBackoff", of: exactly(retryBackoffOf, 4), own: true, exact: true},
	{name: "jitterExact", field: "Jitter", of: exactly(jitterOf, 5), own: true, exact: true},
	{name: "offsetExact", field: "Offset", of: exactly(offsetOf, 6), own: true, exact: true},
})

// The times. Each has two members: one with whole units, rounded up, and one with the exact value.

func maxTimeDiffOf(c *storedConfig) number[time.Duration] {
	return number[time.Duration]{field: &c.MaxTimeDiff, unit: time.Second, standard: -1, none: time.Nanosecond, least: anyNumber}
}

func reconcileIntervalOf(c *storedConfig) number[time.Duration] {
	return number[time.Duration]{
		field: &c.ReconcileInterval, unit: time.Minute, standard: int64(job.DefaultReconcileInterval / time.Minute), none: -1, least: anyNumber,
	}
}

func retryBackoffOf(c *storedConfig) number[time.Duration] {
	return number[time.Duration]{field: &c.RetryBackoff, unit: time.Second, standard: int64(job.DefaultRetryBackoff / time.Second), none: -1}
}

func misfireWindowOf(c *storedConfig) number[time.Duration] { return seconds(&c.MisfireWindow) }
func timeoutOf(c *storedConfig) number[time.Duration]       { return seconds(&c.Timeout) }
func jitterOf(c *storedConfig) number[time.Duration]        { return seconds(&c.Jitter) }
func offsetOf(c *storedConfig) number[time.Duration]        { return seconds(&c.Offset) }

func rounded(of func(*storedConfig) number[time.Duration]) func(*storedConfig) configText {
	return func(c *storedConfig) configText { return of(c) }
}

func exactly(of func(*storedConfig) number[time.Duration], i int) func(*storedConfig) configText {
	return func(c *storedConfig) configText { return exact{of(c), &c.exact[i]} }
}

func withStandards(fields []configField) []configField {
	for i := range fields {
		fields[i].standard = fields[i].of(&storedConfig{}).append(nil)
	}
	return fields
}

// memberNamed returns the member of a name, if it is a known one.
func memberNamed(name string) (*configField, bool) {
	for i := range configFields {
		if configFields[i].name == name {
			return &configFields[i], true
		}
	}
	return nil, false
}

// IsMember tells whether a config has a member of a name.
func IsMember(name string) bool {
	_, known := memberNamed(name)
	return known
}

// TextMember tells whether a member of a config is a text of any form, and not a number, a time, a word or settings.
func TextMember(name string) bool {
	f, known := memberNamed(name)
	if !known {
		return false
	}
	_, is := f.of(&storedConfig{}).(text)
	return is
}

// storedConfig is a configuration with what is stored in more members than it has fields.
type storedConfig struct {
	job.Config
	misfire       bool              // Java's flag: whether missed fires are made up at all
	misfirePolicy job.MisfirePolicy // and how, which Java does not know
	exact         [7]time.Duration  // what members of exact times say; 0 = nothing
}

// split says of a configuration what its members say.
func split(c job.Config) *storedConfig {
	if c.Misfire == job.MisfireSkip {
		return &storedConfig{Config: c}
	}
	return &storedConfig{Config: c, misfire: true, misfirePolicy: c.Misfire}
}

// joined is the other way round. With the flag off, no policy that is known has anything to say.
func (s *storedConfig) joined() job.Config {
	for i := range configFields {
		if f := &configFields[i]; f.exact {
			f.of(s).(exact).settle()
		}
	}
	c := s.Config
	c.Misfire = s.misfirePolicy
	if !s.misfire && (c.Misfire == job.MisfireOnce || c.Misfire == job.MisfireAll) {
		c.Misfire = job.MisfireSkip
	}
	return c
}
