package api

import (
	"context"
	"sync"
)

// places are for few requests at once, and for fewer of one user: whoever holds theirs for long, such as by sending slowly,
// keeps nobody out but themselves.
type places struct {
	all  chan struct{}
	each int

	mu  sync.Mutex
	own map[string]*ownPlaces // by user
}

// ownPlaces are those of one user.
type ownPlaces struct {
	taken chan struct{}
	users int // how many requests have one or wait for one; without any, they are forgotten
}

func newPlaces(each, all int) *places {
	return &places{all: make(chan struct{}, all), each: each, own: make(map[string]*ownPlaces)}
}

// take waits for a place of a user's own first, so that the others of them are not in the way of others. leave gives it back.
// Its error is the cause of ctx's end.
func (p *places) take(ctx context.Context, user string) (leave func(), err error) {
	p.mu.Lock()
	own := p.own[user]
	if own == nil {
		own = &ownPlaces{taken: make(chan struct{}, p.each)}
		p.own[user] = own
	}
	own.users++
	p.mu.Unlock()
	forget := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(p.own, user)
		}
	}
	if err := enter(ctx, own.taken); err != nil {
		forget()
		return nil, err
	}
	if err := enter(ctx, p.all); err != nil {
		<-own.taken
		forget()
		return nil, err
	}
	return func() {
		<-p.all
		<-own.taken
		forget()
	}, nil
}

// enter waits for room in what has few places. Its error is the cause of ctx's end.
func enter(ctx context.Context, places chan<- struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
