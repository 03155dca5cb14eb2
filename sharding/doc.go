// Package sharding decides which instance runs which sharding item of a job.
//
// A job is cut into sharding items 0..total-1. Its leader spreads them over the live instances with
// a [Strategy], a pure function: the same [Request] gives the same [Assignment], whoever asks and in
// whatever order the instances are listed. So leadership can move between processes, and between
// this library and Elastic-Job's Java one, without moving an item.
//
// # What it guarantees
//
//   - The built-in strategies give every item to exactly one of the instances, and the numbers of
//     items that two instances get differ by at most one.
//   - [AverageAllocation], [OdevityByName] and [RotateByName] assign exactly as Elastic-Job-Lite
//     does for the same names. Where its rotation throws, for the rare job name whose hash is -2³¹,
//     ours rotates by the positive remainder.
//   - [MinimalMovement] keeps as many items as possible where they are.
//   - [Run] never hands on a broken assignment. A strategy that forgets an item, names an unknown
//     instance or panics becomes an error that says so.
//
// # How to use it
//
// Look a strategy up by the name that the job is configured with, and run it:
//
//	strategy, err := strategies.Lookup(name)
//	assignment, err := sharding.Run(strategy, sharding.Request{
//		Job: "orders", Instances: live, Total: 10, Current: committed,
//	})
//
// [Default] has the built-in strategies under a short name of ours, under the class name that Java
// 2.x stores and under the type name that Java 3.x stores. A strategy of your own is a [StrategyFunc]
// or a type; register it in every process that may lead the job:
//
//	strategies := sharding.Default()
//	err := strategies.Register("by-zone", sharding.StrategyFunc(byZone))
//
// # What it does not do
//
// It does no I/O and knows no registry: who is live is told to it, and committing what it decides is
// the scheduler's part. It does not know which instances are disabled; leave them out.
package sharding
