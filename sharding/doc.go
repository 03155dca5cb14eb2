// Package sharding decides which instance runs which sharding item of a job.
//
// A job is divided into sharding items 0..total-1. Its leader spreads them over the live instances with
// a [Strategy]. A strategy is a pure function: the same [Request] gives the same [Assignment], whoever
// asks and in whatever order the instances are listed. So the leadership can move between processes, and
// between this library and Elastic-Job's Java one, and no item moves.
//
// # How to use it
//
// Look a strategy up by the name that the job is configured with, and run it:
//
//	strategies := sharding.Default()
//	strategy, err := strategies.Lookup(name)
//	assignment, err := sharding.Run(strategy, sharding.Request{
//		Job: "orders", Instances: live, Total: 10, Current: committed,
//	})
//
// [Default] knows each built-in strategy under three names: a short name of ours, the class name that Java
// 2.x stores, and the type name that Java 3.x stores. A strategy of your own is a [StrategyFunc]
// or a type. Register it in every process that may lead the job:
//
//	err := strategies.Register("by-zone", sharding.StrategyFunc(byZone))
//
// # What it guarantees
//
//   - The built-in strategies give every item to exactly one of the instances, and the numbers of
//     items that two instances get differ by at most one.
//   - [AverageAllocation], [OdevityByName] and [RotateByName] assign exactly as Elastic-Job-Lite
//     does for the same names. For the rare job name whose hash is -2³¹, the rotation of Elastic-Job-Lite
//     throws, and ours rotates by the positive remainder.
//   - [MinimalMovement] keeps as many items as possible where they are.
//   - [Run] never returns a broken assignment. If a strategy forgets an item, names an unknown
//     instance or panics, Run returns an error that says so.
//
// # What it does not do
//
// It does no I/O and knows no registry: the caller says who is live, and the scheduler commits the
// assignment. It does not know which instances are disabled, so leave these out.
package sharding
