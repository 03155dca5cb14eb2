package notify

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// Notices calls the process's listeners apart from what happens: nothing waits for them. They are
// called one after the other, so a slow one delays the news of all, each call for the listeners' timeout
// at most.
type Notices struct {
	listeners *Listeners
	box       actor.Mailbox
	ctx       context.Context // of the calls
	last      context.Context // ends when nobody waits for them any more
	end       context.CancelCauseFunc
	endLast   context.CancelCauseFunc
}

// Begin makes the contexts of the calls, which outlive the work: what happens last is worth telling, too.
// start starts a goroutine that the scheduler waits for.
func (n *Notices) Begin(ctx context.Context, listeners *Listeners, start func(func())) {
	n.listeners = listeners
	n.box = actor.Mailbox{Of: actor.Plain(start)}
	n.ctx, n.end = context.WithCancelCause(context.WithoutCancel(ctx))
	n.last, n.endLast = context.WithCancelCause(context.WithoutCancel(ctx))
}

// Close gives the calls a last moment, and another one after their contexts have ended, both within the
// bound of the stop, with what observers need of it left. release frees what that takes.
func (n *Notices) Close() (release func()) {
	c := n.listeners.Curfew
	ends := time.AfterFunc(min(stopping.LastWords, c.Moment(2*stopping.LastWords)), func() { n.end(stopping.ErrStopped) })
	lasts := time.AfterFunc(min(2*stopping.LastWords, c.Moment(3*stopping.LastWords-stopping.LastNews)), func() { n.endLast(stopping.ErrStopped) })
	return func() {
		ends.Stop()
		lasts.Stop()
		n.end(nil)
		n.endLast(nil)
	}
}

// Post queues a call of a listener behind those before it.
func (n *Notices) Post(l Listener, code func(context.Context) error) {
	n.box.Post(func() { n.listeners.call(n.ctx, n.last, l, code) })
}
