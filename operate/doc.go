// Package operate is what an operator does to jobs and asks about them, from outside: it needs no instance, no
// session and no lease, only a registry. The command line stands on it, and a program of yours may.
//
// # Changing
//
// An [Operator] carries out operations: it disables and enables, triggers, changes settings, removes. Each is one
// guarded transaction of a job, with few exceptions, see below:
//
//	op, err := operate.New(reg, operate.By("anna", "cli"))
//	result, err := op.DisableItem(ctx, "invoices", 3, operate.Options{Reason: "bad table"})
//
// An operation reads the job once, decides, and commits under the condition that nothing it relied on has changed
// meanwhile; if something has, it reads and decides again. A [Refusal] says why an operation was not done and
// what to do instead; then nothing was written. With [Options.DryRun] nothing is written either, and the [Plan] in
// the result says what would happen. Give this plan back as [Options.Shown], and the operation is refused if it
// has become another one, with the difference.
//
//	runs        Trigger, Backfill, GiveUp
//	switches    DisableJob, EnableJob, DisableItem, EnableItem, DisableServer, EnableServer, and of servers Everywhere
//	settings    Create, CreateText, CreateMarked, ChangeSettings, RollBack, Remove
//	files       TakeFiles and LeaveFiles, for settings that files own: see package operate/jobfile; GiveUpFiles ends that
//	instances   ShutDown, ShutDownEverywhere, Reshard, TidyServers
//	many jobs   Match, and the function Each
//
// Some operations are more than one transaction. Remove disables the job, waits until nothing of it runs, also without
// [Options.Wait], and deletes its tree: in parts, if that is too large for one transaction. Backfill triggers once for
// each fire, and Trigger asks a hundred Java instances at a time. One that stopped halfway goes on if it is asked for
// again, with its id.
//
// With [Options.Wait] an operation returns when the job has followed: when the items of a disabled server have
// moved, or a triggered run is over. If the context ends before, the error is an [UnconfirmedError]: the
// operation is done, and what it is for has not been seen yet.
//
// # Asking
//
// A [Namespace] is what a registry had, judged as of one time: [ReadNamespace] reads all jobs, [ReadJob] one. It answers from
// memory, and stays as it is:
//
//	ns, err := operate.ReadNamespace(ctx, reg, time.Now())
//	for _, row := range ns.Jobs() {
//		fmt.Println(row.Job, row.Status, row.Reasons)
//	}
//
//	as lists   Jobs, Items, Executions, Operations, Instances, Servers; NewestExecutions and NewestOperations of all jobs
//	one job    Job, ExecutionsOf, Settings; State has all that its nodes say
//	in time    NextFires, Fires, ChangesAt
//
// A [Status] is one word for how something is, and each [ReasonWord] one for why; WordsOfJobs and its like list those that
// there may be. Settings, and those in operations, come without secrets, unless the name of the method says that it has them.
//
// A program that watches does not read anew: a [Following] makes a Namespace of each state that a view shows, and judges again
// only the jobs that have changed.
//
// An [Operator] answers what its own work needs: Operations of a job, Match for names, Fires for a backfill.
//
// # What was done
//
// Every operation is written down in the same transaction, in the job's node "operated": who, when, how, why,
// and what the settings were before. [Operator.Operations] reads it back. The node holds the last 16 operations,
// at most 16 KiB, where those of one file that is applied count as one; a log that is to last is up to the logger of
// [WithLogger], which gets every operation.
//
// The id of an operation makes it idempotent: an operation whose id ([Options.ID]) is found there was done
// already, and is not done twice. So after an answer that was lost, ask again soon, before sixteen others have been
// done to the job, with the id of the result.
//
// [Outside] finds what was changed by other means.
//
// # Beside Java
//
// On ZooKeeper Java instances of Elastic-Job-Lite may share the jobs. They know servers, items and the values of their
// own nodes only, so a job is disabled there by disabling its servers, and a trigger is for the whole job. Jobs of
// ElasticJob 3.x are read and written in its words, such as YAML for settings; what it does not know is refused.
//
// # What it does not do
//
// It does not ask who may do what: whoever has the registry's credentials has everything. It runs no job, and
// does not wait for others to do so unless you ask for that.
package operate
