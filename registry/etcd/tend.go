package etcd

import (
	"context"
	"log/slog"
	"time"
)

const (
	// firstAsk is how long to wait for a watch to bring a wanted revision by itself before asking.
	firstAsk = time.Millisecond
	longAsk  = 100 * time.Millisecond
	// tooLong is when a view that somebody waits for is read afresh instead.
	tooLong = 400 * time.Millisecond
	// A stream of watches that brought nothing for a while is asked for a sign of life, and opened
	// again if none comes: a frozen member, or a connection that went dead without a word, would
	// otherwise be noticed by gRPC after 13 s only. The new one may come to the same member: until it has
	// given a first sign, it has no more time than a request.
	quiet = 2 * time.Second
	dead  = 5 * time.Second
)

// tend looks after the watches until the handle ends: it has them confirm revisions that somebody
// waits for, and breaks streams that died without a word.
func (h *hub) tend() {
	look := time.NewTicker(quiet / 2)
	defer look.Stop()
	for {
		select {
		case <-h.poke:
			h.chase()
		case <-look.C:
			h.listen()
		case <-h.r.life.Done():
			return
		}
	}
}

// chase asks the store how far the watches are until nobody waits any more: soon after somebody
// began to wait, and then ever less often.
func (h *hub) chase() {
	pause := firstAsk
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-h.poke:
			if pause > firstAsk {
				pause = firstAsk
				timer.Reset(pause)
			}
			continue
		case <-timer.C:
		case <-h.r.life.Done():
			return
		}
		stuck, behind := h.behind()
		if behind == 0 {
			return
		}
		h.ask()
		h.readAfresh(stuck)
		pause = min(2*pause, longAsk)
		timer.Reset(pause)
	}
}

// behind returns how many followers have not reached what is wanted of them, and which of them have
// not for too long. It forgets the others.
func (h *hub) behind() (stuck []*follower, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f, since := range h.waiting {
		switch {
		case f.reached() >= f.wanted:
			delete(h.waiting, f)
			continue
		case time.Since(since) > tooLong:
			stuck = append(stuck, f)
		}
		n++
	}
	return stuck, n
}

// ask has the server say on all watches how far they are.
func (h *hub) ask() {
	h.mu.Lock()
	stream, any := h.stream, len(h.watches) > 0
	h.mu.Unlock()
	if !any {
		return
	}
	ctx, cancel := context.WithTimeout(streamContext(h.r.life, stream), longAsk)
	defer cancel()
	if err := h.r.client.RequestProgress(ctx); err != nil {
		h.r.log.Debug("watches do not say how far they are", slog.Any("error", err))
	}
}

// readAfresh is how a view reaches a revision although its watch does not: a server that is catching
// up with a burst answers no questions.
func (h *hub) readAfresh(stuck []*follower) {
	for _, f := range stuck {
		ctx, cancel := context.WithTimeout(h.r.life, h.r.config.RequestTimeout)
		fresh, err := h.r.snapshot(ctx, f.root)
		cancel()
		if err != nil {
			return
		}
		f.hold()
		f.release(fresh)
	}
}

// listen breaks the stream of the watches if it has been silent, also when asked.
func (h *hub) listen() {
	h.mu.Lock()
	silence, any := time.Since(h.heard), len(h.watches) > 0
	if any && silence > h.bearable() {
		h.r.log.Warn("watches were silent and are started again", slog.Duration("silence", silence))
		h.stream++
		h.mute++
		h.heard = time.Now()
		for w := range h.watches {
			w.restart()
		}
	}
	h.mu.Unlock()
	if any && silence > quiet {
		h.ask()
	}
}

// bearable is how long the stream of the watches may be silent. The caller holds mu.
func (h *hub) bearable() time.Duration {
	if h.mute == 0 {
		return dead
	}
	return min(dead, h.r.config.RequestTimeout<<min(h.mute-1, doublings))
}
