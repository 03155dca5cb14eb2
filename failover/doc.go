// Package failover decides what happens to an execution when its instance is lost: whether it is run again,
// and who takes it over. It is for the packages of this module, which read states of jobs from the registry; the type of
// those is internal, so no other module can call it. Applications say with [job.Config.Failover] and FailoverLimit what it
// is to do.
//
//	if failover.Lost(state, item) {
//		txn, err := failover.Declare(state, item, now, limit)
//		// commit txn: it holds only while the execution is still lost
//	}
//
// An execution is lost if the registry still records it as running, but the mark that its session held is
// gone, and its instance is gone, too. [Declare] writes this into the item's record (T6): if failover was on for
// that run, the item then waits to be run again, else it is interrupted. [Claim] takes over a waiting item and
// begins it in the same transaction (T7). docs/protocol.md describes both transactions.
//
// In a job that records nothing any more, nobody could tell later that an item which waits has gone on: [GiveUp] ends that.
//
// All are pure functions from a job's state to a guarded transaction. They look at states, not at events. So it
// makes no difference whether one instance died or all did, whether others noticed it at once or hours later, and
// whether the same instance came back under a new session.
//
// The package does no I/O and knows no time but the time that the caller passes. The caller decides who declares
// and who claims; if several try, the guards let one win.
package failover
