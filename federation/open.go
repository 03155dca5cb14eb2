package federation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/registry"
)

// openGrace is how long a call of [Registry.Open] has to return when its context has ended. Its error says more than that it
// has not returned.
const openGrace = time.Second

// errOpening: Open ignores the end of its context.
var errOpening = errors.New("its Open has not returned")

// openCall is a call of [Registry.Open]. It has the answer when there is one, which belongs to whoever takes it out.
type openCall chan openAnswer

type openAnswer struct {
	reg registry.Registry
	err error
}

// opened calls open, and waits for it for as long as it may take. If a former call has not returned, it waits for that: what it
// connects to is as good, and whoever blocks would block again.
func (m *member) opened(ctx context.Context) (registry.Registry, error) {
	ctx, cancel := context.WithTimeout(ctx, m.f.patience)
	defer cancel()
	for {
		call, former := m.calling(ctx)
		answer, err := call.wait(ctx)
		if err != nil {
			if m.failed != nil {
				err = fmt.Errorf("%w; an earlier call failed: %w", err, m.failed)
			}
			return nil, err
		}
		m.mu.Lock()
		m.call = nil
		m.mu.Unlock()
		m.failed = answer.err
		if !former || answer.err == nil {
			return answer.reg, answer.err
		}
	}
}

// calling returns the call that is under way, or begins one. The caller may open, as only one may at a time.
func (m *member) calling(ctx context.Context) (call openCall, former bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.call != nil {
		return m.call, true
	}
	call = make(openCall, 1)
	m.call = call
	var reg registry.Registry
	protect.Go(func() (err error) {
		reg, err = m.open(ctx)
		return err
	}, func(err error) {
		call <- openAnswer{reg, err}
		m.mu.Lock()
		over := m.over
		m.mu.Unlock()
		if over {
			_ = call.discard(context.WithoutCancel(ctx))
		}
	})
	return call, false
}

// wait waits for the answer until ctx ends, and a little beyond that.
func (c openCall) wait(ctx context.Context) (openAnswer, error) {
	select {
	case answer := <-c:
		return answer, nil
	case <-ctx.Done():
	}
	select {
	case answer := <-c:
		return answer, nil
	case <-time.After(openGrace):
		return openAnswer{}, fmt.Errorf("%w: %w", errOpening, context.Cause(ctx))
	}
}

// discard closes what has been opened and nobody has taken. The error is that nothing has been yet, or that of closing.
func (c openCall) discard(ctx context.Context) error {
	select {
	case answer := <-c:
		if answer.err != nil || answer.reg == nil {
			return nil
		}
		return answer.reg.Close(ctx)
	default:
		return errOpening
	}
}
