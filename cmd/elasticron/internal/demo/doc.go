// Package demo shows a cluster at work on one machine: several processes share the items of a job,
// one of them is killed, another joins, and every round is checked to count each file of a tree
// exactly once.
//
// # The parts
//
// [Run] is the parent. It starts an etcd server, unless it is given one, and then the processes: the
// same program again, each of which calls [Work]. Two things are between parent and child. The child
// takes part in the job like any application, through the registry. And its results go to the parent,
// which is the application's store: a run of an item writes its result, and gets an answer, before
// the scheduler is told that it is done. Both talk in JSON lines on the child's standard input and
// output; a child whose input ends stops, so none outlives its parent.
//
// What the parent shows of leaders, instances and items it reads from the registry, as any monitor
// could. It takes part in nothing, and neither does the console, which the parent serves if it is asked to.
//
// # What it does not do
//
// It is no benchmark, and it sets what suits a show: a session of two seconds, so that a killed
// process is noticed soon. An application that is not watched leaves the default.
package demo
