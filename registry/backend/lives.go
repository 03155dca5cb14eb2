package backend

import (
	"context"
	"sync"
)

// Lives ends views with their contexts. A handle may have thousands of views of one context, and a function of each in
// that context costs as much as the view; so there is one for all. The zero Lives has no views. All methods may be called
// concurrently.
type Lives struct {
	mu  sync.Mutex
	all map[<-chan struct{}]*Life // by what is closed with the context
}

// Life is that of all views of one context. The nil Life has no views.
type Life struct {
	lives *Lives
	over  <-chan struct{}
	feeds map[*Feed]struct{}
	stop  func() bool
}

// Bind ends a feed's view when the context does, with its cause, unless it is unbound before. A backend unbinds it
// when the view has ended.
func (l *Lives) Bind(ctx context.Context, feed *Feed) *Life {
	over := ctx.Done()
	if over == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	life := l.all[over]
	if life == nil {
		life = &Life{lives: l, over: over, feeds: make(map[*Feed]struct{})}
		if l.all == nil {
			l.all = make(map[<-chan struct{}]*Life)
		}
		l.all[over] = life
		life.stop = context.AfterFunc(ctx, func() { life.end(context.Cause(ctx)) })
	}
	life.feeds[feed] = struct{}{}
	return life
}

// Unbind forgets a feed. It may be called more than once.
func (l *Life) Unbind(feed *Feed) {
	if l == nil {
		return
	}
	l.lives.mu.Lock()
	defer l.lives.mu.Unlock()
	delete(l.feeds, feed)
	if len(l.feeds) == 0 && l.lives.all[l.over] == l {
		delete(l.lives.all, l.over)
		l.stop()
	}
}

// end ends all views, without the lock: each is unbound then.
func (l *Life) end(cause error) {
	l.lives.mu.Lock()
	feeds := l.feeds
	l.feeds = nil
	if l.lives.all[l.over] == l {
		delete(l.lives.all, l.over)
	}
	l.lives.mu.Unlock()
	for feed := range feeds {
		feed.End(cause)
	}
}
