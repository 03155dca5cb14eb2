// Package tally is what the results of a sharded job are written to, and what judges them: of every
// round it says whether each file was counted exactly once.
//
// # The rules
//
// A round is one fire of the job. It is settled when every item has a run that stands for it:
//
//   - the item's own run for that fire;
//   - or, when that run was lost with its process, the rerun of the same fire, which says failover;
//   - or, when the fire came while nobody could run the item, the item's next run. That run says
//     misfire, or it is the first one by whoever took the item over from a lost process, or it comes
//     from a process that ran no item at all for that fire, because it stood still.
//
// The runs that stand for a round must add up to the whole: the same files with the same contents,
// each once. These are faults, and a [Judge] keeps them for good:
//
//   - Missed: an item ran for a later fire, and no rule above excuses the one it left out.
//   - Doubled: an item ran twice for one fire, and the second run is no rerun of a lost one. A run
//     whose end the registry has recorded is not lost.
//   - Wrong: a run counted something else than its item's share.
//
// # Fencing
//
// A process may be killed, or lose its session, after it wrote its result and before the registry
// knew that it was done. Its item then runs again elsewhere. That is legitimate, and the [Store]
// makes it harmless: every execution carries a token that only grows, the store keeps what the
// highest token wrote and refuses a lower one. So a rerun replaces, and never adds.
//
// # What it does not do
//
// It does no I/O and starts nothing. Its types are for one goroutine at a time.
package tally
