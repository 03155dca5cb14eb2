// Package room is what a job's runner and its rooms say to each other. A room is a struct that owns what it
// knows and has three things to say: it observes what has changed, it decides, by a [View] of what the runner
// knows, what is to be committed, which is a [Batch] of [Proposal]s, and each of these says what follows from
// its outcome. A decision does no I/O, and a room has no pointer to its runner. The runner commits what a room
// decides. What else a room needs, a message to itself, a goroutine or the registry's time, it asks for by its
// [Ports].
//
// Not all rooms have something for each: configuration commits nothing, so it takes a stored configuration up and says
// by its ports what is in force. Package requests keeps nothing of its own, so its decisions are functions.
//
// What the view does not show, such as how a refused end went after all, a room reads on a goroutine of its own, and
// decides by the answer when that has come as a message.
package room
