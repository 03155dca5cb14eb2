// Package barrier holds the rules by which one hook runs once for a whole round, though its items run
// on many instances (T8).
//
// A job can have a barrier before the code of a round's items runs, and one after: all started, all
// completed. An item arrives by its record, which its begin and its end write anyway, so arriving
// costs nothing and cannot contradict what the item did. The barrier's own node says which items are
// awaited, and then who runs the hook.
//
//	opened    by the first instance that begins an item of the round, together with that begin. The
//	          awaited items are those that can begin, and are fixed from then on: later ones do not
//	          count, and one that is disabled or surplus before it begins is not waited for
//	taken     by the instance of the last item to arrive, or by any if that one is gone, or leaves
//	          it for too long. The transaction rests on the barrier being as it was read, so one of
//	          all gets it
//	settled   with the outcome, by the instance that took it: guarded by its mark, which lives as
//	          long as its session
//	lost      the mark went with its session before that; recorded by anybody. The hook may have run,
//	          in part or whole, so it is not run again
//	timed out not taken within the deadline; no hook runs then
//	replaced  not taken when the next round opened a barrier; no hook runs then
//
// The functions look at a [jobtree.State] and return the transaction to be committed. They do no I/O
// and know no clock.
package barrier
