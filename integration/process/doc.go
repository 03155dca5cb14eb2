// Package process runs real processes over a real etcd and over a real ZooKeeper, injects faults into
// them, and has package checker judge what they did. It has tests only, and they need Linux.
//
// The processes are three members of an etcd cluster, which package etcdserver builds, and instances that
// run jobs whose items fire each second. An instance is this test binary again. It appends what its items
// see to a file of its own, line by line, so that a SIGKILL loses nothing that was done. The test itself
// writes down what it does to the processes, and every revision of the store. In the end it stops what
// still lives, puts all of that together, and hands it to the judge.
//
// The test watches every member of etcd and records each revision. A client of ZooKeeper cannot see every revision,
// so those are read from the server's own transaction log while the server writes it (package txnlog).
// Nothing is judged less there. The log is that of one server, so the ZooKeeper of these tests stands
// alone: an ensemble, whose leader changes, is not tested here, but in registry/zkcompat. The judge grants it one tick more,
// 100 ms, before a session that is over must be gone, because it looks for those once a tick.
//
//	go test -race ./integration/process -run TestProcesses -process.duration=10m
//	go test -race ./integration/process -run 'TestProcesses$' -process.seed=42 -artifacts
//
// The first goes on for longer, hours if need be: a round of faults and what follows takes some ten
// seconds, and twelve rounds have all kinds of faults; over ZooKeeper it takes half of the time. The second
// does the same things at the same times again; what comes of it is up to real schedulers and real
// networks, so it may differ. With -artifacts, what the processes wrote stays. With -v, a summary tells
// how many executions there were, what was done, and how long it took to recover.
//
// What is done to them: SIGKILL, SIGTERM and SIGSTOP for longer than the session lasts, to instances,
// leaders among them; a network that swallows what is sent, in both directions or in one, delays it or
// loses some; SIGKILL and SIGSTOP of members of etcd, and of all of them at once, and of the ZooKeeper
// server; members of etcd, the leader among them, that the others do not reach, or that do not reach the
// others, while clients reach them as ever: what they were asked meanwhile arrives afterwards, late and
// perhaps for the second time; and a store that is out of space. TestACheckpointDoesNotGoBack holds one such
// request up on purpose, between two members, and says when it arrives. The small tests beside TestProcesses do
// one thing each and look closely, over both stores. Those over ZooKeeper need a JDK and Maven: without
// them they skip and say so, and in CI they fail.
//
// A second judge shares nothing with the first. It is a store like one that users have, outside of all
// this: it takes results and checkpoints under the fencing token and refuses stale ones, and complains
// if a fire runs twice, a token comes twice, or an execution begins with an older checkpoint than was
// confirmed.
//
// Processes are signalled by their id only, and die with the test, however that ends.
//
// # What is in which file
//
// All files end in _test.go, but for this one. In reading order:
//
//   - main: what this binary is, the test or an instance; process: how the test starts,
//     signals and ends one.
//   - instance, journal: a process that runs jobs, and the events that it writes down; times: its
//     clocks, and when states of the store came to be; stalls: whether the machine or the store was
//     too busy to be held to a promise.
//   - environment: the store of a test, etcd or ZooKeeper; cluster: the instances over it and all that
//     is done to them; state: what the registry says of a job, and waiting for that.
//   - recording: every revision of the store; etcdrecording, zkrecording: how each store is recorded.
//   - observations: all that was written down, put together; runs: the executions in it; judge: what
//     the checker says of it.
//   - etcdcluster: an etcd cluster of processes.
//   - plan: what TestProcesses does, decided by a seed; chaos: how that is carried out; faults,
//     etcdfaults: the faults of instances and ZooKeeper, and of etcd; fence: the second judge; summary:
//     what a run prints.
//   - killed, stopped, sessionlost, heldup, churn: the small tests.
package process
