package job

import "time"

// Config describes a job. It is stored in the registry, where the first declaration counts, and every
// instance follows what is stored; scheduler.OnConflict says who wins when they differ.
//
// A literal is safe: the zero value of every field is its default, and
//
//	job.Config{Name: "orders", Cron: "0/5 * * * * ?", ShardingTotalCount: 4}
//
// is a whole job. Spelling a default out changes nothing, as [Config.Differences] tells. Where the zero
// value stands for a number, a negative one stands for none.
//
// The fields above TimeZone are those of Elastic-Job-Lite 2.1.5 and are stored as Java stores them,
// byte for byte. TimeZone and those below are our own. They are stored behind the others, and only
// if they say something other than their default. Java instances skip them, but the Java console drops
// them when it changes a job's settings.
//
// Durations are stored in whole seconds, and ReconcileInterval in whole minutes, rounded up. A member of our
// own beside them holds the exact value of a duration that was rounded, so Go instances read back what was
// declared. If the Java console changes the rounded value, the exact one no longer counts.
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
	// Failover has an item whose instance died while running it run it again by another instance. The
	// default is off. It is not allowed with Unmonitored.
	Failover bool
	// Misfire says what becomes of fires that were missed. The default, [MisfireOnce], runs the item
	// once for all of them; [MisfireAll] runs it once for each, and [MisfireSkip] not at all.
	Misfire MisfirePolicy
	// Unmonitored saves the writes that record every execution in the registry, and gives up what rests
	// on them: that an item runs at most once for a fire and never in two places at once when
	// instances come, go or stall; that no fire is lost when an item moves to another instance;
	// fencing tokens, failover, offsets of an item, a fixed delay ("@delay"), hooks of whole rounds
	// and every report about single items. What is left is that an item is run by the instance that it
	// is assigned to. The default is off: executions are recorded.
	Unmonitored bool
	// StreamingProcess has a dataflow job fetch and process until nothing is left. The default is
	// off. It is allowed for [TypeDataflow] only.
	StreamingProcess bool
	// Disabled has new servers of the job start disabled. The default is off.
	Disabled bool
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
	// MaxTimeDiff is how far an instance's clock may be off from the registry's, up to a day; what
	// happens beyond, ClockPolicy says. The default, 0, does not check. Java can ask for no difference at
	// all, which is read as a nanosecond.
	MaxTimeDiff time.Duration
	// ReconcileInterval is how often the leader compares the assignment with the one that it should be.
	// The default, 0, is [DefaultReconcileInterval], 10 minutes; negative never does.
	ReconcileInterval time.Duration
	// Java is what only Java instances that share the job read.
	Java Java

	// TimeZone is the zone in which Cron is read, as an IANA name such as "Europe/Berlin". Empty
	// means UTC, on every host.
	TimeZone string
	// DaylightSaving says what becomes of fires that fall into a change of the clock. The default,
	// [DaylightSavingNatural], has the job run as people mean it; [DaylightSavingQuartz] repeats
	// what Quartz does.
	DaylightSaving DaylightSaving

	// FailoverScope says what Failover is about. The default, [FailoverRunning], reruns executions that
	// were cut short. With [FailoverAssigned], when an instance crashes, every item that was assigned
	// to it is run again at once, whether or not it was running.
	FailoverScope FailoverScope
	// FailoverLimit is how often in a row a lost execution is run again before it is given up: the
	// item is then interrupted and reported, and its next fire runs. The default, 0, is
	// [DefaultFailoverLimit], 3 times; negative is without limit.
	FailoverLimit int
	// MisfireMax is how many missed fires [MisfireAll] keeps, the newest. The default, 0, is
	// [DefaultMisfireMax], 100; negative keeps none.
	MisfireMax int
	// MisfireWindow is how old a missed fire may be and still be made up. If it is set, fires that came
	// while no instance lived at all are made up, too, of items that have run before: for how long one
	// that never ran has been part of the job is not known, and a job that does not record its
	// executions has none that have. The default, 0, sets no bound and does not make those up.
	MisfireWindow time.Duration
	// Timeout bounds one attempt of one item: then its context ends with the cause [ErrTimeout]. The
	// default, 0, sets no bound.
	Timeout time.Duration
	// Retries is how often an item that failed is tried again within the same execution. The default
	// is 0.
	Retries int
	// RetryBackoff is the pause before the first retry, up to a minute; it doubles with each, up to a
	// minute, and varies by half. The default, 0, is [DefaultRetryBackoff], a second; negative is no
	// pause.
	RetryBackoff time.Duration
	// ClockPolicy says what becomes of a fire on an instance whose clock is further off than
	// MaxTimeDiff. The default, [ClockWarn], runs it and reports the clock; [ClockRefuse] leaves it,
	// as missed, to a time or an instance with a better clock, and has the instance leave the job to
	// others until its clock is right again.
	ClockPolicy ClockPolicy
	// StartTime and EndTime bound the fires of Cron, both included; a run that began goes on beyond
	// EndTime. They do not bound runs by hand. The zero time, the default, sets no bound.
	StartTime, EndTime time.Time
	// Jitter spreads fires, so that jobs with the same cron do not begin in the same instant: each fire
	// begins up to so much late, up to a day, by an amount that its time and the job's name decide, the
	// same in every process. It remains the fire of its scheduled time. The default is 0. It must not
	// be above the time between two fires: one that is overtaken by the next counts as missed.
	Jitter time.Duration
	// Offset moves the fires of "@every <duration>" so much on, so that jobs with the same period do
	// not fire in the same instant: "@every 1m" with an offset of 20 s fires at second 20 of each
	// minute. Only what remains after whole periods matters. The default is 0, and no other kind of
	// Cron may have it.
	Offset time.Duration
	// Props are settings by name for the kind of job and its error handler, such as "http.uri" or
	// "email.host", as ElasticJob 3.x names them. The default is none. Whoever can read the registry
	// can read them. So a setting that is secret names the place of its value: "env:SMTP_PASSWORD"
	// stands for an environment variable and "file:/run/secrets/smtp" for a file of the process that uses
	// the setting. That process looks the value up, and nobody stores it; see [PropsReader]. A copy of a
	// Config has the same map: code that is given a Config must not change it.
	Props map[string]string
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
	// ScriptClass is the class of every script job, for Java's sake.
	ScriptClass = "com.dangdang.ddframe.job.api.script.ScriptJob"
)
