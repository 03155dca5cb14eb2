package jobtree

import "github.com/elasticron/elasticron/job"

// configField is one member of a config node.
type configField struct {
	name   string
	of     func(*job.Config) configText     // the field that it stores
	stored func(*job.Config) (written bool) // nil = always written
}

// configFields are the members of a config node, in the order in which Java writes them, and behind
// them our own, which are written only if they say something. A new field is a new row at the end.
var configFields = []configField{
	{"jobName", func(c *job.Config) configText { return text{&c.Name} }, nil},
	{"jobClass", func(c *job.Config) configText { return text{&c.Class} }, nil},
	{"jobType", func(c *job.Config) configText { return typeWord{&c.Type} }, nil},
	{"cron", func(c *job.Config) configText { return text{&c.Cron} }, nil},
	{"shardingTotalCount", func(c *job.Config) configText { return number{&c.ShardingTotalCount} }, nil},
	{"shardingItemParameters", func(c *job.Config) configText { return text{&c.ShardingItemParameters} }, nil},
	{"jobParameter", func(c *job.Config) configText { return text{&c.JobParameter} }, nil},
	{"failover", func(c *job.Config) configText { return boolean{&c.Failover} }, nil},
	{"misfire", func(c *job.Config) configText { return boolean{&c.Misfire} }, nil},
	{"description", func(c *job.Config) configText { return text{&c.Description} }, nil},
	{"jobProperties", func(c *job.Config) configText { return properties{c} }, nil},
	{"streamingProcess", func(c *job.Config) configText { return boolean{&c.StreamingProcess} }, isDataflow},
	{"scriptCommandLine", func(c *job.Config) configText { return text{&c.ScriptCommandLine} }, isScript},
	{"monitorExecution", func(c *job.Config) configText { return boolean{&c.MonitorExecution} }, nil},
	{"maxTimeDiffSeconds", func(c *job.Config) configText { return number{&c.MaxTimeDiffSeconds} }, nil},
	{"monitorPort", func(c *job.Config) configText { return number{&c.MonitorPort} }, nil},
	{"jobShardingStrategyClass", func(c *job.Config) configText { return text{&c.ShardingStrategy} }, nil},
	{"reconcileIntervalMinutes", func(c *job.Config) configText { return number{&c.ReconcileIntervalMinutes} }, nil},
	{"disabled", func(c *job.Config) configText { return boolean{&c.Disabled} }, nil},
	{"overwrite", func(c *job.Config) configText { return boolean{&c.Overwrite} }, nil},

	{"timeZone", func(c *job.Config) configText { return text{&c.TimeZone} }, said(func(c *job.Config) string { return c.TimeZone })},
	{"daylightSaving", func(c *job.Config) configText { return text{&c.DaylightSaving} }, said(func(c *job.Config) string { return c.DaylightSaving })},
	{"failoverScope", func(c *job.Config) configText { return text{&c.FailoverScope} }, said(func(c *job.Config) string { return c.FailoverScope })},
	{"failoverLimit", func(c *job.Config) configText { return number{&c.FailoverLimit} }, differs(func(c *job.Config) int { return c.FailoverLimit })},
	{"misfirePolicy", func(c *job.Config) configText { return text{&c.MisfirePolicy} }, said(func(c *job.Config) string { return c.MisfirePolicy })},
	{"misfireMax", func(c *job.Config) configText { return number{&c.MisfireMax} }, differs(func(c *job.Config) int { return c.MisfireMax })},
	{"misfireWindowSeconds", func(c *job.Config) configText { return number{&c.MisfireWindowSeconds} }, differs(func(c *job.Config) int { return c.MisfireWindowSeconds })},
	{"timeoutSeconds", func(c *job.Config) configText { return number{&c.TimeoutSeconds} }, differs(func(c *job.Config) int { return c.TimeoutSeconds })},
	{"retries", func(c *job.Config) configText { return number{&c.Retries} }, differs(func(c *job.Config) int { return c.Retries })},
	{"retryBackoffSeconds", func(c *job.Config) configText { return number{&c.RetryBackoffSeconds} }, differs(func(c *job.Config) int { return c.RetryBackoffSeconds })},
	{"clockPolicy", func(c *job.Config) configText { return text{&c.ClockPolicy} }, said(func(c *job.Config) string { return c.ClockPolicy })},
	{"startTime", func(c *job.Config) configText { return instant{&c.StartTime} }, func(c *job.Config) bool { return !c.StartTime.IsZero() }},
	{"endTime", func(c *job.Config) configText { return instant{&c.EndTime} }, func(c *job.Config) bool { return !c.EndTime.IsZero() }},
	{"jitterSeconds", func(c *job.Config) configText { return number{&c.JitterSeconds} }, differs(func(c *job.Config) int { return c.JitterSeconds })},
	{"offsetSeconds", func(c *job.Config) configText { return number{&c.OffsetSeconds} }, differs(func(c *job.Config) int { return c.OffsetSeconds })},
	{"props", func(c *job.Config) configText { return props{&c.Props} }, said(func(c *job.Config) string { return string(c.Props) })},
	{"maxConcurrentItems", func(c *job.Config) configText { return number{&c.MaxConcurrentItems} }, differs(func(c *job.Config) int { return c.MaxConcurrentItems })},
}

func isDataflow(c *job.Config) bool { return c.Type == job.TypeDataflow }

func isScript(c *job.Config) bool { return c.Type == job.TypeScript }

// defaults are what a member that is missing means.
var defaults = job.NewConfig("", "", 0)

// differs tells of a number whether it says something: whether it is not the default.
func differs(field func(*job.Config) int) func(*job.Config) bool {
	standard := field(&defaults)
	return func(c *job.Config) bool { return field(c) != standard }
}

// said is differs for words, of which the empty one stands for the default.
func said(field func(*job.Config) string) func(*job.Config) bool {
	return func(c *job.Config) bool { return field(c) != "" }
}

// configValue returns the field that a member of this name stores, if it is a known one.
func configValue(c *job.Config, name string) (configText, bool) {
	for _, f := range configFields {
		if f.name == name {
			return f.of(c), true
		}
	}
	return nil, false
}
