// Package migrate copies the jobs of a namespace from one registry to another: from the ZooKeeper of a
// Java cluster to etcd, or between any two backends.
//
//	report, err := migrate.Run(ctx, source, target, migrate.Options{Apply: true, TimeZone: "Europe/Berlin"})
//	for _, j := range report.Jobs {
//		fmt.Println(j.Name, j.Action, j.Notes)
//	}
//
// # What it copies
//
// It copies what people decided: the configuration, the items that an operator disabled, and the state of servers that an
// operator set; and the checkpoints of a job that the target does not have. [Move] and [Return] have each side go on from
// the checkpoints of the one that ran last. It reads the trees of Elastic-Job-Lite 2.1 (and so ours) and of ElasticJob 3.x.
// It leaves behind what instances wrote about their work: owners, executions, records, missed fires. If it gives up
// something of this kind, [Job.Notes] says so.
//
// # What it guarantees
//
//   - It never changes the source: a [registry.Reader] is enough.
//   - It writes nothing unless [Options.Apply] asks for it, and then only if the target is still as it was
//     when it was compared. If somebody has changed the target meanwhile, their change stays, and the job is
//     [Failed].
//   - You can repeat it. If a job is the same already, it is [Unchanged]. If somebody changed the job in the
//     target, it [Differs], and is left alone unless [Options.Overwrite] replaces it with the source's.
//   - If it changes a job that the target has, it records that there as operators' changes are recorded, with who
//     did it.
//   - A job becomes visible in the target at once, with everything that is copied of it.
//   - Fencing tokens never go back: each job's tokens start above the highest that the source can have
//     granted.
//
// # Executions that were lost
//
// If failover is on, the source would run lost executions again. A target that gets the job runs them again
// instead. A target that has the job already does not: nobody could tell whether it did so before.
//
// # A job whose instances live
//
// [Move] moves a job from a cluster that runs it, without a moment in which both sides do. [Return] takes it
// back, until [Confirm] ends the move. Each can be repeated by anybody after whoever called it has died.
//
// A job that a move between registries of a federation has stopped is refused, by [Run], too, until that move is over.
//
// # What Run does not do
//
// It stops no instances. If a job has instances or executions in the source, it does not copy the job, because
// the instances of source and target do not see each other, and would both run every fire.
// [Options.EvenIfRunning] says that both may run for a while. It does not read trees of Elastic-Job 1.x and 2.0.
package migrate
