package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/elasticron/elasticron/internal/logqueue"
	"github.com/elasticron/elasticron/internal/option"
)

// Bus brings events to sinks. Its methods are safe for concurrent use.
type Bus struct {
	deliveries []*delivery
	log        *slog.Logger
	lines      *logqueue.Queue // of log: nothing waits for it

	mu      sync.Mutex
	started bool
	closed  bool
	life    context.Context // of deliveries; ends when Close waits no longer
	end     context.CancelFunc
}

// NewBus makes a bus. It starts nothing: events that are posted before [Bus.Start] wait. The error
// lists every option that is not allowed.
func NewBus(opts ...Option) (*Bus, error) {
	b := &Bus{log: slog.New(slog.DiscardHandler)}
	faults := option.Apply(b, opts)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	b.log, b.lines = logqueue.New(b.log)
	for _, d := range b.deliveries {
		d.log = b.log.With(logSink, d.name)
	}
	return b, nil
}

// Post gives an event to every sink; a nil pointer is none. It never blocks. A sink whose buffer is full does not get it, and
// neither does any after [Bus.Close]; both are counted.
func (b *Bus) Post(e Event) {
	switch pointer := e.(type) {
	case *Execution:
		if pointer == nil {
			return
		}
		e = *pointer
	case *Status:
		if pointer == nil {
			return
		}
		e = *pointer
	}
	for _, d := range b.deliveries {
		d.queue.put(e)
	}
}

// Start begins to deliver, on a goroutine for each sink. It does nothing if it was called before, or
// after Close.
func (b *Bus) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.started || b.closed {
		return
	}
	b.started = true
	b.life, b.end = context.WithCancel(context.Background())
	for _, d := range b.deliveries {
		go d.run(b.life)
	}
}

// Close takes no more events, delivers those that wait, and returns when all sinks have them or ctx
// ends. Then the error names each sink with the number of events that it did not get, which are lost.
// A sink that goes on writing although its context has ended is left behind.
//
// Call it when nothing posts any more: after the scheduler's Run. It may be called again, with the same
// result.
func (b *Bus) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	started := b.started
	b.mu.Unlock()
	for _, d := range b.deliveries {
		d.queue.close()
		if !started {
			d.giveUp(ctx, 0)
		}
	}
	if started {
		b.wait(ctx)
		b.end()
	}
	b.lines.Flush(logqueue.LastLines)
	var lost []error
	for _, d := range b.deliveries {
		if s := d.stats(); s.Lost+s.Waiting > 0 {
			lost = append(lost, fmt.Errorf("sink %q did not get %d events before the bus was closed", d.name, s.Lost+s.Waiting))
		}
	}
	return errors.Join(lost...)
}

// wait waits until all is delivered, or ctx ends and deliveries have given up.
func (b *Bus) wait(ctx context.Context) {
	for _, d := range b.deliveries {
		select {
		case <-d.done:
			continue
		case <-ctx.Done():
		}
		b.end()
		d.waitGone(ctx)
	}
}

// Stats tells of each sink, in the order in which they were added.
func (b *Bus) Stats() []Stats {
	all := make([]Stats, len(b.deliveries))
	for i, d := range b.deliveries {
		all[i] = d.stats()
	}
	return all
}
