// Package scheduler runs sharded cron jobs on many processes that coordinate through a registry.
//
// Every process declares the same jobs. A job is cut into sharding items 0..n-1. One of the job's
// instances is its leader and spreads the items over all live ones; every instance has its own cron
// clock and runs, at each fire, the items that are assigned to it. A process that dies is noticed
// when its session ends: its items move to others, and what it was running when it died is run
// again if the job asks for failover.
//
// # How to use it
//
//	reg, err := etcd.Open(ctx, etcd.Config{Endpoints: endpoints, Namespace: "shop"})
//	s, err := scheduler.New(reg)
//	_, err = s.Add(ctx, job.Config{
//		Name: "orders", Cron: "0/5 * * * * ?", ShardingTotalCount: 4,
//	}, job.HandlerFunc(index))
//	err = s.Run(ctx) // until ctx ends
//
// Jobs may also be data: with [WithHandler], a process takes part in all jobs of the registry whose class
// it has code for, as they come, change and go.
//
// # What it guarantees
//
//   - At no time do two live sessions hold the mark of one running item, and every execution carries
//     a fencing token, [job.ShardingContext.Token], that only grows for its item.
//   - The cluster executes a scheduled fire of an item at most once. [job.ShardingContext.Source] says if an
//     execution repeats a lost one, makes up missed fires, or was asked for by hand.
//   - A change of members, settings or leader moves items on the event. Nobody waits for a tick, and
//     a long run neither delays its neighbours nor its own item's move.
//   - When the session is lost, the contexts of its running items are cancelled with the cause
//     [registry.ErrSessionLost], before others may take over. After the registry is back the
//     scheduler registers anew and goes on, however often it happens. With the same cause an instance that has left
//     cancels what still runs there, as soon as it hears that others have declared that lost: somebody deleted its mark.
//   - When Run's context ends, items are handed over at once, running ones get the stop timeout to
//     finish, and no goroutine is left when Run returns.
//
// # When code is called
//
// An execution begins with a transaction, and code is called when that is confirmed and its fire has come. An item that has
// nothing to wait for but its fire begins ahead of it, by as long as begins took lately, so that both are at the same time; see
// [WithHeadStart].
//
// # When a fire cannot run on time
//
// A fire is identified by its scheduled time. One that cannot begin within five seconds of it is
// missed: because its item is still running, its instance was lost, or nobody was there. The job's
// Misfire settings say what happens then.
//
//	what happens                             what happens to its fires
//	a run lasts beyond the next fires        made up right after it: one run for all, with the newest
//	                                         time (MisfireOnce); one for each, in order (MisfireAll);
//	                                         or none (MisfireSkip)
//	the instance dies while it runs an item  with Failover, that run is repeated by the item's next
//	                                         owner; later fires are missed ones
//	the instance dies, the item idle         fires until the item has a new owner are missed ones
//	the instance dies, or loses its session, as if that had been while it ran the item: without Failover
//	right before a fire for which the item   the fire is lost; see WithHeadStart
//	has begun
//	the item moves to another instance       what it missed goes with it, also what it misses while its
//	                                         run goes on where it was
//	the instance stops, or its server is     the same, if another instance lives: an instance that stops
//	disabled                                 knows of no more fires
//	the item is disabled                     fires that come meanwhile are none; what it had missed before
//	                                         is made up when it is enabled
//	all servers of the job are disabled,     fires that come meanwhile are none
//	or its configuration cannot be used
//	more is due than the registry takes      what cannot begin in time is not sent to the registry at
//	                                         all, and is missed; see below
//	the registry confirms a begin only when  it runs as a missed fire; if missed ones are not made up,
//	more than five seconds have passed       the begin is taken back before any code has run
//	nobody lives, or all that live stop      not made up, unless MisfireWindow reaches back, and
//	                                         then from the item's first recorded run on
//	the session is lost, the process lives   as if the instance had died, but what it finishes all the
//	                                         same has finished: its end is recorded when the registry
//	                                         is back, unless others have taken over by then
//	the process stands still or the machine  the fires meanwhile come as one: missed, if it is more
//	sleeps                                   than five seconds late
//	the clock is set ahead                   the same; by more than 30 s against the registry's clock,
//	                                         and nothing runs by it until it is corrected: other
//	                                         instances get the items at once, and keep them until the
//	                                         clock has been right for a minute. The only instance
//	                                         runs each fire when it comes by the registry's clock;
//	                                         not with MisfireSkip, a delay or a short MisfireWindow
//	one process alone cannot use the         others get its items at once, also if it leads, and make up
//	configuration                            what they missed; while nobody can use it, nothing is made up
//	the clock is set back                    what ran for a fire does not run for it again; a last
//	                                         fire more than 30 s ahead of the registry's clock was
//	                                         written by a broken clock and is ignored
//	summer time begins or ends               fires are instants, so nothing is missed or doubled;
//	                                         package cronexpr says which instants
//	somebody triggers the job                never a missed fire, and hides none
//	cron, zone, DaylightSaving, StartTime,   what was missed under the old ones is forgotten
//	EndTime or Offset are changed
//	Jitter is changed                        nothing is forgotten: a fire that came and waits goes by the new one, and
//	                                         begins at once if that is over, as a missed one if for over five seconds
//
// No other fire of an enabled item is lost. Every process ticks every fire of a job. A fire is made up if
// a process that ticked it owns the item, or noted the fire in the item's node before it died. MisfireMax and
// MisfireWindow bound what is kept.
//
// A job with a fixed delay ("@delay 10s") has no such table: each item is due so long after its last
// execution ended, whoever ran it and why, as the item's record tells; it is never too
// late and misses nothing. A job that is "@triggered" runs when [Job.Trigger] or an operator
// asks for it.
//
// # When more is due than can begin
//
// A process begins items as fast as the registry confirms that they began, and no faster. While more are due, the jobs take
// turns, a few items each, so that a large job does not starve a small one; the items of a job do so from fire to fire, so that
// it is not always the same ones for which it is too late; fires that are late already wait until no other does, but for one
// begin of four; and ends, members, leaders and assignments, but for those of very many items, go before all begins. A fire
// that cannot begin in time is dropped before anything is sent. Items that wait are not even looked at when they fire again:
// what they missed meanwhile is found out when their turn comes, so what runs does not fall when more is asked for. Runs by
// hand, reruns of lost executions and jobs with a fixed delay wait as long as it takes. What waits in the registry when the
// job's settings change is refused, and decided again; if changes come as fast as rounds are confirmed, fewer items begin
// together. [LoadEvent], [Health.Load] and a line in the log, once a minute at most, tell how much is wanted, how much
// begins, and how much goes by.
//
// # Three ways to go
//
//	the context of Run ends   hands over at once, lets items, listeners and error handlers finish
//	                          within the stop timeout: one deadline for all of them
//	[Scheduler.StopNow]       hands over at once, cancels running items
//	[Scheduler.Vanish]        tells the registry nothing, like SIGKILL
//
// A registry that does not answer until a stop is over still shows what the process held. The session is
// then given up, so that this goes within its TTL, though the registry handle stays open. Several schedulers over one
// handle share its session: what runs of the others is then cancelled, as when a session is lost. Close the handle
// when nothing else needs it: a registration whose answer was lost may be carried out once more after
// Run has returned, and would stay for as long as the session lasts.
//
// # What it does not do
//
// Code that ignores its context may go on after its session is lost or its stop timeout is over, and
// then overlap with its own rerun elsewhere: pass the token to the store that it writes to, and have
// the store refuse lower ones. An unmonitored job writes no marks at all: its token is
// 0, and the guarantees on single execution and failover do not cover it.
//
// # How it decides
//
// One runner per job keeps a copy of the job's tree that follows the registry. It decides from that
// copy alone and makes the decision real with one guarded transaction, so a round costs two requests
// and no read, for up to a hundred items that begin and end together. A refused transaction means that
// the copy was old: the runner waits for the state that it conflicted with, and decides again. An idle
// job has no goroutine and causes no traffic.
package scheduler
