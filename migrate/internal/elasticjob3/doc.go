// Package elasticjob3 reads the configuration of a job as ElasticJob 3.x keeps it: YAML in the config
// node, and the class or the type of the job in its root node.
//
// It reads what Java reads, with Java's defaults for members that are missing, which are not those of
// a new job: misfire, monitorExecution and failover are off, and nothing is reconciled. A job without a cron is one that
// runs when it is triggered. What has no
// counterpart here is not lost: it is kept as one unknown member of the configuration, named
// [Member], and listed in [Job.Kept].
package elasticjob3
