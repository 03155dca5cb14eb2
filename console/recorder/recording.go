package recorder

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/registry"
)

const (
	// many changes at once are posted as there is room for them.
	many = 100
	// roomEvery is how often it is looked for room. A sink takes a batch or some in the meantime, of the half of a buffer.
	roomEvery = 20 * time.Millisecond
	// patience is how long a sink that takes nothing holds up the others. One that is merely slow has taken a batch by then, or has
	// failed to.
	patience = 30 * time.Second
)

// recording posts what a view tells.
type recording struct {
	to    Poster
	stats func() []history.Stats // of the sinks; nil: nobody tells how much room they have

	begun    bool // the first state was told; only the view's goroutine looks
	underWay atomic.Bool
	ctx      context.Context //nolint:containedctx // until stop
	cancel   context.CancelFunc
	posting  sync.WaitGroup
	held     map[string]hold // by sink; only the goroutine that posts slowly looks
}

// hold is for how many looks a sink has held up others, and what it had taken by then.
type hold struct {
	looks int
	taken uint64
}

func newRecording(to Poster) *recording {
	r := &recording{to: to, held: make(map[string]hold)}
	if bus, is := to.(interface{ Stats() []history.Stats }); is {
		r.stats = bus.Stats
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// stop returns when nothing is posted any more. The view has ended.
func (r *recording) stop() {
	r.cancel()
	r.posting.Wait()
}

// take posts what a step tells. It does not wait: what may have to, goes on beside it. Of such steps only one at a time, since
// each holds what it has to tell for as long as a sink takes nothing.
func (r *recording) take(step registry.Step) {
	large := !r.begun || len(step.Changes) > many
	r.begun = true
	if !large || r.stats == nil || !r.underWay.CompareAndSwap(false, true) {
		for _, c := range step.Changes {
			for _, e := range executions(c) {
				r.to.Post(e)
			}
		}
		return
	}
	r.posting.Go(func() {
		defer r.underWay.Store(false)
		r.postSlowly(step.Changes)
	})
}

// postSlowly posts as there is room, and leaves half of it to what else happens.
func (r *recording) postSlowly(changes []registry.Change) {
	pause := time.NewTicker(roomEvery)
	defer pause.Stop()
	for _, c := range changes {
		for _, e := range executions(c) {
			for !r.roomy() {
				select {
				case <-pause.C:
				case <-r.ctx.Done():
				}
				if r.ctx.Err() != nil {
					return
				}
			}
			r.to.Post(e)
		}
	}
}

// roomy tells whether each sink's buffer is not even half full, but for those that have taken nothing for long: others go on
// without them. As long as there is no other one, nothing is lost by waiting.
func (r *recording) roomy() bool {
	stats := r.stats()
	full := slices.DeleteFunc(slices.Clone(stats), func(s history.Stats) bool { return s.Room > s.Waiting })
	if len(full) > 0 && len(full) == len(stats) {
		return false
	}
	roomy := true
	for _, s := range full {
		h, taken := r.held[s.Sink], s.Delivered+s.Rejected
		if h.taken != taken {
			h = hold{taken: taken}
		}
		h.looks++
		r.held[s.Sink] = h
		roomy = roomy && h.looks > int(patience/roomEvery)
	}
	return roomy
}
