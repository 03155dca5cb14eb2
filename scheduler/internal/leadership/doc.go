// Package leadership is the room of a job's leader, and of those who may become it: the election, the assignment
// of the items, the strategies that are asked for it, what clears up after earlier assignments, and the look at
// everything now and then. Package sharding says which assignment is wanted. T2 and T3 are transactions of
// docs/protocol.md: the election and the resharding.
//
//	leadership.go   the room: what a leader does next, and who stands for election
//	elect.go        the election, and how a leader resigns that cannot do its work
//	reshard.go      when the assignment is looked at, and its resharding
//	strategist.go   a strategy of the application's is asked for an assignment, and nothing waits for its answer
//	static.go       assignments that stay while members change
//	probation.go    instances of servers whose instances die young get no items for a while
//	bequeath.go     a leader that leaves gives its items to others as it goes
//	reconcile.go    everything is looked at again now and then, and what is there for no reason is removed
//	spread.go       what the others tell of a leader that does not get on
package leadership
