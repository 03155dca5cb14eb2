package demo

import (
	"context"
	"slices"
	"sync"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// follower keeps every picture that the registry shows until it is asked for. It takes part in
// nothing.
type follower struct {
	view  *registry.View
	moved chan struct{} // size 1: there are pictures

	mu       sync.Mutex
	last     picture
	pictures []picture
}

func follow(ctx context.Context, reg registry.Viewer) (*follower, error) {
	view, err := reg.View(ctx, jobtree.For(jobName).Root())
	if err != nil {
		return nil, err
	}
	f := &follower{view: view, moved: make(chan struct{}, 1)}
	state := jobtree.NewState(jobName)
	view.Subscribe(func(step registry.Step) {
		state.Apply(step)
		f.add(pictureOf(state))
	})
	return f, nil
}

// add keeps a picture that differs from the last one; most steps only begin or end runs.
func (f *follower) add(p picture) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.equal(f.last) {
		return
	}
	f.last = p
	f.pictures = append(f.pictures, p)
	select {
	case f.moved <- struct{}{}:
	default:
	}
}

// take returns the pictures since the last call, oldest first.
func (f *follower) take() []picture {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := slices.Clone(f.pictures)
	f.pictures = f.pictures[:0]
	return taken
}
