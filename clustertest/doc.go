// Package clustertest runs whole clusters in a test: several schedulers over one registry, in virtual
// time, so that an hour of schedule takes some ten milliseconds. A test advances the clock, crashes, freezes and
// cuts off instances, and says what must have run. It needs no server, and leaves nothing behind.
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
// The examples below are tests of one fault each.
//
// # A cluster
//
// [Run] makes a cluster without instances and calls the test function. [Cluster.Job] declares a job and its
// code. If you have a function that declares your jobs, use [Cluster.Setup]; if you make your schedulers
// yourself, use [Cluster.NewWith]. [Cluster.Start] starts an [Instance], which stands for one process of yours: it
// is a scheduler with its own registry handle, and so its own session. An instance runs the same code as in
// production, over [memory.Server] instead of etcd.
//
// # Time
//
// A test function runs in a bubble of package testing/synctest. In the bubble, time begins at midnight,
// 2000-01-01 UTC, and passes only while all goroutines wait: [Cluster.Advance] lets it pass. When Advance returns,
// everything that was due in this time has happened. [At] gives the times of the first day;
// [Cluster.AdvanceTo] goes to any other time, for example to the last Sunday of March.
//
// The tested code may wait only for time, channels, and whatever else synctest knows. It must not wait for
// sockets, files or other processes: give it fakes. A fake that should take time calls [Sleep]. If a goroutine
// waits for ever, the test ends with synctest's report of a deadlock.
//
// A [sync.Mutex] is none of what synctest knows. While a goroutine waits to lock one, no time passes; so if who holds it waits
// for time, as in Sleep, the test hangs until go test's timeout, which prints where all goroutines are. A fake that takes
// time, and that only one caller may use at once, has a channel of size 1 in place of the mutex:
//
//	bank <- struct{}{}        // bank is a chan struct{} of size 1, made in the test function
//	defer func() { <-bank }() // a mutex would hang the test
//	return clustertest.Sleep(ctx, time.Second)
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
// docs/operating.md describes what an operator can do. [Instance.Handle] and [Cluster.Operator] give access to
// the other faults of package memory.
//
// # What can be said of it
//
//	EveryFireRanOnce   each item ran to its end once for each fire
//	NoFireRanTwice     no item ran to its end twice for one fire
//	MissedExactly      these fires went by without a run, and no others
//	RanOn              this item ran on this instance for this fire, and nowhere else
//	NothingFailed      no execution returned an error
//
// If an assertion does not hold, it fails the test and prints why. Then it prints the story: a table of what ran
// where and when, and what the test did to the cluster in between.
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
// [Cluster.Executions] and [Cluster.MissedFires] are for assertions of your own. [Cluster.Owner] and
// [Cluster.Leader] tell who owns an item and who leads. [Cluster.Story] returns the table.
//
// # What it does not do
//
// It does not stop code, because Go cannot. The context of an item's code ends when its instance crashes, as it
// does when the session is lost, but code that ignores its context goes on. If an instance is frozen, only
// [Sleep] stands still in it. Messages take no time unless [Instance.Slow] says so. If several goroutines act in
// one instant, their order may be any; the package does not look for rare interleavings, which is the purpose of
// this module's own simulation. It says nothing about etcd: keep one test against a real etcd
// (package registry/etcd/embedded).
package clustertest
