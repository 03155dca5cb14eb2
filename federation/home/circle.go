package home

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// circleError is the [ErrLost] of registries that name each other.
type circleError struct{ last string }

func (e *circleError) Error() string {
	return fmt.Sprintf("%s: the registries name each other in a circle, the last one is %s", ErrLost.Error(), e.last)
}

func (*circleError) Is(target error) bool { return target == ErrLost }

// findMending is [Directory.find] for who may write: a circle is broken.
//
// There are circles. Whoever tells the directory where a job is wants its node to be absent, or as it was. If he sleeps
// before, the job can be moved to the directory meanwhile and be removed there; then the node is absent again, and what he
// says leads back to it. Nothing can run by the words of a circle: where no registry has the job, and all have answered, it
// means that there is none.
func (d *Directory) findMending(ctx context.Context, job string) (Place, error) {
	for {
		p, err := d.find(ctx, job)
		var circle *circleError
		if !errors.As(err, &circle) {
			return p, err
		}
		if err := d.breakCircle(ctx, job, circle.last); err != nil {
			return p, err
		}
	}
}

// breakCircle deletes one word of a circle: that of the registry whose name comes first, whoever does it. So of several who
// break it only one does, and one who has slept meanwhile finds that word gone; if each deleted another one, a job that is
// created after the first could be lost with the second. It does nothing if there is no circle any more.
func (d *Directory) breakCircle(ctx context.Context, job, name string) error {
	var before map[string]registry.Node
	for {
		now, err := d.circleOf(ctx, job, name)
		if err != nil || now == nil {
			return err
		}
		first := slices.Min(slices.Collect(maps.Keys(now)))
		switch e, _ := jobtree.DecodeElsewhere(now[first]); {
		case before == nil || !maps.EqualFunc(before, now, sameRevision):
			before = now
		case e.Leaving(): // its mover died when it had arrived
			store, err := d.store(ctx, first)
			if err != nil {
				return err
			}
			m := &mover{d: d, r: &Moved{Job: job}, tree: jobtree.For(job), id: e.Move}
			return m.clean(ctx, first, store)
		default: // what is read twice and has not changed in between has stood there all at once
			return d.deleteWord(ctx, first, now[first])
		}
	}
}

// circleOf returns the words of a circle by registry; nil if name is on none.
func (d *Directory) circleOf(ctx context.Context, job, name string) (map[string]registry.Node, error) {
	words := make(map[string]registry.Node)
	var before jobtree.Elsewhere
	for at := name; ; {
		n, again := words[at]
		if !again {
			var err error
			if n, err = d.get(ctx, at, job); err != nil {
				return nil, err
			}
		}
		e, is := jobtree.DecodeElsewhere(n)
		switch {
		case !is, e.Arriving, before.Leaving() && !before.Arrived(n), !before.Leaving() && before.Kept != 0 && before.Kept == n.Revision:
			return nil, nil
		case again && at == name:
			return words, nil
		case again:
			return nil, nil
		}
		words[at], at, before = n, e.Home, e
	}
}
