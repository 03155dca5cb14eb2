package room

import (
	"context"
	"log/slog"
	"time"
)

// Ports are what a room may ask of the process, beside having something committed; see [Commit].
type Ports interface {
	// Life is of all that the scheduler starts. It is not to be asked for before the runner is started.
	Life() context.Context
	// Post has the runner carry a message out, and decide then.
	Post(message func()) bool
	// DecideAgain has the runner decide once more, with what a room has learnt while it decided.
	DecideAgain()
	// Work starts a goroutine that the scheduler waits for.
	Work(do func())
	// Wake makes the runner decide again by then.
	Wake(in time.Duration)
	// Log returns the log, with the job and the instance.
	Log() *slog.Logger
	// AskClock asks the registry for its time, unless it was asked within age, and does not wait for the answer.
	// told is called when the next answer, or none, has come, and must not block; nil = nobody wants to know.
	AskClock(age time.Duration, told func())
	// Tell logs what comes to many items, or again with every try: once, and then as a count.
	Tell(level slog.Level, message string, err error, attrs ...any)
}
