package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/observe"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/worker/internal/output"
)

const (
	waitingOutputs = 256              // that may wait for the database; more are lost
	writePatience  = 10 * time.Second // for one output, and for what is to be written at the end
	tidyEvery      = time.Hour
)

// keeping keeps executions with the outputs of scripts and calls. It is an observer of the scheduler.
type keeping struct {
	store *sqlite.Store
	bus   *history.Bus
	*observe.Observer
	keep    time.Duration
	perItem int // outputs of one item
	log     *slog.Logger

	outputs chan history.Output // as many as may wait
	written chan struct{}       // closed when the last one is

	mu   sync.Mutex
	last map[itemOf]wrote // what items wrote that have not ended yet
}

// wrote is what the code of an item wrote, under a token: one that was given up may tell of it too late.
type wrote struct {
	token int64
	ends  *output.Ends
}

// hearing is told of the output of an item's code when that has ended, if there is any.
type hearing func(job.ShardingContext, *output.Ends)

// itemOf names an item: at any time, at most one execution of it is here.
type itemOf struct {
	job  string
	item int
}

var _ scheduler.Observer = (*keeping)(nil)

func openHistory(ctx context.Context, h History, log *slog.Logger) (*keeping, error) {
	store, err := sqlite.Open(ctx, h.File, sqlstore.WithLogger(log))
	if err != nil {
		return nil, err
	}
	bus, err := history.NewBus(history.WithSink("history", store), history.WithLogger(log))
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	bus.Start()
	k := &keeping{
		store: store, bus: bus, Observer: observe.New(bus), keep: time.Duration(h.Keep), perItem: h.Outputs, log: log,
		outputs: make(chan history.Output, waitingOutputs), written: make(chan struct{}), last: make(map[itemOf]wrote),
	}
	go k.write() //nolint:contextcheck // what is kept is written after Run was told to end, too
	return k, nil
}

// heard takes up an output, to which nothing is written any more.
func (k *keeping) heard(sc job.ShardingContext, ends *output.Ends) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last[itemOf{sc.JobName, sc.Item}] = wrote{sc.Token, ends}
}

// Observe posts what [observe.Observer] does, and the output of an execution that has ended.
func (k *keeping) Observe(event scheduler.Event) {
	k.Observer.Observe(event)
	e, is := event.(scheduler.ItemEvent)
	if !is || !e.Over() {
		return
	}
	of := itemOf{e.Context.JobName, e.Context.Item}
	k.mu.Lock()
	last := k.last[of]
	delete(k.last, of)
	k.mu.Unlock()
	if last.ends == nil || last.token != e.Context.Token {
		return
	}
	started := history.Started("", e.Round, e.Context, e.Began)
	select {
	case k.outputs <- history.Output{
		ID: started.ID, Job: started.Job, Item: started.Item, Token: started.Token, Start: e.Began, Bytes: last.ends.Bytes(), Text: last.ends.String(),
	}:
	default:
		k.log.Warn(notKept, "job", of.job, "item", of.item, "error", "the database is too slow")
	}
}

const notKept = "an output is not kept in the history"

func (k *keeping) write() {
	defer close(k.written)
	for o := range k.outputs {
		ctx, cancel := context.WithTimeout(context.Background(), writePatience)
		if err := k.store.KeepOutput(ctx, o, k.perItem); err != nil {
			k.log.Warn(notKept, "job", o.Job, "item", o.Item, "error", err)
		}
		cancel()
	}
}

// Retain deletes what is older than is to be kept, until ctx ends.
func (k *keeping) Retain(ctx context.Context) {
	var group sync.WaitGroup
	group.Go(func() { _ = k.store.Retain(ctx, k.keep, tidyEvery) }) // its arguments are allowed
	defer group.Wait()
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		if _, err := k.store.DeleteOutputsBefore(ctx, time.Now().Add(-k.keep)); err != nil && ctx.Err() == nil {
			k.log.WarnContext(ctx, "old outputs could not be deleted, will try again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// close writes what is left, for some seconds. The scheduler has returned.
func (k *keeping) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), writePatience)
	defer cancel()
	close(k.outputs)
	err := k.bus.Close(ctx)
	select {
	case <-k.written:
	case <-ctx.Done():
		err = errors.Join(err, errors.New("outputs are not written to the history"))
	}
	return errors.Join(err, k.store.Close())
}
