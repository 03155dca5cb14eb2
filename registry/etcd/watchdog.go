package etcd

import (
	"context"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/repeats"
)

const (
	// A stream of watches that brought nothing for a while is asked for a sign of life, and opened
	// again if none comes: a frozen member, or a connection that went dead without a word, would
	// otherwise be noticed by gRPC after 13 s only. A member that is silent to other calls, too, has no more time than
	// until then. The new stream may come to the same member: until it has given a first sign, it has no more time than a request.
	maxIdle    = 2 * time.Second
	maxSilence = 5 * time.Second
	// lookEvery is how often silence is looked for, and asked about once it is long.
	lookEvery = maxIdle / 2
)

// watchdog looks after the watches until the handle ends: it has them confirm revisions that somebody
// waits for, and breaks streams that died without a word.
func (h *hub) watchdog() {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	due := time.NewTimer(maxIdle)
	defer due.Stop()
	for {
		select {
		case <-h.wake:
		case <-due.C:
		case <-look.C:
			h.checkActivity()
			continue
		case <-h.r.life.Done():
			return
		}
		if next := h.pollProgress(); next.IsZero() {
			due.Stop()
		} else {
			due.Reset(time.Until(next))
		}
	}
}

// pollProgress asks the store how far the watches are, if that is due, and returns when it is due next; zero = nobody waits.
func (h *hub) pollProgress() (next time.Time) {
	ask, stalled, next := h.lagging(time.Now())
	if ask {
		h.requestProgress()
		h.rereadLagging(stalled)
	}
	return next
}

// requestProgress has the server say on all watches how far they are.
func (h *hub) requestProgress() {
	h.mu.Lock()
	stream, any := h.r.stream.Load(), len(h.watches) > 0
	h.mu.Unlock()
	if !any {
		return
	}
	ctx, cancel := context.WithTimeout(streamContext(h.r.life, stream), maxProgressPause)
	defer cancel()
	if err := h.r.watcher.RequestProgress(ctx); err != nil {
		h.r.log.Debug("watches do not say how far they are", slog.Any("error", err))
	}
}

// rereadLagging is how a view reaches a revision although its watch does not: a server that is catching
// up with a burst answers no questions.
func (h *hub) rereadLagging(stalled []*follower) {
	for _, f := range stalled {
		ctx, cancel := context.WithTimeout(h.r.life, h.r.config.RequestTimeout)
		fresh, err := h.r.fresh(ctx, f)
		cancel()
		if err != nil {
			return
		}
		f.hold()
		f.release(fresh)
	}
}

// checkActivity breaks the stream of the watches if it has been silent, also when asked. Nobody needs to hear of it if the
// store answers nothing because nobody writes: watches that start again start where the store is. If it does not answer then
// either, it is not that.
func (h *hub) checkActivity() {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch silence := time.Since(h.lastActivity); {
	case len(h.watches) == 0:
	case silence > h.silenceLimit():
		h.tellSilence(silence)
		h.silentStreams++
		h.changeStream()
	case silence > maxIdle+lookEvery && !h.quiet && h.r.ahead.Load() != 0:
		h.quiet = true
		h.changeStream()
	case silence > maxIdle:
		h.mu.Unlock()
		h.requestProgress()
		h.mu.Lock()
	}
}

// tellSilence reports that the stream of the watches is given up: one cause, however often that happens while a member is away.
func (h *hub) tellSilence(silence time.Duration) {
	var attrs []any
	if with := h.r.watched.Load(); with != nil {
		attrs = append(attrs, slog.String("endpoint", with.address))
	}
	h.r.repeats.Tell(repeats.Line{
		Level: slog.LevelWarn, Message: "watches were silent and are started again", Attrs: append(attrs, slog.Duration("silence", silence)),
	})
}

// changeStream has all watches go over to a new stream. The caller holds mu.
func (h *hub) changeStream() {
	h.r.stream.Add(1)
	h.r.ahead.Store(0)
	h.r.watched.Store(nil)
	h.lastActivity = time.Now()
	for w := range h.watches {
		w.restart()
	}
}

// silenceLimit is how long the stream of the watches may be silent. The caller holds mu.
func (h *hub) silenceLimit() time.Duration {
	if h.silentStreams == 0 {
		if with := h.r.watched.Load(); with != nil && h.r.members.isSilent(with) && h.r.members.anyAnswers() {
			return maxIdle
		}
		return maxSilence
	}
	return min(maxSilence, h.r.config.RequestTimeout<<min(h.silentStreams-1, maxDoublings))
}
