// Package resharding turns what a leader sees of a job into what it should commit: a [Plan] that gives items to
// other instances, and transactions that clear up what nobody needs any more ([Tidy], [GarbageOf]).
//
//	plan, err := resharding.PlanOf(state, strategy, term)
//	// commit plan.Parts in any order, then plan.Txn
//
// Everything here is a pure function from a job's state to guarded transactions. A transaction holds only while
// the leader's term lasts and what it was made from has not changed, so a leader that is slow or deposed changes
// nothing. docs/protocol.md describes the resharding as T3.
package resharding
