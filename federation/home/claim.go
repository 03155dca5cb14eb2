package home

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Claim is [Directory.Find], and gives a job that no registry knows a home: that which rule names, unless another
// process is faster. Where the directory says nothing of a job that a registry has, it is told. rule is asked at most once.
//
// After an error nothing is decided, or another call finds what was.
func (d *Directory) Claim(ctx context.Context, job string, rule func(job string) string) (Place, error) {
	p, err := d.claim(ctx, job, rule)
	if err != nil {
		return p, fmt.Errorf("find a home for job %q: %w", job, err)
	}
	return p, nil
}

func (d *Directory) claim(ctx context.Context, job string, rule func(job string) string) (Place, error) {
	wanted := ""
	for {
		p, err := d.findMending(ctx, job)
		if err != nil || p.From != "" {
			return p, err
		}
		if p.Registry != "" {
			// A directory that is away, or whose word was deleted, is told when somebody asks again.
			if !p.told && p.Registry != d.name {
				_ = d.tell(ctx, job, p.Registry)
			}
			if p.misled.Exists() {
				if err := d.redirect(ctx, p); err != nil {
					return p, err
				}
			}
			_ = d.giveUpPlace(ctx, job, p)
			return p, d.freePlace(ctx, job, p)
		}
		if wanted == "" {
			if wanted = rule(job); !slices.Contains(d.names, wanted) {
				return p, fmt.Errorf("%w: the rule names registry %q, must be one of %s", ErrInvalidOption, wanted, strings.Join(d.names, ", "))
			}
		}
		if wanted == d.name {
			return Place{Registry: wanted}, nil // whoever stores the configuration decides
		}
		if err := d.tell(ctx, job, wanted); err != nil {
			return Place{}, err
		}
	}
}

// tell creates the directory's word of a job, unless there is one.
func (d *Directory) tell(ctx context.Context, job, name string) error {
	store, err := d.store(ctx, d.name)
	if err != nil {
		return err
	}
	path := jobtree.For(job).Config()
	_, err = store.Commit(ctx, registry.Txn{
		If:   []registry.Condition{registry.Absent(path)},
		Then: []registry.Write{registry.Put(path, jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: name}))},
	})
	if registry.LookAgain(ctx, err) {
		// Somebody has said it, or perhaps this call has. A late copy finds a word, or leads in a circle; see findMending.
		return nil
	}
	return away(ctx, d.name, err)
}

// redirect has the directory say where a job is that was removed where its word leads, so that nobody creates it anew there while
// the registry that has it is away. A word of a move is left as it is.
func (d *Directory) redirect(ctx context.Context, p Place) error {
	e, is := jobtree.DecodeElsewhere(p.misled)
	if !is || e.Arriving || e.Leaving() || p.Registry == d.name {
		return nil
	}
	store, err := d.store(ctx, d.name)
	if err != nil {
		return err
	}
	_, err = commit(ctx, d.name, store, registry.Txn{
		If:   []registry.Condition{registry.CreatedAt(p.misled.Path, p.misled.Created), registry.Unchanged(p.misled.Path, p.misled.Revision)},
		Then: []registry.Write{registry.Put(p.misled.Path, jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: p.Registry, FirstToken: e.FirstToken}))},
	})
	return err
}

// freePlace deletes what keeps the place of a job for a move that was over, or what is overruled there, so that the job can be
// stored there.
func (d *Directory) freePlace(ctx context.Context, job string, p Place) error {
	if p.Exists {
		return nil
	}
	n, err := d.get(ctx, p.Registry, job)
	if err != nil || !n.Exists() {
		return err
	}
	e, is := jobtree.DecodeElsewhere(n)
	switch {
	case is && n.Revision == p.over:
		return d.deleteWord(ctx, p.Registry, n)
	case !is || !e.Arriving:
		return nil
	}
	// The node may be another one than that by which the place was found: that of a move which has begun since.
	from, err := d.get(ctx, e.Home, job)
	if err != nil {
		return err
	}
	if left, _ := jobtree.DecodeElsewhere(from); left.Leaving() && left.KeptBy(n) {
		return nil
	}
	return d.deleteWord(ctx, p.Registry, n)
}

// deleteWord deletes what says that a job is not in a registry, if it is as it was found, so that the job can be stored there.
func (d *Directory) deleteWord(ctx context.Context, name string, n registry.Node) error {
	store, err := d.store(ctx, name)
	if err != nil {
		return err
	}
	_, err = store.Commit(ctx, registry.Txn{
		If:   []registry.Condition{registry.CreatedAt(n.Path, n.Created), registry.Unchanged(n.Path, n.Revision)},
		Then: []registry.Write{registry.Delete(n.Path)},
	})
	if errors.Is(err, registry.ErrConflict) {
		return nil
	}
	return away(ctx, name, err)
}

// giveUpPlace has a registry say where a job is that keeps a place for it, though it never left, as far as its home knows: the
// home was restored from a backup of before the move. It is a word as any other then, which leads on when the job moves to a
// third registry, and a mover of the former move finds its place gone.
func (d *Directory) giveUpPlace(ctx context.Context, job string, p Place) error {
	if p.stale == "" {
		return nil
	}
	place, err := d.get(ctx, p.stale, job)
	kept, is := jobtree.DecodeElsewhere(place)
	if err != nil || !is || !kept.Arriving || kept.Home != p.Registry {
		return err
	}
	there, err := d.get(ctx, p.Registry, job) // a move that keeps the place after this read finds another node there
	if err != nil || !isConfig(there) {
		return err
	}
	store, err := d.store(ctx, p.stale)
	if err != nil {
		return err
	}
	_, err = commit(ctx, p.stale, store, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(place.Path, place.Revision)},
		Then: []registry.Write{registry.Put(place.Path, jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: p.Registry, FirstToken: kept.FirstToken}))},
	})
	return err
}
