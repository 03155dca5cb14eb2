package job

import (
	"time"
)

// Config describes a job. The registry stores it: the first declaration of a job counts, and every instance
// follows what is stored. If a later declaration differs, scheduler.OnConflict says which one wins.
//
// A literal is safe: the zero value of every field is its default, and
//
//	job.Config{Name: "orders", Cron: "0/5 * * * * ?", ShardingTotalCount: 4}
//
// is a whole job. Spelling out a default changes nothing; see [Config.Differences]. Where 0 stands for a default
// number, a negative number means none; elsewhere it is refused.
//
// The registry holds the fields above TimeZone byte for byte as Elastic-Job-Lite 2.1.5 writes them. TimeZone and
// the fields below it are our own. They follow behind Java's, and only if they differ from their default. Java
// instances skip them, but the Java console drops them when it changes a job's settings.
//
// A duration that is not 0 is a millisecond at least: a number without a unit would be nanoseconds. None is longer than 365
// days. A field says so if its bounds are narrower.
// Durations are stored in whole seconds, and ReconcileInterval in whole minutes, rounded up. Beside a duration that
// was rounded, a member of our own holds the exact value, so Go instances read back what was declared. If the
// Java console changes the rounded value, the exact one no longer counts.
type Config struct {
	// Name identifies the job in its namespace. It is one segment of a path, in UTF-8: not empty, without "/",
	// without "@-@" and no "@-" at its end, not "." or "..", without control characters.
	Name string
	// Class is the name of the code that runs the job, the same in every process. Two declarations
	// of one job with different classes are a conflict. Empty means the job's name, or
	// [ScriptClass] for scripts; see [Config.ClassName]. If Java instances share the job, it is
	// the canonical name of the Java class.
	Class string
	// Type says what kind of code the job runs. The default is [TypeSimple].
	Type Type
	// Cron says when the job fires: a Quartz expression of 6 or 7 fields, such as "0 0/5 * * * ?",
	// or any other dialect of package cronexpr. "@every 1ms" and "@delay 1ms" are taken, but each run of an
	// item is two commits of the store: below a second, that is most of what the process does. With "@delay
	// 10s", an item runs again 10 s after its last run has ended; this needs recorded executions, and Jitter
	// to be 0. With "@triggered", it runs only when somebody triggers the job.
	Cron string
	// ShardingTotalCount is the number of sharding items, 1 to [MaxShardingTotalCount].
	ShardingTotalCount int
	// ShardingItemParameters gives each item a text, as in "0=Berlin,1=Oslo". See
	// [ParseItemParameters]. The default is none.
	ShardingItemParameters string
	// JobParameter is a text for all items. The default is none.
	JobParameter string
	// Description is for people. The default is none.
	Description string
	// Failover lets an item be run again by its next owner if its execution was cut short: because its instance died,
	// or lost its session, or cancelled it at the end of a stop. It also has the rest run of what made room, see [Yield].
	// The default is off. It is not allowed with Unmonitored.
	Failover bool
	// Misfire says what happens to missed fires. The default, [MisfireOnce], runs the item
	// once for all of them; [MisfireAll] runs it once for each, and [MisfireSkip] not at all. What was missed up to then is
	// forgotten with a change to MisfireSkip, and with one of the times by which the job fires, also if that is changed back.
	Misfire MisfirePolicy
	// Unmonitored saves the writes that record every execution in the registry, and gives up whatever needs
	// these records:
	//
	//   - an item runs at most once for a fire, and never in two places at once, also when
	//     instances come, go or stall;
	//   - no fire is lost when an item moves to another instance;
	//   - fencing tokens, failover, offsets of an item, a fixed delay ("@delay"), hooks of whole rounds,
	//     and every report about single items.
	//
	// What is left is that the instance to which an item is assigned runs it. Once this is set, what was lost does not wait
	// any more to be run again, and what others have noted as missed is forgotten, for good. The default is off: executions
	// are recorded.
	Unmonitored bool
	// StreamingProcess lets a dataflow job fetch and process until nothing is left. With Failover, the stream goes on where its
	// item moves meanwhile, and else with the next fire. The default is off. Only a [TypeDataflow] may have it.
	StreamingProcess bool
	// Disabled means that nothing of the job begins, on any server; its fires meanwhile have not happened. What runs
	// goes on. It is the operator's: a declaration in code says how the job starts when it is created, and changes
	// nothing later, whoever wins a conflict; nor does scheduler.Job.Update. Where Java instances take part it means, as in Java,
	// that a server which is new to the job starts disabled. The default is off.
	Disabled bool
	// ErrorHandler names the handler that hears of failed items: LOG, which is the default, IGNORE, THROW, or
	// another one that the process registered; see package errorhandler. If the process that declares the job
	// does not know the name, it refuses the declaration. If a process finds an unknown name in the registry,
	// such as a Java class, it reports the name and logs failures.
	ErrorHandler string
	// ExecutorServiceHandler bounds how many items run at once in one process: [ExecutorCPU] or
	// [ExecutorSingleThread]. Empty, the default, sets no bound: Java's default pool has two threads for
	// each CPU because threads cost something; goroutines hardly do. Unknown names are treated as those of
	// ErrorHandler are, and set no bound.
	ExecutorServiceHandler string
	// ScriptCommandLine is what a script job runs. A [TypeScript] needs it; no other type may have it.
	ScriptCommandLine string
	// ShardingStrategy names how items are spread over instances. Empty means average allocation.
	ShardingStrategy string
	// MaxTimeDiff is how far an instance's clock may be off from the registry's, from a second to a day. ClockPolicy
	// says what happens beyond. With the default, 0, no such difference counts. Whatever this says, an instance that is
	// more than 30 seconds off leaves the job to others, if there are any: so it matters below that. Java can allow no
	// difference at all, which is read as a nanosecond.
	MaxTimeDiff time.Duration
	// ReconcileInterval is how often the leader compares the assignment with the one that it should be, a second
	// at least. The default, 0, is [DefaultReconcileInterval], 10 minutes; negative is never.
	ReconcileInterval time.Duration
	// Java is what only Java instances that share the job read.
	Java Java

	// TimeZone is the zone in which Cron is read, as an IANA name such as "Europe/Berlin". Empty
	// means UTC, on every host. Names that hosts give zones of their own, such as Local and localtime, are not allowed.
	TimeZone string
	// DaylightSaving says what happens to fires that fall into a change of the clock. With the default,
	// [DaylightSavingNatural], the job runs as people mean it; [DaylightSavingQuartz] repeats
	// what Quartz does.
	DaylightSaving DaylightSaving

	// FailoverScope says which items Failover runs again. The default, [FailoverRunning], is those whose
	// execution was cut short. With [FailoverAssigned], when an instance crashes, every item that was
	// assigned to it is run again at once, whether or not it was running.
	FailoverScope FailoverScope
	// FailoverLimit is how often in a row a lost execution is run again. Then it is given up: the
	// item is interrupted and reported, and its next fire runs. The default, 0, is
	// [DefaultFailoverLimit], 3 times; negative is without limit, and 1,000 is the most. What goes on after it made room is not
	// counted.
	FailoverLimit int
	// MisfireMax is how many missed fires [MisfireAll] keeps, the newest. The default, 0, is
	// [DefaultMisfireMax], 100; negative keeps none, and 1,000 is the most.
	MisfireMax int
	// MisfireWindow is the age up to which a missed fire is made up, a second at least. The default, 0, sets no bound.
	//
	// If it is set, the fires that came while no instance lived at all are made up, too, for items that
	// have run before: an item that never ran may have been part of the job for any length of time. So may one
	// that the job got back after its total count was lowered, once what was recorded of it has been removed. A job that
	// does not record its executions has no items that have run before. What came while the job was disabled, or had
	// another cron, or recorded nothing, or made nothing up, is not made up by a process that followed the job then; one that
	// started later within the window knows nothing of that.
	MisfireWindow time.Duration
	// Timeout bounds one attempt of one item: then its context ends with the cause [ErrTimeout]. The
	// default, 0, sets no bound.
	Timeout time.Duration
	// Retries is how often an item that failed is tried again within the same execution, up to 1,000 times. The
	// default is 0.
	Retries int
	// RetryBackoff is the pause before the first retry, up to a minute. It doubles with each retry, up to a
	// minute, and varies by half. The default, 0, is [DefaultRetryBackoff], a second; negative is no
	// pause.
	RetryBackoff time.Duration
	// ClockPolicy says what happens to a fire on an instance whose clock is further off than
	// MaxTimeDiff. With the default, [ClockWarn], it runs, and the clock is reported; but an instance that is more than
	// 30 seconds off leaves the job to others. With [ClockRefuse], the fire is missed there, and the instance leaves the
	// job to others beyond MaxTimeDiff, until its clock is right again.
	ClockPolicy ClockPolicy
	// StartTime and EndTime bound the fires of Cron, both included; a run that began goes on beyond
	// EndTime. They do not bound runs by hand. The zero time, the default, sets no bound. A job that has been stored may be
	// declared when its EndTime is over, too; a new one not.
	StartTime, EndTime time.Time
	// Jitter spreads fires, so that jobs with the same cron do not begin in the same instant. Each fire
	// begins late by up to this much, which may be a day. The job's name and the time of the fire decide the
	// amount, so it is the same in every process, and one that starts meanwhile waits for it too. The fire keeps its
	// scheduled time. The default is 0. Jitter must not be longer than the time between two fires, which may be
	// shorter where the clock of TimeZone is changed: a fire that the next one overtakes counts as missed. A change goes for
	// a fire that has come and waits, too: if its new delay is over already, it begins at once, and is on time.
	Jitter time.Duration
	// Offset moves the fires of "@every <duration>" on by this much, so that jobs with the same period do
	// not fire in the same instant: "@every 1m" with an offset of 20 s fires at second 20 of each
	// minute. Only what remains after whole periods matters. The default is 0, and no other kind of
	// Cron may have it.
	Offset time.Duration
	// Props are settings by name for the kind of job and its error handler, such as "http.uri" or
	// "email.host", as ElasticJob 3.x names them. The default is none.
	//
	// Whoever can read the registry can read them. So a secret setting names the place of its value:
	// "env:SMTP_PASSWORD" stands for an environment variable and "file:/run/secrets/smtp" for a file of
	// the process that uses the setting. This process looks the value up, and nobody stores it; see
	// [PropsReader].
	//
	// A copy of a Config has the same map. Code that receives a Config must not change the map.
	Props map[string]string
	// MaxConcurrentItems is how many items of the job run at once in one process, up to [MaxShardingTotalCount]; the
	// others wait, in the order of their numbers. It takes precedence over ExecutorServiceHandler, and 0, the default,
	// leaves it to that. An item that waits has begun: it holds its mark, and its next fires count as
	// missed. So each item waits at most once, and no queue can overflow. An item that waits is given back when it moves, or
	// its instance stops, and its fire runs elsewhere; one that nobody would run then, as its misfire policy makes nothing up, or
	// nothing that is so old in ten seconds (MisfireWindow), or as it was asked for by hand, keeps its turn.
	MaxConcurrentItems int
	// Unknown holds stored fields that this version does not know, such as those of a newer one, as
	// the JSON members they were ("a":1,"b":"x"). They are written back as they came. Leave it
	// empty in a new configuration.
	Unknown string
}

// What a [Config] may hold.
const (
	// MaxShardingTotalCount bounds the sharding items of a job. Each item costs every instance memory.
	MaxShardingTotalCount = 100_000
	// ScriptClass is the class of every script job, for Java's sake.
	ScriptClass = "com.dangdang.ddframe.job.api.script.ScriptJob"
)

// Java is the part of a job's configuration that only instances of Elastic-Job-Lite 2.1.5 use. Go instances
// keep it as it is, and it has no effect on them. The zero value is what Java's builders set.
type Java struct {
	// MonitorPort is the TCP port on which a Java instance serves a dump of its tree. With the default, 0,
	// it serves none; with -1 it takes any free port. Go instances use package dump.
	MonitorPort int
	// Overwrite means that a Java application declared the job and replaces what is stored each time that
	// one of its instances starts. It is stored with what the application declared. For a job that Go
	// declares, scheduler.OnConflict says who wins, and is not stored.
	Overwrite bool
}
