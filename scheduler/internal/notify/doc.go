// Package notify tells code that is not the scheduler's own what has happened, and bounds what that can cost:
// [Listeners] call one listener and wait for it, at most for its time, [Notices] call those of the process one
// after the other, [Failures] tell a job's error handler, and a [Hearer] tells an observer. What does not return
// is left behind on its goroutine: nothing can end it. A stop bounds all of them by one deadline, the
// [stopping.Curfew], which counts what was given up.
package notify
