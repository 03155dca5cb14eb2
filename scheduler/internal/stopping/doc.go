// Package stopping bounds a stop, and says what it waits for: the [Curfew] is the one deadline of all code that
// is not the scheduler's own, and counts what it gave up; [Awaited] names what is waited for at a moment. The
// waiting itself is the scheduler's (drain.go): for items, then for what package notify has still to tell.
package stopping
