package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// follow follows all registries that answer, and the others from when they do. Meanwhile lacking names them.
func (s *registries) follow(ctx context.Context) (follower, error) {
	f := &byRegistries{
		registries: s, views: make([]*registry.View, len(s.names)), shown: make([]registry.Revision, len(s.names)), late: make(chan late),
	}
	errs := s.each(ctx, func(i int, reg registry.Registry) (err error) {
		f.views[i], err = reg.View(ctx, registry.Root)
		return err
	})
	if err := s.leaveOut(errs); err != nil {
		f.close()
		return nil, err
	}
	ctx, f.cancel = context.WithCancel(ctx)
	for i, err := range errs {
		if err != nil && !errors.Is(err, registry.ErrUnsupported) { // which stays so
			f.trying.Go(func() { f.try(ctx, i) })
		}
	}
	return f, nil
}

// byRegistries follows several registries as one.
type byRegistries struct {
	*registries
	views []*registry.View // nil: that registry is left out
	shown []registry.Revision

	cancel context.CancelFunc // of those that try; nil: nobody does
	trying sync.WaitGroup
	late   chan late
}

// late is the view of a registry that did not answer at first.
type late struct {
	of   int // its place among the names
	view *registry.View
}

// retryPause is the time between two tries to reach a registry that does not answer.
const retryPause = 5 * time.Second

// try tries to follow a registry until it answers or the context ends.
func (f *byRegistries) try(ctx context.Context, i int) {
	for wait(ctx, retryPause) {
		reg, err := f.again(ctx, f.names[i])
		if err != nil {
			f.noteAway(i, err)
			continue
		}
		view, err := reg.View(ctx, registry.Root)
		if err != nil {
			f.noteAway(i, err)
			continue
		}
		select {
		case f.late <- late{of: i, view: view}:
		case <-ctx.Done():
			view.Close()
		}
		return
	}
}

// noteAway notes why a registry is still left out, unless the follower is closed.
func (f *byRegistries) noteAway(i int, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away[f.names[i]] = err
}

// take follows a registry that answers by now.
func (f *byRegistries) take(l late) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views[l.of] = l.view
	delete(f.away, f.names[l.of])
}

// now implements follower. Its revision is the newest of all, which says nothing of the others.
func (f *byRegistries) now() registry.Snapshot {
	lists := make([][]registry.Node, len(f.views))
	for i, v := range f.views {
		if v != nil {
			s := v.Snapshot()
			lists[i], f.shown[i] = slices.Collect(s.All()), s.Revision()
		}
	}
	return registry.NewSnapshot(slices.Max(f.shown), f.merged(lists))
}

// newer returns when one of the registries has a newer state, or answers that did not before.
func (f *byRegistries) newer(ctx context.Context) error {
	ctx, done := context.WithCancel(ctx)
	defer done()
	first := make(chan error, len(f.views))
	var waiting sync.WaitGroup
	for i, v := range f.views {
		if v == nil {
			continue
		}
		waiting.Go(func() {
			_, err := v.WaitFor(ctx, func(s registry.Snapshot) bool { return s.Revision() != f.shown[i] })
			first <- err
			done()
		})
	}
	select {
	case l := <-f.late:
		f.take(l)
		done()
		waiting.Wait()
		return nil
	case err := <-first:
		done()
		waiting.Wait()
		return err
	}
}

// answers asks all registries that are followed. Those that are left out are named elsewhere. If only some answer, the error
// says which do not.
func (f *byRegistries) answers(ctx context.Context, _ bool) error {
	f.mu.Lock()
	views := slices.Clone(f.views)
	f.mu.Unlock()
	errs := f.each(ctx, func(i int, reg registry.Registry) error {
		if views[i] == nil {
			return nil
		}
		return answered(ctx, reg, views[i])
	})
	var away []string
	followed := 0
	for i, err := range errs {
		if views[i] == nil {
			errs[i] = nil // also if it was never opened
			continue
		}
		followed++
		if err != nil {
			away, errs[i] = append(away, f.names[i]), fmt.Errorf("registry %s: %w", f.names[i], err)
		}
	}
	err := errors.Join(errs...)
	if err != nil && len(away) < followed {
		return partAway{away, err}
	}
	return err
}

func (f *byRegistries) close() {
	if f.cancel != nil {
		f.cancel()
		f.trying.Wait()
	}
	for _, v := range f.views {
		if v != nil {
			v.Close()
		}
	}
}
