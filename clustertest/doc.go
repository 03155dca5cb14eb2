// Package clustertest runs whole clusters in a test: several schedulers over one registry, in virtual
// time, so that an hour of schedule takes some ten milliseconds. A test advances the clock, crashes, freezes and cuts
// off instances, and says what must have run. No server is needed, and nothing of a test outlives it.
//
//	func TestInvoicesSurviveACrash(t *testing.T) {
//		clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
//			c.Job(job.Config{
//				Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4, // every five minutes, four items
//				Failover: true,
//			}, invoices)
//			c.StartN(3)
//			c.Advance(time.Hour + time.Second) // in the middle of an execution
//			c.Owner("invoices", 0).Crash()
//			c.Advance(time.Hour)
//			c.EveryFireRanOnce("invoices")
//		})
//	}
//
// # A cluster
//
// [Run] makes a cluster without instances and calls the test function. [Cluster.Job] declares a job and its
// code; [Cluster.Setup] is for those who have a function that declares theirs, and [Cluster.NewWith] for
// those who make their schedulers themselves. [Cluster.Start] starts an [Instance], which stands for one
// process of yours: a scheduler on a registry handle, and so a session, of its own. What it runs is the code
// that production runs, over [memory.Server] instead of etcd.
//
// # Time
//
// A test function runs in a bubble of package testing/synctest. Time begins at midnight, 2000-01-01 UTC,
// for everything that is called in it, and passes only when everybody waits for it: [Cluster.Advance] lets
// it pass. When Advance returns, all that the time brought about has been done. [At] gives the times
// of such a day; [Cluster.AdvanceTo] goes to another, as to the last Sunday of March.
//
// Code that is tested so must wait only for time, channels, and what else synctest knows, and not for
// sockets, files or other processes: give it fakes. A fake that should take time calls [Sleep]. A goroutine
// that waits for ever ends the test with synctest's report of a deadlock.
//
// # What can be done to it
//
//	an instance   Stop           leaves, as a process on SIGTERM: what runs is finished
//	              Crash          dies, as on SIGKILL: its session ends five seconds later
//	              Restart        starts again, after a stop that it makes first, or a crash
//	              Freeze, Thaw   stands still, as on SIGSTOP or in a long pause of its machine
//	              CutOff, Heal   runs, and reaches the registry no more
//	              Slow           reaches it late
//	              SetClock       has a clock that is wrong
//	              Disable,       its server is taken out of a job by an operator
//	              Enable
//	a job         Trigger        runs now, whatever its cron says
//	              DisableItem,   one item is taken out by an operator
//	              EnableItem
//	              Update         its stored settings are changed
//	the registry  Store          the server itself, to stop, fill or slow down
//
// An operator's deeds are those of docs/operating.md. [Instance.Handle] and [Cluster.Operator] lead to the
// rest of what package memory can break.
//
// # What can be said of it
//
//	EveryFireRanOnce   each item ran to its end once for each fire
//	NoFireRanTwice     no item did twice for one fire
//	MissedExactly      these fires went by without, and no others
//	RanOn              this item of this fire ran there, and nowhere else
//	NothingFailed      no execution returned an error
//
// An assertion that does not hold fails the test and prints why, and then the story: a table of what ran
// where and when, with what was done to the cluster in between.
//
//	not every fire of "invoices" ran once:
//	  item 1, fire 00:10:00: did not run, it crashed on b
//
//	what happened, and ran of "invoices", in UTC, until 00:10:11:
//	began     item  fire      source     on  took  outcome
//	00:00:00  a starts
//	00:00:00  b starts
//	00:05:00  0     00:05:00  scheduled  a   30s   ok
//	00:05:00  1     00:05:00  scheduled  b   30s   ok
//	00:10:00  0     00:10:00  scheduled  a   11s   running
//	00:10:00  1     00:10:00  scheduled  b   1s    crashed
//	00:10:01  b crashes
//
// [Cluster.Executions] and [Cluster.MissedFires] are for assertions of your own, [Cluster.Owner] and
// [Cluster.Leader] tell how things stand, and [Cluster.Story] is the table.
//
// # What it does not do
//
// It does not stop code: Go cannot. The context of an item's code ends when its instance crashes, as it does
// when its session is lost, and code that goes on regardless goes on. Only [Sleep] stands still in an
// instance that does. Messages take no time unless [Instance.Slow] says so, and what several
// goroutines do in one instant comes in any order; the package does not look for rare interleavings, which
// is what this module's own simulation is for. It says nothing about etcd: keep one test against the real
// one (package registry/etcd/embedded).
package clustertest
