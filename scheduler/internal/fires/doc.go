// Package fires knows when a job fires and when it hears of that: a process's one clock, the [Timetable],
// which tells every job of its fires by the wall clock, the [Times] that name by what a job fires, and the
// [ClockCheck] that says whether the wall clock is to be trusted.
//
// Nothing here starts a goroutine: the timetable has the one that calls its Run, and the check asks on those
// that it is given.
package fires
