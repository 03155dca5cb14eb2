package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// Listener names who is called: a kind of listener, of a job or of the process.
type Listener struct {
	Job  string // empty if it listens to the process
	Kind string
}

// String names the listener's job and kind.
func (l Listener) String() string {
	if l.Job == "" {
		return fmt.Sprintf("%s listener", l.Kind)
	}
	return fmt.Sprintf("job %q: %s listener", l.Job, l.Kind)
}

// Listeners calls code of listeners within its time, and counts for a stop what it makes of them.
type Listeners struct {
	Curfew  *stopping.Curfew
	Timeout time.Duration // of one call
	// Failed hears of each call that failed. uncalled tells that it was not made any more, because the
	// scheduler stopped: Run's report tells how many.
	Failed func(ctx context.Context, l Listener, err error, uncalled bool)
}

// Call calls a listener and reports how that failed, if it did. It is for a goroutine that may wait.
func (c *Listeners) Call(ctx context.Context, l Listener, code func(context.Context) error) {
	c.call(ctx, c.Curfew.Last, l, code)
}

func (c *Listeners) call(ctx, last context.Context, l Listener, code func(context.Context) error) {
	if err := c.try(ctx, last, l, c.Timeout, code); err != nil {
		c.Failed(ctx, l, err, protect.Is(err, errNotCalled))
	}
}

// Try is Call with a limit of its own, for a caller that deals with the error.
func (c *Listeners) Try(ctx context.Context, l Listener, limit time.Duration, code func(context.Context) error) error {
	return c.try(ctx, c.Curfew.Last, l, limit, code)
}

func (c *Listeners) try(ctx, last context.Context, l Listener, limit time.Duration, code func(context.Context) error) error {
	ended := c.Curfew.Calling(l.String())
	err := bounded(ctx, last, limit, code)
	ended()
	switch {
	case protect.Is(err, errNotCalled):
		c.Curfew.Note(l.String(), 0, 1)
	case protect.Is(err, errHangs) && protect.Is(err, stopping.ErrStopped):
		c.Curfew.Note(l.String(), 1, 0)
	}
	return err
}
