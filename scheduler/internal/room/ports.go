package room

import (
	"context"
	"log/slog"
	"time"
)

// Ports are what a room may ask of the process, beside having something committed; see [Commits].
type Ports struct {
	Life func() context.Context    // of all that the scheduler starts; not before the runner is started
	Post func(message func()) bool // the runner carries a message out, and decides then
	Work func(func())              // starts a goroutine that the scheduler waits for
	Wake func(in time.Duration)    // makes the runner decide again by then
	Log  *slog.Logger              // with the job and the instance
	// AskClock asks the registry for its time, unless it was asked within age, and does not wait for the answer.
	// told is called when the next answer, or none, has come, and must not block; nil = nobody wants to know.
	AskClock func(age time.Duration, told func())
	// Tell logs what comes to many items, or again with every try: once, and then as a count.
	Tell func(level slog.Level, message string, err error, attrs ...any)
}
