package home

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// unprovedError is the [ErrLost] of a job that has left a registry, of which nothing proves that it has come to another one.
type unprovedError struct{ from, to string }

func (e *unprovedError) Error() string {
	return fmt.Sprintf("%s: it has left %s, which keeps all of it, and nothing proves that it has come to %s: "+
		"it was removed there since, or %s was restored from a backup; nothing is deleted. "+
		"If it is in no registry, move it to %s again: elasticron move --again, or MoveOptions.Again", ErrLost.Error(), e.from, e.to, e.to, e.to)
}

func (*unprovedError) Is(target error) bool { return target == ErrLost }

// proof reads the config node of the new home of a job that has left a registry, and tells whether nothing proves that the job is on
// its way there or has arrived. Revisions alone do not: an older copy that came back with a backup is of the node that kept the
// place, if the job had been there before, and whatever was written to it since is newer than that. But its fencing tokens start
// below those of the former home, and those of the job that has arrived above all of them.
func (d *Directory) proof(ctx context.Context, job, from string, left registry.Node, e jobtree.Elsewhere) (there registry.Node, unproved bool, err error) {
	if there, err = d.get(ctx, e.Home, job); err != nil {
		return there, false, err
	}
	for e.Arrived(there) {
		ours, err := d.tokens(ctx, from, job)
		if err != nil {
			return there, false, err
		}
		if !isConfig(there) {
			return there, isOlder(there, jobtree.Tokens{}, ours, left), nil
		}
		theirs, err := d.tokens(ctx, e.Home, job)
		if err != nil {
			return there, false, err
		}
		again, err := d.get(ctx, e.Home, job) // a job that moves on meanwhile takes its tokens with it
		if err != nil || again.Revision == there.Revision {
			return there, isOlder(there, theirs, ours, left), err
		}
		there = again
	}
	return there, e.Unproved(there), nil
}

// isOlder tells whether what the new home has of a closed job, where tokens start as theirs do, is an older copy, or the word that one
// left behind.
func isOlder(there registry.Node, theirs, ours jobtree.Tokens, closed registry.Node) bool {
	if e, is := jobtree.DecodeElsewhere(there); is {
		return e.FirstToken != 0 && e.FirstToken <= ours.Of(closed.Revision)
	}
	return theirs.Base < ours.Of(closed.Revision)
}

// tokens reads where the fencing tokens of a job start in a registry.
func (d *Directory) tokens(ctx context.Context, name, job string) (jobtree.Tokens, error) {
	store, err := d.store(ctx, name)
	if err != nil {
		return jobtree.Tokens{}, err
	}
	n, err := store.Get(ctx, jobtree.For(job).Tokens())
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return jobtree.Tokens{}, away(ctx, name, err)
	}
	return tokensOf(n), nil
}

// tokensOf reads the node of tokens; of one that is not there, or cannot be read, all is below the tokens that were granted.
func tokensOf(n registry.Node) jobtree.Tokens {
	t, err := jobtree.DecodeTokens(n)
	if err != nil {
		return jobtree.Tokens{}
	}
	return t
}

// again has a job that has left for To, and is nowhere, on its way there once more: the place in To is kept anew. Where it
// is found otherwise, or To has a job of this name, nothing changes.
func (m *mover) again(ctx context.Context, p Place, found error) (Place, error) {
	unproved := (*unprovedError)(nil)
	switch {
	case errors.As(found, &unproved) && unproved.to == m.r.To:
	case found == nil && p.Registry == m.r.To && p.From == "" && !p.Exists:
		if unproved, found = m.unproved(ctx); unproved == nil || found != nil {
			return p, found
		}
	default:
		return p, found
	}
	now := Place{Registry: m.r.To, From: unproved.from}
	if m.opts.DryRun {
		return now, nil
	}
	left, err := m.d.get(ctx, unproved.from, m.r.Job)
	if err != nil {
		return p, err
	}
	there, err := m.d.get(ctx, m.r.To, m.r.Job)
	e, _ := jobtree.DecodeElsewhere(left)
	if err != nil || !e.Leaving() || e.Home != m.r.To || !e.Unproved(there) || isConfig(there) {
		return m.d.findOr(ctx, m.r.Job, err)
	}
	store, err := m.d.store(ctx, unproved.from)
	if err != nil {
		return p, err
	}
	// No mover has a place to bring the job to: the node that kept it is gone, and another one has another revision.
	e.Kept = 0
	changed, err := commit(ctx, unproved.from, store, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(left.Path, left.Revision)},
		Then: []registry.Write{registry.Put(left.Path, jobtree.EncodeElsewhere(e))},
	})
	if err != nil || changed {
		return m.d.findOr(ctx, m.r.Job, err)
	}
	return now, nil
}

// findOr is find, unless there is an error.
func (d *Directory) findOr(ctx context.Context, job string, err error) (Place, error) {
	if err != nil {
		return Place{}, err
	}
	return d.find(ctx, job)
}

// unproved returns which registry keeps a job that has left for To, of which nothing proves that it has come; nil if none does.
func (m *mover) unproved(ctx context.Context) (*unprovedError, error) {
	for _, name := range m.d.names {
		if name == m.r.To {
			continue
		}
		left, err := m.d.get(ctx, name, m.r.Job)
		if errors.Is(err, ErrAway) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		if e, _ := jobtree.DecodeElsewhere(left); e.Leaving() && e.Home == m.r.To {
			_, unproved, err := m.d.proof(ctx, m.r.Job, name, left, e)
			if err != nil {
				return nil, err
			}
			if unproved {
				return &unprovedError{from: name, to: e.Home}, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // none is the answer as a rule
}
