// Package job is what an application writes for Elasticron: the description of a job, the code that runs its
// sharding items, and what that code learns about each run.
//
// Describe a job with a literal of [Config], in which a field that is left out has its default. Write its code
// as a function. Give both to a scheduler, in every process that is to take part:
//
//	cfg := job.Config{
//		Name: "orders", Cron: "0 0/5 * * * ?", TimeZone: "Europe/Berlin",
//		ShardingTotalCount: 3, ShardingItemParameters: "0=Berlin,1=Oslo,2=Rome",
//		Failover: true,
//	}
//	_, err := s.Add(ctx, cfg, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
//		return index(ctx, sc.ItemParameter) // for each item once in five minutes, on one of the processes
//	}))
//
// # Code
//
// A [Handler] is the code of a job. There are four kinds:
//
//   - [HandlerFunc], a function that runs one item;
//   - [Dataflow], which fetches and processes until nothing is left;
//   - a command line (package script) or an HTTP call (package httpjob);
//   - a type of your own with a method Configure, if the code needs the job's configuration.
//
// The context of an item ends when the item may no longer run: its session is lost, its time is over, the
// scheduler stops. Code that heeds this never runs beside the code that takes over. An error is recorded and
// goes to the [ErrorHandler]; a panic is a [PanicError].
//
// Code that runs for long keeps a checkpoint with [SetOffset] or [SaveOffset], and asks [Yield] when to make room: it returns
// [ErrYielded] then, and with [Config.Failover] the rest of its work runs elsewhere. [WithProgress] lets you test such code
// without a scheduler. Package clustertest runs whole clusters in a test.
//
// # Configuration
//
// The registry stores the configuration, and every process follows what is stored. [Config.Validate] reports
// every fault at once; each is a [FieldError] with the field, its value and what is allowed. A configuration
// means the same on every host: a process reads the cron expression in the time zone that the configuration
// names, which is UTC if it names none. [Config.Props] holds settings of the kind of job and of the error
// handler; secrets stay outside of it, see [PropsReader].
//
// # Hooks
//
// A [Listener] hears when items begin and end on its own instance. A [WholeRoundListener] has hooks that run once for
// a round over all instances. Both, like error handlers, are bounded in time and never keep a round from ending.
//
// # What it does not do
//
// The package runs nothing and knows nothing of the registry. Package cronexpr tells when a job fires, and package
// scheduler runs it.
package job
