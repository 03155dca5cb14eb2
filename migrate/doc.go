// Package migrate copies the jobs of a namespace from one registry to another: from the ZooKeeper of a
// Java cluster to etcd, or between any two backends.
//
// # What it copies
//
// What people decided: the configuration, the items that an operator disabled, and what was said of
// servers. It reads the trees of Elastic-Job-Lite 2.1 (and so ours) and of ElasticJob 3.x. What
// instances keep of their work stays behind: owners, executions, records, missed fires, wishes for a
// failover. [Job.Notes] says where something of that kind is given up.
//
// # What it guarantees
//
//   - The source is never changed: all that is asked of it is a [registry.Reader].
//   - Nothing is written unless [Options.Apply] asks for it, and then under the condition that the
//     target is as it was compared. Who changes it meanwhile wins, and the job is [Failed].
//   - It can be repeated. A job that is the same already is [Unchanged], and one that was changed in
//     the target [Differs] and is left alone, unless [Options.Overwrite] makes it as the source has it.
//   - A job becomes visible in the target with all that is said of it at once.
//   - Fencing tokens never go back: each job's tokens start above the highest that the source can have
//     granted. See jobtree.Tokens.
//
// # What it does not do
//
// It stops nobody. Of a job with instances or executions in the source it does nothing, unless
// [Options.EvenIfRunning] says that both may run for a while: they do not see each other, and would
// both run every fire. It does not read trees of Elastic-Job 1.x and 2.0.
package migrate
