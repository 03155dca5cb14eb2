package home

import (
	"context"
	"errors"
	"slices"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// settle tells the directory that the job has arrived, and cleans up behind it.
func (m *mover) settle(ctx context.Context) error {
	m.say("telling the directory, and cleaning up in %s", m.r.From)
	if err := m.point(ctx); err != nil {
		return err
	}
	return m.clean(ctx, m.r.From, m.from)
}

// point has the directory say that the job is in To, unless it is the directory that has it or has just left it. What it says
// else leads there, perhaps by way of registries that the job has left long ago.
func (m *mover) point(ctx context.Context) error {
	for m.d.name != m.r.To {
		word, err := m.d.get(ctx, m.d.name, m.r.Job)
		if err != nil {
			return err
		}
		e, is := jobtree.DecodeElsewhere(word)
		if word.Exists() && (!is || e.Arriving || e.Leaving() || e.Home == m.r.To) {
			return nil
		}
		if is, err := m.isThere(ctx, e.Home); err != nil || !is {
			return err // it is on its way back, or was moved on
		}
		store, err := m.d.store(ctx, m.d.name)
		if err != nil {
			return err
		}
		again, err := commit(ctx, m.d.name, store, registry.Txn{
			If:   []registry.Condition{registry.Unchanged(m.tree.Config(), word.Revision)},
			Then: []registry.Write{registry.Put(m.tree.Config(), jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: m.r.To, FirstToken: e.FirstToken}))},
		})
		if err != nil || !again {
			return err
		}
	}
	return nil
}

// isThere tells whether the job is in To, of which the directory says something else or nothing. To find it needs no registry
// but the one that the job has just left, if the directory names none before that.
func (m *mover) isThere(ctx context.Context, said string) (bool, error) {
	if m.r.From != "" && (said == "" || said == m.r.From) {
		left, err := m.d.get(ctx, m.r.From, m.r.Job)
		e, is := jobtree.DecodeElsewhere(left)
		return is && e.Home == m.r.To, err
	}
	p, err := m.d.find(ctx, m.r.Job)
	return p.Registry == m.r.To && p.From == "", err
}

// clean deletes what is left of the job where it has been. What is there of a session goes with its process.
func (m *mover) clean(ctx context.Context, name string, store Store) error {
	for {
		shown, err := m.list(ctx, name, store)
		if err != nil {
			return err
		}
		config := shown.Get(m.tree.Config())
		e, is := jobtree.DecodeElsewhere(config)
		if !is || e.Arriving || e.Leaving() && e.Move != m.id {
			return nil // it has come back, and perhaps leaves again
		}
		if e.Leaving() {
			plain := jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: e.Home, FirstToken: e.FirstToken})
			if _, err := commit(ctx, name, store, registry.Txn{
				If:   []registry.Condition{registry.Unchanged(config.Path, config.Revision)},
				Then: []registry.Write{registry.Put(config.Path, plain)},
			}); err != nil {
				return err
			}
			continue
		}
		var paths []string
		for n := range shown.All() {
			if !n.Ephemeral() && n.Path != config.Path && n.Path != m.tree.Root() {
				paths = append(paths, n.Path)
			}
		}
		slices.Reverse(paths) // what lies below goes first
		if len(paths) == 0 {
			return nil
		}
		for part := range slices.Chunk(paths, guarded.MaxSteps) {
			txn := registry.Txn{If: []registry.Condition{registry.Unchanged(config.Path, config.Revision)}, Repeat: registry.RepeatHarmless}
			for _, path := range part {
				txn.Then = append(txn.Then, registry.Delete(path))
			}
			if again, err := commit(ctx, name, store, txn); err != nil {
				return err
			} else if again {
				break
			}
		}
	}
}

// tidy completes what a mover has left undone that died after the job had arrived: it cleans up where the job has been.
// Registries that are away keep their remains, which do no harm.
func (m *mover) tidy(ctx context.Context, p Place) error {
	if m.opts.DryRun {
		unproved, err := m.unproved(ctx)
		if err != nil || p.Exists || unproved == nil {
			return err
		}
		m.r.Done = false
		return unproved
	}
	if err := m.d.freePlace(ctx, m.r.Job, p); err != nil {
		return err
	}
	var silent []string
	for _, name := range m.d.names {
		if name == m.r.To {
			continue
		}
		n, err := m.d.get(ctx, name, m.r.Job)
		if errors.Is(err, ErrAway) && ctx.Err() == nil {
			silent = append(silent, name)
			continue
		}
		if err != nil {
			return err
		}
		e, is := jobtree.DecodeElsewhere(n)
		if !is {
			continue
		}
		m.id = ""
		if e.Leaving() { // its mover may have died when it had arrived
			there, unproved, err := m.d.proof(ctx, m.r.Job, name, n, e)
			if err == nil && unproved {
				if !p.Exists && e.Home == m.r.To {
					m.r.Done = false
					return &unprovedError{from: name, to: e.Home}
				}
				m.note("%s keeps a copy of it, and nothing proves that it is what has come to %s, which was perhaps restored from a backup: "+
					"nothing of it was deleted. If it is the one that counts, remove the job in %s and move it again: elasticron move --again, "+
					"or MoveOptions.Again", name, e.Home, e.Home)
			}
			if err != nil || unproved || !e.Arrived(there) {
				continue
			}
			m.id, m.r.Resumed = e.Move, true
		}
		store, err := m.d.store(ctx, name)
		if err == nil {
			err = m.clean(ctx, name, store)
		}
		if err != nil {
			return err
		}
	}
	if err := m.point(ctx); err != nil {
		return err
	}
	if silent != nil {
		m.note("not looked at, because they are away: %s", listed(silent))
	}
	return nil
}
