package scheduler

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
)

const (
	// codeTimeout is how long code may take that a runner asks beside itself: Configure, the constructor
	// of an error handler, a sharding strategy.
	codeTimeout = 10 * time.Second
	// mostHanging is how many calls of one kind, of one job, may be under way: each hangs, as those that
	// are asked anew.
	mostHanging = 4
)

// ErrNotReturned is what Configure, the constructor of an error handler or a sharding strategy failed with
// that did not return in time.
var ErrNotReturned = errors.New("has not returned in time")

// notReturned says what of a job's code has not returned.
func notReturned(what string) error {
	return fmt.Errorf("%s %w: %s", what, ErrNotReturned, codeTimeout)
}

// asker asks one kind of an application's code beside a runner, which hears of the answers as messages. Of
// what was asked the newest counts.
type asker struct {
	box  *actor.Mailbox // the runner's
	free func()         // called when something may be asked again after it could not be

	question int  // number of the newest
	underWay int  // that have not returned
	unasked  bool // the newest was not asked, as too many had not returned
	timer    *time.Timer
}

// ask has code called. If it has not returned in time, late is called; when it returns, also after that,
// returned is. Neither is when something else was asked meanwhile, or this was dropped. If too many calls have
// not returned, code is not called and ask is false.
func (a *asker) ask(code func() error, late func(), returned func(error)) bool {
	a.drop()
	if a.underWay >= mostHanging {
		a.unasked = true
		return false
	}
	question := a.question
	a.underWay++
	a.await(late)
	job.Go(code, func(err error) {
		a.box.Post(func() {
			a.underWay--
			switch {
			case a.question == question:
				a.drop()
				returned(err)
			case a.unasked:
				a.free()
			}
		})
	})
	return true
}

// await has late called if nothing else is asked in time. Also when code could not be called that may be enough: the
// calls under way, which several changes in one moment have asked for, may all be about to return.
func (a *asker) await(late func()) {
	question := a.question
	a.timer = time.AfterFunc(codeTimeout, func() {
		a.box.Post(func() {
			if a.question == question {
				late()
			}
		})
	})
}

// drop forgets what was asked.
func (a *asker) drop() {
	a.question++
	a.unasked = false
	a.stop()
}

func (a *asker) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
