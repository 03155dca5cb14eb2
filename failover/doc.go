// Package failover decides what becomes of executions whose instance was lost.
//
// An execution is lost when the registry still records it as running, but the mark that its session
// held is gone, and its instance with it. [Declare] says so in the item's record (T6): the item
// waits to be run again if failover was on for that run, else it is interrupted. [Claim] takes a
// waiting item over and begins it in the same transaction (T7).
//
// Both are pure functions from a job's state to a guarded transaction, and look at states, not at
// events: whether one instance died or all did, whether it was noticed at once or hours later, and
// whether the same instance came back under a new session makes no difference.
//
// The package does no I/O and knows no time but what it is told. Who declares and who claims is up
// to the caller; of several that try the guards let one win.
package failover
