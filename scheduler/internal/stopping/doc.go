// Package stopping knows what a stop waits for, and for how long: the [Curfew] is the one deadline of all code
// that is not the scheduler's own, and counts what it gave up; [Awaited] says what is waited for at a moment.
package stopping
