package notify

import (
	"context"
	"time"
)

// carrying is a context that ends as it did before an observer put something in, with the values of both. What the observer
// has made may be of another context, or have an end of its own: that is not what an item's code is to stop for.
type carrying struct {
	context.Context                 // the item's own
	carried         context.Context // what the observer made of it
}

// carry returns ctx with the values of what was made of it. What ends with ctx and nothing else, and says why as ctx does,
// is made of it, and stays.
func carry(ctx, made context.Context) context.Context {
	if ends := ctx.Done(); ends != nil && ends == made.Done() && made.Value(cancels) == ctx.Value(cancels) {
		return made
	}
	return carrying{ctx, made}
}

// Value returns what the observer put in, or what was there. Who cancels, only the item's own context can tell.
func (c carrying) Value(key any) any {
	if key != cancels {
		if value := c.carried.Value(key); value != nil {
			return value
		}
	}
	return c.Context.Value(key)
}

// cancels is the key by which package context looks for what cancels a context, to give its cause and to be told of its end.
// The package has no name for it. It is asked of every context that has ended, so any tells.
var cancels = func() any {
	var asked asked
	_ = context.Cause(&asked)
	return asked.key
}()

// asked is a context that notes for what value it was asked.
type asked struct{ key any }

func (*asked) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (*asked) Done() <-chan struct{}                   { return nil }
func (*asked) Err() error                              { return context.Canceled }

func (a *asked) Value(key any) any {
	a.key = key
	return nil
}
