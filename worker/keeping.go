package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
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
	writePatience  = 10 * time.Second // of keeping
	tidyEvery      = time.Hour
	lookEvery      = time.Minute // whether the database's file has its name
)

// keeping keeps executions with the outputs of scripts and calls. It is an observer of the scheduler.
type keeping struct {
	store *sqlite.Store
	bus   *history.Bus
	*observe.Observer
	keep    time.Duration
	perItem int   // outputs of one item
	size    int64 // of all outputs
	log     *slog.Logger
	path    string
	file    os.FileInfo // of what is written to
	gone    bool        // it had no longer its name when that was looked at last

	patience time.Duration // for one output, and for what is to be written at the end

	outputs chan history.Output // as many as may wait
	written chan struct{}       // closed when the last one is

	mu   sync.Mutex
	last map[itemOf]wrote // what items wrote whose executions have not ended yet
}

// wrote is what the code of an item wrote in all attempts of an execution. One that was given up may tell of it too
// late.
type wrote struct {
	token    int64
	fire     time.Time
	attempts int
	bytes    int64
	ends     *output.Ends // of the only attempt, or of all that are there so far
}

// of tells whether w is of the execution of sc.
func (w wrote) of(sc job.ShardingContext) bool { return w.token == sc.Token && w.fire.Equal(sc.Fire) }

// after tells whether w is of a later execution of the item than sc. Tokens grow; of executions without one, fires tell.
func (w wrote) after(sc job.ShardingContext) bool {
	if w.token != 0 && sc.Token != 0 {
		return w.token > sc.Token
	}
	return w.fire.After(sc.Fire)
}

// and adds what one more attempt wrote. All together need no more room than one.
func (w wrote) and(ends *output.Ends) wrote {
	w.attempts++
	w.bytes += ends.Bytes()
	switch w.attempts {
	case 1:
		w.ends = ends
		return w
	case 2:
		first := w.ends
		w.ends = first.Like()
		w.add(1, first)
	}
	w.add(w.attempts, ends)
	return w
}

func (w wrote) add(attempt int, ends *output.Ends) {
	text := ends.String()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, _ = fmt.Fprintf(w.ends, "--- attempt %d ---\n%s", attempt, text) // it never fails
}

// hearing is told of the output of each attempt of an item's code when that has ended, also if there is none.
type hearing func(job.ShardingContext, *output.Ends)

// itemOf names an item: at any time, at most one execution of it is here.
type itemOf struct {
	job  string
	item int
}

var _ scheduler.Observer = (*keeping)(nil)

func openHistory(ctx context.Context, h History, patience time.Duration, log *slog.Logger) (*keeping, error) {
	if err := os.MkdirAll(filepath.Dir(h.File), 0o700); err != nil { // outputs may hold secrets
		return nil, &FieldError{Field: "history.file", Value: h.File, Reason: "must be in a folder that is there or can be made", Err: err}
	}
	store, err := sqlite.Open(ctx, h.File, sqlstore.WithLogger(log))
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(h.File)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	bus, err := history.NewBus(history.WithSink("history", store), history.WithLogger(log))
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	bus.Start()
	k := &keeping{
		store: store, bus: bus, Observer: observe.New(bus), keep: time.Duration(h.Keep), perItem: h.Outputs, size: int64(h.Size), log: log, patience: patience,
		path: h.File, file: info,
		outputs: make(chan history.Output, waitingOutputs), written: make(chan struct{}), last: make(map[itemOf]wrote),
	}
	go k.write() //nolint:contextcheck // what is kept is written after Run was told to end, too
	return k, nil
}

// heard takes up an output, to which nothing is written any more.
func (k *keeping) heard(sc job.ShardingContext, ends *output.Ends) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := itemOf{sc.JobName, sc.Item}
	last := k.last[of]
	switch {
	case last.after(sc):
		return
	case !last.of(sc):
		if last.bytes > 0 {
			k.log.Warn(notKept, "job", of.job, "item", of.item, "error", "the item has run again before the end was told")
		}
		last = wrote{token: sc.Token, fire: sc.Fire}
	}
	k.last[of] = last.and(ends)
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
	if !last.after(e.Context) { // else the end is told late, and the next execution has already written
		delete(k.last, of)
	}
	k.mu.Unlock()
	if last.bytes == 0 || !last.of(e.Context) {
		return
	}
	started := history.Started("", e.Round, e.Context, e.Began)
	select {
	case k.outputs <- history.Output{
		ID: started.ID, Job: started.Job, Item: started.Item, Token: started.Token, Start: e.Began, Bytes: last.bytes, Text: last.ends.String(),
	}:
	default:
		k.log.Warn(notKept, "job", of.job, "item", of.item, "error", "the database is too slow")
	}
}

const notKept = "an output is not kept in the history"

// boundEvery is how often all outputs are measured: each time that a fraction of their bound was written, as that takes
// longer than to write one.
const boundEvery = 64

func (k *keeping) write() {
	defer close(k.written)
	k.bound() // it may be lower than it was
	var since int64
	for o := range k.outputs {
		ctx, cancel := context.WithTimeout(context.Background(), k.patience)
		if err := k.store.KeepOutput(ctx, o, k.perItem); err != nil {
			k.log.Warn(notKept, "job", o.Job, "item", o.Item, "error", err)
		}
		cancel()
		if since += int64(len(o.Text)) + sqlite.OutputOverhead; since > k.size/boundEvery {
			k.bound()
			since = 0
		}
	}
}

// bound deletes the oldest outputs until all are within their bound.
func (k *keeping) bound() {
	ctx, cancel := context.WithTimeout(context.Background(), k.patience)
	defer cancel()
	deleted, err := k.store.DeleteOutputsBeyond(ctx, k.size)
	switch {
	case err != nil:
		k.log.WarnContext(ctx, notDeleted, "error", err)
	case deleted > 0:
		k.log.InfoContext(ctx, "the oldest outputs were deleted: all together had more than history.size", "outputs", deleted, "size", k.size)
	}
}

const notDeleted = "old outputs could not be deleted, will try again"

// look tells that the file was deleted, renamed or replaced: the store refuses what is to be kept until the very file is back,
// and what cannot wait is lost.
func (k *keeping) look(ctx context.Context) {
	now, err := os.Stat(k.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // so nobody knows
		return
	}
	gone := err != nil || !os.SameFile(now, k.file)
	if gone && !k.gone {
		k.log.ErrorContext(ctx, "the file of the history was taken away, and what is kept since is lost: restart the worker", "file", k.path)
	}
	k.gone = gone
}

// watch looks after the file, until ctx ends.
func (k *keeping) watch(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			k.look(ctx)
		}
	}
}

// Retain deletes what is older than is to be kept, and looks after the file, until ctx ends.
func (k *keeping) Retain(ctx context.Context) {
	var group sync.WaitGroup
	group.Go(func() { _ = k.store.Retain(ctx, k.keep, tidyEvery) }) // its arguments are allowed
	group.Go(func() { k.watch(ctx) })
	defer group.Wait()
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		before, err := k.store.Keeps(ctx, k.keep)
		if err == nil {
			_, err = k.store.DeleteOutputsBefore(ctx, before)
		}
		if err != nil && ctx.Err() == nil {
			k.log.WarnContext(ctx, notDeleted, "error", err)
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
	ctx, cancel := context.WithTimeout(context.Background(), k.patience)
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
