// Package overload measures a cluster that is asked for more than it can do: how many executions run
// a second when half, all, twice, five and ten times its capacity is wanted.
//
//	make bench PKG=./integration/overload
//	go test ./integration/overload -run '^$' -bench 'Overload/processes=3' -v
//
// What a cluster runs should never become less because more is asked of it: the benchmark gives the least
// that ran at or beyond capacity as a share of the most that ran when less was wanted ("worst-to-best").
// Package scheduler demands nine tenths in virtual time, where capacity is exact. BenchmarkOverload wants more by more
// jobs, so a part of what a cluster loses at ten times its capacity is what ten times as many nodes cost etcd;
// BenchmarkOverloadOften tells that apart, by asking the same jobs more often. BenchmarkCapacityOfStores finds the capacity
// over ZooKeeper beside that over etcd. What a fire costs that is dropped,
// BenchmarkDroppedFires of package scheduler tells, without a store.
//
// Beside each rate the log says what an execution took of the processors. If that does not grow while less runs, the cluster
// waited for something else.
//
// The store is a process of its own, one member of etcd or three, which sync their logs to disk. So is
// every scheduler. All of them share the machine: its processors are what limits a store on a fast disk.
// A slow store is one that is reached through a network that takes 75 ms each way.
//
// Jobs have ten items each and fire each second, so what is wanted comes all at once. Capacity is
// found first, by asking for twice as much until less than nine tenths of it runs. Three processes and
// the store take two processors from each other, so a machine with more says more about them; -short
// leaves them out. It has a benchmark only: a test would take the processors from those that run beside it.
package overload
