// Package observe puts the events of a scheduler on a history bus.
//
//	bus, err := history.NewBus(history.WithSink("log", history.NewLogSink(logger)))
//	s, err := scheduler.New(reg, scheduler.WithObserver(observe.New(bus)))
//
// It is a package of its own because the scheduler and the history do not import each other: an application
// without a history links none.
package observe

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// Bus takes events. [*history.Bus] is one. Post must not block.
type Bus interface{ Post(history.Event) }

// Observer is a [scheduler.Observer] that posts executions and steps of rounds. It keeps nothing and is
// safe for concurrent use, by several schedulers too.
type Observer struct {
	bus      Bus
	hostname string
}

var _ scheduler.Observer = (*Observer)(nil)

// New returns an observer. Events carry the host's name, and the IP of the instance's id.
func New(bus Bus) *Observer {
	hostname, err := os.Hostname()
	if err != nil {
		hostname = "unknown" // the column must not be empty
	}
	return &Observer{bus: bus, hostname: hostname}
}

// Observe posts what an event tells of executions and rounds: that a round is staged and runs, that it is
// finished or in error, and the start and the end of an execution.
func (o *Observer) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.RoundEvent:
		if e.Over() {
			o.bus.Post(roundOf(e).End())
		} else {
			o.roundBegan(e)
		}
	case scheduler.ItemEvent:
		posted := history.Started(o.hostname, e.Round, e.Context, e.Began)
		if e.Over() {
			posted = posted.Ended(e.Ended, errOf(e), refusalOf(e))
		}
		o.bus.Post(posted)
	}
}

// errOf returns the error of an execution. That of one which was cut short, or made room, says so first: a row knows only whether
// it succeeded. Most of those whose session was lost have an end that is refused as well.
func errOf(e scheduler.ItemEvent) error {
	switch {
	case !cutShort(e):
		return e.Err
	case e.Refused == nil:
		return fmt.Errorf("interrupted: %w", e.Err)
	default:
		return fmt.Errorf("interrupted: %w; its end was refused: %w", e.Err, refused(e))
	}
}

// refusalOf returns why the end of an execution was refused, unless its error tells that.
func refusalOf(e scheduler.ItemEvent) error {
	if e.Refused == nil || cutShort(e) {
		return nil
	}
	return refused(e)
}

func cutShort(e scheduler.ItemEvent) bool { return e.CutShort && e.Err != nil }

// errTaken stands for a conflict, which would have the record of whoever runs the item now.
var errTaken = errors.New("the item was taken away")

func refused(e scheduler.ItemEvent) error {
	if errors.Is(e.Refused, registry.ErrConflict) {
		return errTaken
	}
	return e.Refused
}

func (o *Observer) roundBegan(e scheduler.RoundEvent) {
	round := roundOf(e)
	o.bus.Post(round.Staged())
	now := time.Now()
	if now.Before(e.Began) { // by the scheduler's clock, which may differ from the system's
		now = e.Began
	}
	o.bus.Post(round.Running(now))
}

func roundOf(e scheduler.RoundEvent) history.Round {
	return history.Round{
		ID: e.ID, Job: e.Job, TaskID: e.TaskID, Items: e.Items, Began: e.Began, Ended: e.Ended, Failed: e.Failed,
	}
}
