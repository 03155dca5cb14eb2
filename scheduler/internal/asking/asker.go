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
// that did not return within [Timeout], though it may have been asked anew meanwhile.
var ErrNotReturned = errors.New("has not returned in time")

// NotReturned says what of a job's code has not returned, and whether it was asked anew meanwhile.
func NotReturned(what string, anew bool) error {
	if anew {
		return fmt.Errorf("%s %w: %s, in which it was asked anew", what, ErrNotReturned, Timeout)
	}
	return fmt.Errorf("%s %w: %s", what, ErrNotReturned, Timeout)
}

// Questioner is for whom an [Asker] asks.
type Questioner interface {
	// Post hands the runner a message.
	Post(message func()) bool
	// Again is called when something may be asked again after it could not be.
	Again()
}

// Asker asks one kind of an application's code beside a runner, which hears of the answers as messages. The
// newest question counts.
//
// How long an answer may take counts from the first question that none has been answered since, and does not begin anew with
// each: else nobody would ever hear of code that takes longer than it takes until something else is asked.
type Asker struct {
	For Questioner

	question int    // number of the newest
	bound    *bound // on what is waited for; nil = nothing is, or its time is over
	underWay int32  // that have not returned
	unasked  bool   // the newest was not asked, as too many had not returned
}

// bound is when somebody hears that there is no answer.
type bound struct {
	timer *time.Timer
	late  func(anew bool) // of the newest question
	anew  bool            // that is not the first
}

// Ask calls code, and returned when code has returned; it is not the newest then if something else was asked meanwhile, or it
// was dropped. If the newest question has no answer in time, Ask calls late of it, and goes on waiting. While too many calls
// have not returned, Ask does not call code, and late is not called any earlier for that: the calls under way, which
// several changes in one moment have asked for, may all be about to return.
func (a *Asker) Ask(code func() error, late func(anew bool), returned func(newest bool, err error)) {
	a.question++
	a.await(late)
	a.unasked = a.underWay >= mostHanging
	if a.unasked {
		return
	}
	question := a.question
	a.underWay++
	protect.Go(code, func(err error) {
		a.For.Post(func() {
			a.underWay--
			if a.question == question {
				a.Drop()
				returned(true, err)
				return
			}
			returned(false, err)
			if a.unasked {
				a.For.Again()
			}
		})
	})
}

// await has late called when the time is over that began with the first question.
func (a *Asker) await(late func(anew bool)) {
	if a.bound != nil {
		a.bound.late, a.bound.anew = late, true
		return
	}
	b := &bound{late: late}
	b.timer = time.AfterFunc(Timeout, func() {
		a.For.Post(func() {
			if a.bound == b {
				a.bound = nil
				b.late(b.anew)
			}
		})
	})
	a.bound = b
}

// Drop forgets what was asked.
func (a *Asker) Drop() {
	a.question++
	a.unasked = false
	a.Stop()
}

// Stop stops the timer, and forgets it with all that it would have called.
func (a *Asker) Stop() {
	if a.bound != nil {
		a.bound.timer.Stop()
		a.bound = nil
	}
}

// InTime calls code of a declaration and waits for it, while ctx lasts and at most for Timeout.
func InTime(ctx context.Context, what string, code func() error) error {
	bounded, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	returned, err := protect.Within(bounded, code)
	switch {
	case returned:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return NotReturned(what, false)
}
