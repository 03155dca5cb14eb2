// Package bench measures what the design promises: what a round costs over the store, how long
// items are without an owner, and what ten thousand jobs take of one process. It has benchmarks only.
//
//	make bench PKG=./integration/bench
//	make bench PKG=./integration/bench BENCH=Failover BENCHTIME=10x
//	go test ./integration/bench -run '^$' -bench Idle -large
//
// The store is an etcd server in the same process, set up as in production: it syncs its log to disk,
// and ticks by etcd's defaults. BenchmarkStores has an etcd and a ZooKeeper in processes of their own. A server competes
// with the schedulers for the processors, so absolute figures are worse than those of one elsewhere, and say little
// about another machine. What can be compared is compared within one run: a round with a plain transaction, a burst
// with the same burst sent one by one, ZooKeeper with etcd.
//
// Units: ms is milliseconds, the median where nothing else is said; an x is a multiple of what stands
// beside it. One operation is a whole scenario, so the figures are the same for any BENCHTIME, only
// steadier for a longer one. Package benchtable makes a table of the output.
package bench
