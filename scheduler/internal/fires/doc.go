// Package fires knows when a job fires and when it hears of that: a process's one clock, the [Timetable],
// which tells every job of its fires by the wall clock, the [Times] that name by what a job fires, and the
// [ClockCheck] that says whether the wall clock is to be trusted.
//
// The timetable works on the goroutine that calls its Run, and while it does, on Linux, on one that waits for its bell. The
// check asks on goroutines that it is given.
package fires
