package asking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
)

const (
	// Timeout is how long code may take that a runner asks beside itself: Configure, the constructor
	// of an error handler, a sharding strategy.
	Timeout = 10 * time.Second
	// mostHanging is how many calls of one kind, of one job, may be under way: each hangs, as those that
	// are asked anew.
	mostHanging = 4
)

// ErrNotReturned is the error of Configure, of the constructor of an error handler or of a sharding strategy
// that did not return within [Timeout].
var ErrNotReturned = errors.New("has not returned in time")

// NotReturned says what of a job's code has not returned.
func NotReturned(what string) error {
	return fmt.Errorf("%s %w: %s", what, ErrNotReturned, Timeout)
}

// Questioner is for whom an [Asker] asks.
type Questioner interface {
	// Post hands the runner a message.
	Post(message func()) bool
	// Again is called when something may be asked again after it could not be.
	Again()
}

// Asker asks one kind of an application's code beside a runner, which hears of the answers as messages. Only the
// newest question counts.
type Asker struct {
	For Questioner

	question int  // number of the newest
	underWay int  // that have not returned
	unasked  bool // the newest was not asked, as too many had not returned
	timer    *time.Timer
}

// Ask calls code. If code has not returned in time, Ask calls late; when code returns, even after that,
// it calls returned. It calls neither if it was asked something else meanwhile or was dropped. If too many calls have
// not returned, Ask does not call code and returns false.
func (a *Asker) Ask(code func() error, late func(), returned func(error)) bool {
	a.Drop()
	if a.underWay >= mostHanging {
		a.unasked = true
		return false
	}
	question := a.question
	a.underWay++
	a.Await(late)
	protect.Go(code, func(err error) {
		a.For.Post(func() {
			a.underWay--
			switch {
			case a.question == question:
				a.Drop()
				returned(err)
			case a.unasked:
				a.For.Again()
			}
		})
	})
	return true
}

// Await calls late if nothing else is asked in time. Also when code could not be called that may be enough: the
// calls under way, which several changes in one moment have asked for, may all be about to return.
func (a *Asker) Await(late func()) {
	question := a.question
	a.timer = time.AfterFunc(Timeout, func() {
		a.For.Post(func() {
			if a.question == question {
				late()
			}
		})
	})
}

// Drop forgets what was asked.
func (a *Asker) Drop() {
	a.question++
	a.unasked = false
	a.Stop()
}

// Stop stops the timer, and forgets it with all that it would have called.
func (a *Asker) Stop() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}

// InTime calls code of a declaration and waits for it, while ctx lasts and at most for Timeout.
func InTime(ctx context.Context, what string, code func() error) error {
	returned := make(chan error, 1)
	protect.Go(code, func(err error) { returned <- err })
	timer := time.NewTimer(Timeout)
	defer timer.Stop()
	select {
	case err := <-returned:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
	case <-timer.C:
		return NotReturned(what)
	}
}
