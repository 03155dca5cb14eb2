// Package patience carries with the context of a declaration how long its registry has to answer, to where that is first asked:
// before that, the declaration waits for the job's own code, whose time is another one.
package patience

import (
	"context"
	"sync/atomic"
	"time"
)

// Patience is how long a registry has to answer one declaration.
type Patience struct {
	time time.Duration
	over atomic.Bool
}

// New returns a patience of that long.
func New(d time.Duration) *Patience { return &Patience{time: d} }

type key struct{}

// Within returns a context whose [Begin] begins the patience.
func (p *Patience) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, p)
}

// Over tells whether it was over before the declaration and its context were.
func (p *Patience) Over() bool { return p.over.Load() }

// Begin returns a context that ends when the patience is over that ctx has, if it has one. The caller calls end when the
// declaration is over.
func Begin(ctx context.Context) (bounded context.Context, end func()) {
	p, is := ctx.Value(key{}).(*Patience)
	if !is {
		return ctx, func() {}
	}
	bounded, cancel := context.WithTimeout(ctx, p.time)
	return bounded, func() {
		p.over.Store(bounded.Err() != nil && ctx.Err() == nil)
		cancel()
	}
}
