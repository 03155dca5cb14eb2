// Package job is what users of Elasticron write and configure: the description of a job, the code
// that runs its sharding items, and what that code is told about each run.
//
// # What it guarantees
//
//   - A [Config] is a plain value. It can be copied, compared with == and stored; nothing in this
//     package keeps or changes the one it is given.
//   - [Config.Validate] reports every fault of a configuration at once, and each [FieldError] names
//     the field, its value and what is allowed.
//   - Nothing depends on the host: a job's cron expression is read in the time zone that its
//     configuration names, UTC if it names none.
//
// # How to use it
//
// Describe the job with a literal of [Config], in which a field that is left out has its default, and
// give it, together with a [Handler], to a scheduler. Every process that takes part declares the same job.
//
//	cfg := job.Config{
//		Name:                   "orders",
//		Cron:                   "0 0/5 * * * ?",
//		ShardingTotalCount:     3,
//		ShardingItemParameters: "0=Berlin,1=Oslo,2=Rome",
//		Failover:               true,
//		TimeZone:               "Europe/Berlin",
//	}
//
// # What it does not do
//
// It runs nothing and knows nothing of the registry. How a configuration is stored is package
// jobtree's business, when it fires is package cronexpr's, and running it the scheduler's.
package job
