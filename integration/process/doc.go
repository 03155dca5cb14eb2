// Package process runs real processes over a real etcd, hurts them, and has package history judge what
// they did. It has tests only, and they need Linux.
//
// Every process is this test binary again: three members of an etcd cluster, and instances that run
// jobs whose items fire each second. An instance appends what its items see to a file of its own, line
// by line, so that a SIGKILL loses nothing that was done. The test itself writes down what it does to
// the processes, and every revision of the store, which it hears of from all members. In the end it
// stops what still lives, puts all of that together, and hands it to the judge.
//
//	go test -race ./integration/process -run TestProcesses -process.duration=10m
//	go test -race ./integration/process -run TestProcesses -process.seed=42 -artifacts
//
// The first goes on for longer: a round of faults and what follows takes some ten seconds, and six
// rounds have all kinds of faults. The second does the same things at the same times again; what comes
// of it is up to real schedulers and real networks, so it may differ. With -artifacts, what the
// processes wrote stays.
//
// What is done to them: SIGKILL, SIGTERM and SIGSTOP for longer than the session lasts, to instances,
// leaders among them; a network that swallows what is sent; SIGKILL and SIGSTOP of members of etcd, and
// of all of them at once. The small tests beside TestProcesses do one thing each and look closely.
//
// Processes are signalled by their id only, and die with the test, however that ends.
package process
