// Package checker judges what a cluster did, by what it promises.
//
// A test lets a cluster run, breaks it in some ways, and writes down a [History]: what user code saw,
// what was done to the processes, and every state that the registry went through. [Judge] compares it
// with the guarantees and returns a [Finding] for each violation, with the events that prove it. It
// trusts nobody: that an execution ended well counts only if its code was called and returned, and
// what a record says only if the state before allowed it.
//
// # How to use it
//
//	findings := checker.Judge(h, checker.DefaultRules())
//	for _, f := range findings {
//		t.Error(f)
//	}
//
// # How time is judged
//
// Much of what is promised is promised within a bound after a change. Every incident, and every change
// of members or settings that the registry shows, excuses a moment that follows it: a second, or
// after a crash the time to live of its session and half a second. What is not well at a moment that
// nothing excuses is a finding. So a history should end with some calm.
//
// What somebody has to put right is judged while somebody is there who may, or who could if it had not left the job though
// nobody asked it to. A node among the instances that a careless hand created and no session holds is nobody, and whoever
// leads has to remove it.
//
// How much runs while a store takes less than is wanted is judged as a whole, for each time during which processes are there
// without a break: who starts when no other is there has to learn what the store takes.
//
// # What it does not do
//
// It does not explain why something went wrong, and it judges one job: make a history for each. It
// needs every revision of the job's tree, so the registry must have been watched by a handle that was
// never disturbed. Of a job whose executions are not monitored, which leave no trace, it judges only what code saw, far from
// every change.
package checker
