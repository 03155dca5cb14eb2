// Command peers is one process of a cron library at work, for the comparison of such libraries in the tests of this
// folder: Elasticron on etcd and on ZooKeeper, gocron with a mutex in etcd, and robfig's cron, which knows of no other
// process. Elastic-Job-Lite is compared, too; its processes are those of package javapeer.
//
//	make bench-peers                     # everything; writes docs/figures.md
//	make bench-peers PEERSFLAGS=-short   # each comparison once and briefly; writes nothing
//
// All get the same work, take turns on the same machine, have their stores in processes of their own, and are used
// with the defaults of their makers: sessions, time limits, pools. What runs is what a process writes down by itself,
// from inside the code of a job: a line with the job, the item and the time.
//
// A process reads its [assignment] from the first line of its standard input, writes "ready" when it takes part, and
// stops when its input ends.
package main
