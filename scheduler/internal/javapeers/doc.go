// Package javapeers are the Java instances of Elastic-Job-Lite 2.1.5, or of ElasticJob 3.0.x, that share a job over the
// same ZooKeeper, as the peers of those of this library: what they expect, what they leave out, and what is done about
// it. All that differs for them stands here, but for the words of their nodes, which are a [jobtree.Layout].
// docs/java.md says what that means for users.
//
// Of an instance that crashed, Java tells nobody. losses.go is the door: what is believed lost, from when on, and what
// becomes of it. What it believes by are four signs: in 2.1.5, vanished.go and replaced.go; in 3.0.x, deaths.go and
// remains.go. abandoned.go has ours claim what is lost and no Java instance claims soon.
//
//	who takes part
//	limits.go       which instance ids are allowed
//	java.go         the dialect of a process that was told of Java instances, and what is known of those of one job
//	unaware.go      a process that was not told of them stays out of their jobs
//	leave.go        the Java console shuts an instance of ours down
//
//	what is seen of them
//	follow.go       what a step of the view has changed goes to those below
//	runs.go         what runs in them
//	past.go         whose an item was before, and what its owner may have run
//	away.go         what they may have run while this process was away
//	lag.go          what they may have run before this process heard that they have the item
//	once.go         listeners of Java's that run once for a whole round
//	cron.go         the cron by which they fire, if the stored one is none that Java can read
//
//	what they lose
//	losses.go       what is believed lost, and what becomes of it
//	vanished.go, replaced.go, deaths.go, remains.go
//	                the four signs of that
//	abandoned.go    ours claim what nobody else claims soon
//	yield.go        what a Java instance runs again is left to it
//
//	who has which item
//	moves.go        around a fire, nothing moves from or to a Java instance
//	makeroom.go     code that goes on until it is told to end is told, as its item is to move
//	rests.go        an item that is to move rests after a run, until a leader of ours has moved it
//	urge.go         a Java leader that has forgotten somebody is asked again
package javapeers
