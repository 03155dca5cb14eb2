package job

import "time"

// Config describes a job. It is stored in the registry, where the first declaration counts unless
// Overwrite is set, and every instance follows what is stored.
//
// The zero value of several fields is not their default: start from [NewConfig] rather than from a
// literal, in which Misfire and MonitorExecution would be off and ReconcileIntervalMinutes, too.
//
// The fields above TimeZone are those of Elastic-Job-Lite 2.1.5 and are stored as Java stores them,
// byte for byte. TimeZone and those below are our own. They are stored behind the others, and only
// if they are set. Java instances skip them, but the Java console drops them when it changes a job's
// settings.
type Config struct {
	// Name identifies the job in its namespace. It is one segment of a path: not empty, without "/",
	// without "@-@", not "." or "..", without control characters.
	Name string
	// Class is the name of the code that runs the job, the same in every process. Two declarations
	// of one job with different classes are a conflict. Empty means the job's name, or
	// [ScriptClass] for scripts; see [Config.ClassName]. Where Java instances share the job, it is
	// the canonical name of the Java class.
	Class string
	// Type says what kind of code the job runs. The default is [TypeSimple].
	Type Type
	// Cron says when the job fires: a Quartz expression of 6 or 7 fields, such as "0 0/5 * * * ?",
	// or any other dialect of package cronexpr. "@delay 10s" has an item run again 10 s after its last
	// run was over, and "@triggered" only when somebody triggers the job.
	Cron string
	// ShardingTotalCount is the number of sharding items, 1 to [MaxShardingTotalCount].
	ShardingTotalCount int
	// ShardingItemParameters gives items a text each, as in "0=Berlin,1=Oslo". See
	// [ParseItemParameters]. The default is none.
	ShardingItemParameters string
	// JobParameter is a text for all items. The default is none.
	JobParameter string
	// Description is for people. The default is none.
	Description string
	// Failover has an item whose instance died while running it run again by another instance. The
	// default is off.
	Failover bool
	// Misfire has an item run once more for the fires that it missed. The default is on.
	Misfire bool
	// MonitorExecution records every execution in the registry. The default is on. Off saves the
	// writes and gives up what rests on them: single execution, fencing tokens and failover.
	MonitorExecution bool
	// StreamingProcess has a dataflow job fetch and process until nothing is left. The default is
	// off. It is allowed for [TypeDataflow] only.
	StreamingProcess bool
	// Disabled has new servers of the job start disabled. The default is off.
	Disabled bool
	// Overwrite has this declaration replace a stored one that differs. The default is off.
	Overwrite bool
	// ErrorHandler names what is told of failed items: LOG, which empty stands for, IGNORE, THROW, or
	// another one that the process registered; see package errorhandler. A name that the process does
	// not know is refused when the job is declared with it. One that is found in the registry, such as
	// a Java class, is reported and means LOG.
	ErrorHandler string
	// ExecutorServiceHandler bounds how many items run at once in one process: [ExecutorCPU] or
	// [ExecutorSingleThread]. Empty means the default, without limit: what Java's default pool of
	// two threads for each CPU saves, goroutines do not cost. Names that are not known are dealt with
	// as those of ErrorHandler are.
	ExecutorServiceHandler string
	// ScriptCommandLine is what a script job runs. [TypeScript] needs it, no other type may have it.
	ScriptCommandLine string
	// ShardingStrategy names how items are spread over instances. Empty means average allocation.
	ShardingStrategy string
	// MaxTimeDiffSeconds is how far an instance's clock may be off from the registry's, in seconds.
	// The default, -1, does not check.
	MaxTimeDiffSeconds int
	// MonitorPort is the TCP port by which a Java instance that shares the job serves a dump of its
	// tree. The default, -1, serves none; 0 takes any free port. Go instances keep the setting and open
	// no port by it; see package dump.
	MonitorPort int
	// ReconcileIntervalMinutes is how often the leader compares the assignment with the one that it
	// should be, in minutes. The default is 10; 0 and -1 never do.
	ReconcileIntervalMinutes int

	// TimeZone is the zone in which Cron is read, as an IANA name such as "Europe/Berlin". Empty
	// means UTC, on every host.
	TimeZone string
	// DaylightSaving says what becomes of fires that fall into a change of the clock. Empty, or
	// "natural", has the job run as people mean it: a job at fixed hours once that day, one that
	// ticks through the hours without a pause. [DaylightSavingQuartz] repeats what Quartz does, for
	// jobs that Java instances share.
	DaylightSaving string

	// FailoverScope says what Failover is about: [FailoverRunning], which empty stands for, reruns
	// executions that were cut short. [FailoverAssigned] is what Elastic-Job 2.x does: when an
	// instance crashes, every item that was assigned to it is run again at once, whether or not it
	// was running.
	FailoverScope string
	// FailoverLimit is how often in a row a lost execution is run again before it is given up: the
	// item is then interrupted and reported, and its next fire runs. The default is 3; 0 is without
	// limit.
	FailoverLimit int
	// MisfirePolicy says what Misfire does about fires that were missed: [MisfireOnce], which empty
	// stands for, runs the item once for all of them, with the time of the newest; [MisfireAll] runs it once for
	// each, in order.
	MisfirePolicy string
	// MisfireMax is how many missed fires [MisfireAll] keeps, the newest. The default is 100.
	MisfireMax int
	// MisfireWindowSeconds is how old a missed fire may be and still be made up, in seconds. If it is
	// set, fires that came while no instance lived at all are made up, too, of items that have run
	// before: for how long one that never ran has been part of the job is not known, and a job that
	// does not record its executions (MonitorExecution) has none that have. The default, 0, sets no
	// bound and does not make those up.
	MisfireWindowSeconds int
	// TimeoutSeconds bounds one attempt of one item, in seconds: then its context ends with the cause
	// [ErrTimeout]. The default, 0, sets no bound.
	TimeoutSeconds int
	// Retries is how often an item that failed is tried again within the same execution. The default
	// is 0.
	Retries int
	// RetryBackoffSeconds is the pause before the first retry, in seconds; it doubles with each, up to
	// a minute, and varies by half. The default is 1.
	RetryBackoffSeconds int
	// ClockPolicy says what becomes of a fire on an instance whose clock is further off than
	// MaxTimeDiffSeconds: [ClockWarn], which empty stands for, runs it and reports the clock;
	// [ClockRefuse] leaves it, as missed, to a time or an instance with a better clock, and has the
	// instance leave the job to others until its clock is right again.
	ClockPolicy string
	// StartTime and EndTime bound the fires of Cron, both included; a run that began goes on beyond
	// EndTime. They do not bound runs by hand. The zero time, the default, sets no bound.
	StartTime, EndTime time.Time
	// JitterSeconds spreads fires, so that jobs with the same cron do not begin in the same instant:
	// each fire begins up to so many seconds late, by an amount that its time and the job's name
	// decide, the same in every process. It remains the fire of its scheduled time. The default is
	// 0. It must not be above the time between two fires: one that is overtaken by the next counts as
	// missed.
	JitterSeconds int
	// OffsetSeconds moves the fires of "@every <duration>" so many seconds on, so that jobs with the
	// same period do not fire in the same instant: "@every 1m" with an offset of 20 fires at second 20
	// of each minute. Only what remains after whole periods matters. The default is 0, and no other
	// kind of Cron may have it.
	OffsetSeconds int
	// Props are settings by name for the kind of job and its error handler, such as "http.uri" or
	// "email.host", as ElasticJob 3.x names them. They are stored as plain text, passwords included.
	// The default is none.
	Props Props
	// MaxConcurrentItems is how many items of the job run at once in one process; the others wait, in
	// the order of their numbers. It goes before ExecutorServiceHandler. The default, 0, leaves it to
	// that one. An item that waits has begun: it holds its mark, and its own next fires are missed
	// ones. So each item waits at most once, and there is no queue that could overflow.
	MaxConcurrentItems int
	// Unknown holds stored fields that this version does not know, such as those of a newer one, as
	// the JSON members they were ("a":1,"b":"x"). They are written back as they came. Leave it
	// empty in a new configuration.
	Unknown string
}

// What a [Config] may hold.
const (
	// MaxShardingTotalCount bounds the sharding items of a job. Each costs every instance memory.
	MaxShardingTotalCount = 100_000
	// DaylightSavingQuartz is the [Config.DaylightSaving] that repeats Quartz exactly.
	DaylightSavingQuartz = "quartz"
	// FailoverRunning and FailoverAssigned are the values of [Config.FailoverScope].
	FailoverRunning  = "running"
	FailoverAssigned = "assigned"
	// MisfireOnce and MisfireAll are the values of [Config.MisfirePolicy].
	MisfireOnce = "once"
	MisfireAll  = "all"
	// ClockWarn and ClockRefuse are the values of [Config.ClockPolicy].
	ClockWarn   = "warn"
	ClockRefuse = "refuse"
	// DefaultFailoverLimit, DefaultMisfireMax and DefaultRetryBackoffSeconds are what [NewConfig]
	// sets.
	DefaultFailoverLimit       = 3
	DefaultMisfireMax          = 100
	DefaultRetryBackoffSeconds = 1
	// ScriptClass is the class of every script job, for Java's sake.
	ScriptClass = "com.dangdang.ddframe.job.api.script.ScriptJob"
)

// NewConfig returns the configuration of a simple job with the defaults that its fields document.
// It checks nothing; see [Config.Validate].
func NewConfig(name, cron string, shardingTotalCount int) Config {
	return Config{
		Name:                     name,
		Type:                     TypeSimple,
		Cron:                     cron,
		ShardingTotalCount:       shardingTotalCount,
		Misfire:                  true,
		MonitorExecution:         true,
		MaxTimeDiffSeconds:       -1,
		MonitorPort:              -1,
		ReconcileIntervalMinutes: 10,
		FailoverLimit:            DefaultFailoverLimit,
		MisfireMax:               DefaultMisfireMax,
		RetryBackoffSeconds:      DefaultRetryBackoffSeconds,
	}
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
