package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// ErrListenerTimeout is the cause with which the context of a listener ends when its time is over,
// and what is reported of one that did not return in time.
var ErrListenerTimeout = errors.New("listener took too long")

var (
	errHangs     = errors.New("did not return when its context had ended")
	errNotCalled = errors.New("was not called: the scheduler stopped")
)

// bounded calls code of a listener and waits for it, at most for limit and a last moment after it or
// after ctx has ended, and in no case when last has. It returns what [protect.Call] would. A listener that
// does not return is left behind on its goroutine: nothing can end it, and nothing waits for it.
func bounded(ctx, last context.Context, limit time.Duration, listener func(context.Context) error) error {
	if last.Err() != nil {
		return errNotCalled
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrListenerTimeout)
	defer cancel()
	returned := make(chan error, 1)
	protect.Go(func() error { return listener(ctx) }, func(err error) { returned <- err })
	select {
	case err := <-returned:
		return err
	case <-ctx.Done():
	}
	enough := last.Done() // with a stop, all are given up at the same moment
	if !errors.Is(context.Cause(ctx), stopping.ErrStopped) {
		moment, cancel := context.WithTimeout(last, stopping.LastWords)
		defer cancel()
		enough = moment.Done()
	}
	select {
	case err := <-returned:
		return err
	case <-enough:
	}
	return fmt.Errorf("%w: %w", errHangs, context.Cause(ctx))
}
