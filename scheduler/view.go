package scheduler

import (
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// subscribe subscribes the runner to a view until the view ends. known is what the runner already has of what the view shows,
// and begin comes before the first step.
func (r *runner) subscribe(view *registry.View, known registry.Snapshot, begin func()) {
	afterEnd(r.life, view, func(reason error) {
		r.box.Post(func() { r.lostSight(view, reason) })
	})
	view.Subscribe(goingOn(known, begin, func(step registry.Step, begin func()) {
		r.box.Post(func() {
			if view == r.view {
				begin()
				r.apply(step)
			}
		})
	}))
}

// presentView returns the view of now, for other goroutines than the runner's.
func (r *runner) presentView() *registry.View {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.view
}

// views returns the view of now, and the one that is to follow it if that is open.
func (r *runner) views() []*registry.View {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return slices.DeleteFunc([]*registry.View{r.view, r.next}, func(v *registry.View) bool { return v == nil })
}
