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
			there, err := m.d.get(ctx, e.Home, m.r.Job)
			if err != nil {
				return nil, err
			}
			if e.Unproved(there) {
				return &unprovedError{from: name, to: e.Home}, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // none is the answer as a rule
}
