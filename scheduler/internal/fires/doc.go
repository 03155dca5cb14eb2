// Package fires knows when a job fires and when it is told so: a process's one clock, the [Timetable],
// which tells every job of its fires by the wall clock, and the [Jitter] that spreads them.
//
// The rules are pure; the timetable alone has a goroutine, the one that calls its Run.
package fires
