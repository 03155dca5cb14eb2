package history

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
)

// The pauses of a sink that fails.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
)

// errTryAgain is all that the retry library hears of a sink that failed.
var errTryAgain = errors.New("try again")

// lastWords is how long a sink has to return after its context has ended.
const lastWords = time.Second

// Keys of the log.
const (
	logSink   = "sink"
	logEvents = "events"
	logError  = "error"
)

// delivery brings events to one sink.
type delivery struct {
	name    string
	sink    Sink
	batch   int
	linger  time.Duration
	timeout time.Duration
	log     *slog.Logger
	queue   queue
	done    chan struct{} // closed when nothing more will be delivered

	mu        sync.Mutex
	delivered uint64
	rejected  uint64
	lost      uint64
	failures  uint64
	err       error
	told      uint64 // of dropped events, how many the log knows of
}

func newDelivery(name string, sink Sink) *delivery {
	return &delivery{
		name: name, sink: sink, batch: 512, linger: 100 * time.Millisecond, timeout: 30 * time.Second,
		queue: queue{limit: 1 << 16, bell: make(chan struct{}, 1)}, done: make(chan struct{}),
	}
}

// run delivers until the queue is closed and empty, or life ends.
func (d *delivery) run(life context.Context) {
	defer close(d.done)
	batch := make([]Event, 0, min(d.batch, 512)) // a sink may be given far more than ever waits
	for {
		batch = d.gather(life, batch[:0])
		if len(batch) == 0 || !d.deliver(life, batch) {
			d.giveUp(life, len(batch))
			return
		}
		clear(batch)
	}
}

// gather waits for events and then, a little, for more. It returns none if none will come.
func (d *delivery) gather(life context.Context, batch []Event) []Event {
	for life.Err() == nil {
		waiting, closed := d.queue.state()
		if waiting > 0 {
			if waiting < d.batch && !closed && d.linger > 0 {
				d.await(life)
			}
			return d.queue.take(batch, d.batch)
		}
		if closed {
			return nil
		}
		select {
		case <-d.queue.bell:
		case <-life.Done():
		}
	}
	return nil
}

// await lingers until a batch is full.
func (d *delivery) await(life context.Context) {
	timer := time.NewTimer(d.linger)
	defer timer.Stop()
	for {
		select {
		case <-d.queue.bell:
			if waiting, closed := d.queue.state(); waiting >= d.batch || closed {
				return
			}
		case <-timer.C:
			return
		case <-life.Done():
			return
		}
	}
}

// deliver gives a batch to the sink, again and again until the sink takes it. It tells whether that was before life
// ended.
func (d *delivery) deliver(life context.Context, batch []Event) bool {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier = firstPause, longestPause, 2
	began, failed := time.Now(), false
	var last error // the library hears of errTryAgain instead: what a sink returns may hold orders to it
	var rejected *RejectedError
	_, err := backoff.Retry(life, func() (struct{}, error) {
		rejected, last = d.write(life, batch)
		switch {
		case last == nil:
			return struct{}{}, nil
		case rejected != nil:
			return struct{}{}, backoff.Permanent(errRejected)
		default:
			return struct{}{}, errTryAgain
		}
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(_ error, pause time.Duration) {
		if !failed {
			d.log.WarnContext(life, "the sink fails and is asked again", logError, last, "pause", pause.String())
		}
		failed = true
		d.tellDrops(life)
	}))
	switch {
	case rejected != nil:
		lost := min(max(rejected.Count, 0), len(batch)) // sinks are others' code
		d.log.ErrorContext(life, "events are lost: the sink refuses them", logEvents, lost, logError, rejected.Err)
		d.settle(len(batch), lost)
	case err != nil:
		return false
	default:
		d.settle(len(batch), 0)
	}
	if failed {
		d.log.InfoContext(life, "the sink takes events again", "after", time.Since(began).String())
	}
	d.tellDrops(life)
	return true
}

// errRejected ends the tries of a batch.
var errRejected = errors.New("the sink refuses the batch")

// write asks the sink once. A panic rejects the batch, as it would come again, and so does the end of
// the goroutine. What the sink returns is asked where its own code ran, as its methods may panic, too.
func (d *delivery) write(life context.Context, batch []Event) (rejected *RejectedError, err error) {
	ctx, cancel := context.WithTimeout(life, d.timeout)
	defer cancel()
	err = protect.Call(func() error {
		err := d.sink.Write(ctx, batch)
		errors.As(err, &rejected)
		return err
	})
	panicked, is := protect.As[*job.PanicError](err)
	if is {
		d.log.ErrorContext(ctx, "the sink panicked", logError, err, "stack", string(panicked.Stack))
	}
	if is || protect.Is(err, job.ErrGoexit) {
		rejected = &RejectedError{Count: len(batch), Err: err}
		err = rejected
	}
	d.count(func() {
		if d.err = err; err != nil {
			d.failures++
		}
	})
	return rejected, err
}

// settle counts a batch that the sink took, except for some.
func (d *delivery) settle(all, rejected int) {
	d.count(func() {
		d.delivered += uint64(all - rejected)
		d.rejected += uint64(rejected)
	})
}

// tellDrops logs what has been dropped since it last did.
func (d *delivery) tellDrops(ctx context.Context) {
	_, dropped := d.queue.counts()
	var more uint64
	d.count(func() { more, d.told = dropped-d.told, dropped })
	if more > 0 {
		d.log.ErrorContext(ctx, "events are lost: the sink does not keep up and its buffer was full", logEvents, more)
	}
}

// giveUp counts what waits as lost, with the events that are under way.
func (d *delivery) giveUp(ctx context.Context, underWay int) {
	lost := uint64(underWay + d.queue.discard())
	d.count(func() { d.lost += lost })
	if lost > 0 {
		d.log.ErrorContext(ctx, "events are lost: the bus was closed before the sink took them", logEvents, lost)
	}
	d.tellDrops(ctx)
}

// waitGone waits for the goroutine after its context has ended, but not for ever.
func (d *delivery) waitGone(ctx context.Context) {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-d.done:
	case <-timer.C:
		d.log.ErrorContext(ctx, "the sink does not return although its context has ended, and is left behind")
	}
}

func (d *delivery) count(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func (d *delivery) stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	posted, dropped := d.queue.counts()
	s := Stats{
		Sink: d.name, Posted: posted, Delivered: d.delivered, Dropped: dropped, Rejected: d.rejected, Lost: d.lost,
		Failures: d.failures, Err: d.err, Room: uint64(d.queue.room()),
	}
	s.Waiting = posted - dropped - s.Delivered - s.Rejected - s.Lost
	return s
}
