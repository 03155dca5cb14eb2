package etcd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// watch follows one range of keys for all views within it. It starts where a read ended, goes on
// after a broken connection where it had got to, and after a compaction with fresh copies.
type watch struct {
	h    *hub
	root string
	keys keyRange
	part bool            // it brings a part of what its views show
	ctx  context.Context // ends when nobody needs the watch any more
	stop context.CancelFunc

	// Guarded by the hub's mutex.
	after     int64 // everything up to this revision was brought
	followers map[string]map[*follower]bool
	restart   context.CancelFunc // breaks the present stream
	came      arrivals           // empty but while a response is sorted
	over      error              // why it brings nothing any more; nil while it does
	tried     bool
	known     int64 // the revision up to which everything was brought before the last try
}

func newWatch(h *hub, root string, keys keyRange, after int64) *watch {
	ctx, stop := context.WithCancel(h.r.life)
	return &watch{
		h: h, root: root, keys: keys, ctx: ctx, stop: stop, after: after, restart: func() {},
		followers: make(map[string]map[*follower]bool),
	}
}

func (w *watch) add(f *follower) {
	if w.followers[f.root] == nil {
		w.followers[f.root] = make(map[*follower]bool)
	}
	w.followers[f.root][f] = true
	f.watches = append(f.watches, w)
}

func (w *watch) remove(f *follower) {
	delete(w.followers[f.root], f)
	if len(w.followers[f.root]) == 0 {
		delete(w.followers, f.root)
	}
}

func (w *watch) empty() bool { return len(w.followers) == 0 }

func (w *watch) all() iter.Seq[*follower] {
	return func(yield func(*follower) bool) {
		for _, fs := range w.followers {
			for f := range fs {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// run watches until nobody needs it.
func (w *watch) run() {
	defer w.stop()
	retry := retryPolicy{}
	for w.ctx.Err() == nil {
		number, received, err := w.stream()
		switch {
		case w.ctx.Err() != nil:
			return
		case errors.Is(err, rpctypes.ErrCompacted):
			w.h.r.log.Info("watch starts afresh after a compaction", slog.String("path", w.root))
			if !w.refresh() {
				return
			}
			continue
		case errors.Is(err, errWatchSilent): // a question could meet the same silence
			continue
		case errors.Is(refusal(err), registry.ErrDenied):
			w.endAll(w.h.r.explain(registry.OpView, w.root, refusal(err)))
			return
		}
		if received {
			retry.failed = 0
		} else if denied := w.denied(); denied != nil {
			w.endAll(w.h.r.explain(registry.OpView, w.root, denied))
			return
		} else if outdated(err) {
			w.h.leaveStream(number)
		}
		retry.noteFailure(err)
		w.h.r.log.Debug("watch is repeated", slog.String("path", w.root), slog.Any("error", err))
		remote.Sleep(w.ctx, retry.backoff())
	}
}

// denied asks whether the range may be read, which is what a watch of it takes, and returns the refusal. A
// watch that begins without the permission is just closed by the client, which does not say why.
func (w *watch) denied() error {
	err := within(w.ctx, w.h.r.config.RequestTimeout, func(ctx context.Context) error {
		_, err := w.h.r.client.Get(ctx, w.keys.start, clientv3.WithRange(w.keys.end), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		return err
	})
	if refused := refusal(err); errors.Is(refused, registry.ErrDenied) {
		return refused
	}
	return nil
}

var errWatchSilent = errors.New("the watch was silent")

// stream watches until the watch breaks, and tells why, over which stream it went, and whether it brought anything before. A
// member without a leader ends it, so that it goes to one that is part of the majority.
//
// A watch that nobody needs any more before the store has confirmed it is ended when it is confirmed: etcd's client cannot tell
// the store to end a watch whose number it does not know yet, and the store would keep it for as long as the stream lasts.
func (w *watch) stream() (number int64, received bool, err error) {
	ctx, cancel, number, start := w.begin()
	defer cancel()
	created := make(chan struct{})
	defer context.AfterFunc(w.ctx, func() {
		defer cancel()
		patience := time.NewTimer(maxSilence)
		defer patience.Stop()
		select {
		case <-created:
		case <-patience.C: // as long as a stream may be silent
		case <-ctx.Done():
		}
	})()
	channel := w.h.r.watcher.Watch(ctx, w.keys.start, clientv3.WithRange(w.keys.end), clientv3.WithRev(start), clientv3.WithFragment(), clientv3.WithCreatedNotify())
	close(created)
	for resp := range channel {
		if w.ctx.Err() != nil { // its views may follow another by now
			break
		}
		if err := resp.Err(); err != nil {
			return number, received, err
		}
		received = received || !resp.Created
		w.dispatch(resp)
	}
	if ctx.Err() != nil {
		return number, received, errWatchSilent
	}
	return number, received, errors.New("the stream of the watch broke")
}

// begin prepares a try: its context, which names the stream that the watches of the hub share, the number of that, and
// the revision to start from. The context ends with the handle, and not with the watch; see stream. etcd brings at once what
// happens to a watch whose start is yet to come, and a tenth of a second later to another; but it answers no question on the
// stream before that start. So the first try starts with what is next, and a later one with what was there last.
func (w *watch) begin() (ctx context.Context, cancel context.CancelFunc, number, start int64) {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	number = w.h.r.stream.Load()
	ctx, cancel = context.WithCancel(streamContext(w.h.r.life, number))
	if start = w.after; !w.tried {
		start++
	}
	w.restart, w.known, w.tried = cancel, w.after, true
	return ctx, cancel, number, start
}

// streamContext marks a context so that the client sends its watches over the stream of that number.
func streamContext(ctx context.Context, number int64) context.Context {
	ctx = metadata.AppendToOutgoingContext(ctx, streamKey, fmt.Sprint(number))
	return clientv3.WithRequireLeader(ctx)
}

const streamKey = "elasticron-stream"

// streamNumber returns the number of the stream that a context names.
func streamNumber(ctx context.Context) (number int64, known bool) {
	marks, _ := metadata.FromOutgoingContext(ctx)
	for _, mark := range marks.Get(streamKey) {
		n, err := strconv.ParseInt(mark, 10, 64)
		number, known = n, err == nil
	}
	return number, known
}

// refresh brings all views of the watch up to date by fresh copies, and lets the watch start where the store was before:
// views that join meanwhile read their first copy later than that, and nothing may be missing behind it. It is false if the
// watch is over.
func (w *watch) refresh() bool {
	start, err := w.h.r.revision(w.ctx)
	if err != nil {
		if w.ctx.Err() == nil { // access was withdrawn
			w.endAll(w.h.r.explain(registry.OpView, w.root, err))
		}
		return false
	}
	w.h.mu.Lock()
	w.after = max(w.after, start)
	all := slices.Collect(w.all())
	for _, f := range all {
		f.hold()
	}
	w.h.mu.Unlock()
	w.renew(all)
	return true
}

// renew brings held followers up to date and lets them go on. Few are read one by one, many by one read of all that the watch
// covers.
func (w *watch) renew(held []*follower) {
	if len(held) > maxNarrowWatches {
		whole, err := w.h.r.snapshot(w.ctx, w.root)
		for _, f := range held {
			w.renewed(f, registry.NewSnapshot(whole.Revision(), slices.Collect(whole.Below(f.root))), err)
		}
		return
	}
	for _, f := range held {
		own, err := w.h.r.fresh(w.ctx, f)
		w.renewed(f, own, err)
	}
}

func (w *watch) renewed(f *follower, fresh registry.Snapshot, err error) {
	switch {
	case err == nil:
		f.release(fresh)
		return
	case w.ctx.Err() != nil && w.h.r.life.Err() == nil: // the follower has left, or follows a watch that has taken over
	default: // the handle ended, or access was withdrawn
		f.end(err)
	}
	f.unhold()
}

// endAll ends the views of a watch that brings nothing any more, also those that are about to start. Nobody joins it later.
func (w *watch) endAll(reason error) {
	w.h.mu.Lock()
	w.over = reason
	if w.h.watches[w] {
		if delete(w.h.watches, w); w.part {
			w.h.parts--
		}
	}
	all := slices.Collect(w.all())
	w.h.mu.Unlock()
	for _, f := range all {
		f.end(reason)
	}
}
