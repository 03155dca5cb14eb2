// Package script runs commands as jobs: the type SCRIPT of Elastic-Job.
//
//	_, err := s.Add(ctx, job.Config{
//		Name: "report", Cron: "0 0 6 * * ?", ShardingTotalCount: 2,
//		Type: job.TypeScript, ScriptCommandLine: "/opt/report.sh --mode 'by region'",
//	}, script.Job{})
//
// [Words] splits the command line into words as a shell does, by space, quotes and backslashes. The job then runs it
// without a shell: nothing is expanded, and | ; & < > ( ) $ and backticks are characters like any other. If you
// need a shell, run it: sh -c '...'.
//
// # What a script gets
//
// The sharding context as JSON, the very text that Java passes on, is the last argument and the
// variable ELASTICRON_CONTEXT. Its parts are variables of their own:
//
//	ELASTICRON_JOB             name of the job
//	ELASTICRON_TASK_ID         what runs together; shortened if it is above 4 KiB, as in the JSON
//	ELASTICRON_ITEM            sharding item, from 0
//	ELASTICRON_ITEM_PARAMETER  the item's parameter; may be empty
//	ELASTICRON_TOTAL_COUNT     number of items
//	ELASTICRON_JOB_PARAMETER   parameter of the job; may be empty
//	ELASTICRON_FIRE            scheduled time, RFC 3339 in UTC; empty for a run by hand
//	ELASTICRON_SOURCE          scheduled, misfire, failover or manual
//	ELASTICRON_TOKEN           fencing token
//	ELASTICRON_TRIGGER_PARAMETER  what came with a request by hand; may be empty
//	ELASTICRON_OFFSET          the item's checkpoint; may be empty
//
// A text with a zero character, such as a parameter, cannot be a variable: then the run fails and says which one.
//
// Its standard input is empty. The other variables and, unless [Job.Dir] is set, the directory are
// those of this process.
//
// # How it ends
//
//	what happens                        outcome
//	it exits with 0                     success
//	it exits with another code, or by   [Error] with the code and the tail of its output
//	a signal
//	it does not exist, may not be       [Error] with code -1; errors.Is sees fs.ErrNotExist,
//	executed                            exec.ErrNotFound or fs.ErrPermission
//	its time is over                    SIGTERM to its process group, after [Job.Grace] SIGKILL to what is
//	                                    left of it; [Error] that is the cause
//	its session is lost                 the same, but SIGKILL before others may run its item: an eighth of
//	                                    the session's TTL later, or at once if they may by now
//	the scheduler's stop timeout is     the same, but SIGKILL within a second, as the process may end then,
//	over                                also for what was told to end before
//	it ignores SIGTERM                  the same, after the grace
//	it floods its output                memory stays bounded: only the tail is kept
//	it leaves processes that hold its   they have the grace to end, then they are killed; the outcome is
//	output                              the script's
//
// Process groups are those of Unix. Elsewhere the process itself is killed at once. A process that
// makes itself a session of its own leaves the group and is not killed.
package script
