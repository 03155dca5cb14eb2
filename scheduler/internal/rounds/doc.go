// Package rounds is the room of what an instance runs of a job: what is due of its items, when it may begin, what it
// begins, claims and runs, and what is left of that for others. Package missed says what was missed, and package
// executions what runs; both are parts of this room. T4 and T7 in its comments are transactions of docs/protocol.md: the
// begin of an item, and the claim of a lost execution.
//
// A fire comes as a tick and is noted in the items that want it. The next decision looks at each item that something has
// happened to, and proposes its begin, in one batch with those of the others. What the registry confirms runs as a round.
//
//	the room
//	rounds.go       what it consists of, and what it takes in of the job's tree and settings
//	item.go         what is known of one item
//	owned.go        which items this instance has; new ones are received, and those that are gone released
//
//	what is due
//	tick.go         a fire comes
//	delay.go        a fixed delay is over
//	ahead.go        fires that this process's clock ticked before their time
//	doze.go         fires of items that only wait for their turn, noted once for all of them
//	fires.go        the job fires by other times, or the clock was wrong: what is due is dropped
//	drop.go         items, or the whole job, are gone or new: what was due of the former ones is dropped
//	requests.go     requests by hand
//	release.go      what is due of items that are not to run here is noted for others
//
//	what begins
//	decide.go       looks at each item, and chooses what it is to run for
//	turns.go        of all that is due in this process, so many begin at once; the others wait for their turn
//	stride.go       of one job, fewer begin together where the registry refuses most of them
//	begin.go        the begin of an item
//	claim.go        the claim of a lost execution
//	unmonitored.go  the begin of an item of a job that leaves no marks
//	written.go      items of which the state does not show yet what this process wrote
//
//	what has begun
//	headstart.go    begins ahead of their fires are held until these come
//	gates.go        executions wait for the hook of their whole round
package rounds
