package turns

import (
	"context"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// Gate lets only so many through at a time, in the order of their turns. Its methods are safe for
// concurrent use.
type Gate struct {
	mu      sync.Mutex
	free    int
	waiting Line[*entrant]
}

// entrant is one who waits. Its channel is closed when it is let through.
type entrant struct {
	through chan struct{}
	gone    bool // it waits no more
}

// NewGate makes a gate that lets so many through at a time.
func NewGate(n int) *Gate { return &Gate{free: n} }

// Enter waits for the turn. The error is [registry.ErrNotSent] if the turn was over before, or the cause of
// the context's end. Without an error, Leave must follow.
func (g *Gate) Enter(ctx context.Context, turn registry.Turn) error {
	e, err := g.join(ctx, turn)
	if e == nil {
		return err
	}
	over, stop := After(turn)
	defer stop()
	select {
	case <-e.through:
		return nil
	case <-over:
		err = registry.ErrNotSent
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-e.through: // in the same moment
		return nil
	default:
		e.gone = true
		g.waiting.Leave(func(e *entrant) bool { return e.gone })
		return err
	}
}

// join lets the caller through at once, or has it wait as the entrant that it returns.
func (g *Gate) join(ctx context.Context, turn registry.Turn) (*entrant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case turn.Over(time.Now()):
		return nil, registry.ErrNotSent
	case g.free > 0:
		g.free--
		return nil, nil
	}
	e := &entrant{through: make(chan struct{})}
	g.waiting.Add(turn, e)
	return e, nil
}

// Leave lets the next one through.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		e, ok := g.waiting.Take()
		if !ok {
			g.free++
			return
		}
		if !e.gone {
			close(e.through)
			return
		}
	}
}

// After returns a channel that tells when a turn is over, nil if it never is, and what ends the waiting.
func After(turn registry.Turn) (<-chan time.Time, func()) {
	if turn.Until.IsZero() {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(turn.Until))
	return timer.C, func() { timer.Stop() }
}
