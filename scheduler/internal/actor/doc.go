// Package actor holds what makes a job's runner an actor that costs nothing while its job is idle: a
// [Mailbox] whose goroutine exists only while there are messages, an [Alarm] that is a timer and no
// goroutine, a [Lookout] that remembers which items of a large job to look at, and a [Lull] for notes that nobody
// needs to act on.
//
// Nothing here knows of jobs, registries or time other than the process's own.
package actor
