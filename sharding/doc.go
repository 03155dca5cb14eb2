// Package sharding decides which instance runs which sharding item of a job.
//
// A job chooses a [Strategy] by its name. The built-in ones need no set-up:
//
//	cfg := job.Config{Name: "orders", Cron: "@hourly", ShardingTotalCount: 10, ShardingStrategy: sharding.NameMinimal}
//
// A strategy of your own is a function. Register it in every process that may lead the job:
//
//	strategies := sharding.Default()
//	err := strategies.Register("by-zone", sharding.StrategyFunc(byZone))
//	s, err := scheduler.New(registry, scheduler.WithStrategies(strategies))
//
// A job has the sharding items 0..total-1. Its leader spreads them over the live instances with the strategy. A
// strategy is a pure function: the same [Request] gives the same [Assignment], whoever asks and in whatever order
// the instances are listed. So no item moves when the leadership moves between processes, or between this library
// and Elastic-Job in Java.
//
// # The built-in strategies
//
//	name                                 what it does
//	[NameAverage], the default           neighbouring items for each instance; see [AverageAllocation]
//	[NameOdevity]                        the same, from the other end for half of the jobs; see [OdevityByName]
//	[NameRotate]                         the same, from an instance that the job's name decides; see [RotateByName]
//	[NameMinimal]                        moves as few items as possible; see [MinimalMovement]
//
// [Default] knows the first three also under the class names that Java 2.x stores, and under the type names that
// Java 3.x stores. To try a strategy, run it with [Run]:
//
//	assignment, err := sharding.Run(strategy, sharding.Request{
//		Job: "orders", Instances: live, Total: 10, Current: committed,
//	})
//
// # What it guarantees
//
//   - The built-in strategies give every item to exactly one of the instances, and the numbers of
//     items that two instances get differ by at most one.
//   - [AverageAllocation], [OdevityByName] and [RotateByName] assign exactly as Elastic-Job-Lite
//     does for the same names, with one exception. For the rare job name whose hash is -2³¹, the rotation of
//     Elastic-Job-Lite throws, and ours rotates by the positive remainder.
//   - [MinimalMovement] keeps as many items as possible where they are.
//   - [Run] never returns a broken assignment. If a strategy forgets an item, names an unknown
//     instance or panics, Run returns an error that says so.
//
// # What it does not do
//
// The package does no I/O and knows no registry: the caller says which instances are live, and the scheduler commits
// the assignment. It does not know which instances are disabled, so leave these out.
package sharding
