package home

import (
	"context"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// rename gives a name another home that no registry has a job of. If the job has been in its new home, that still says where
// it went. One transaction in From overrules that word, by its revision, and keeps everybody from creating the job in From.
// Whoever deleted the word before would let the job be created in both.
func (m *mover) rename(ctx context.Context, p Place) error {
	if m.opts.DryRun {
		m.say("%s has no job of this name: it would be created in %s from now on", m.r.From, m.r.To)
		return nil
	}
	ours, err := m.d.get(ctx, m.r.From, m.r.Job)
	if err != nil {
		return err
	}
	e, is := jobtree.DecodeElsewhere(ours)
	if ours.Exists() && (!is || !e.Arriving && ours.Revision != p.over) {
		return refused("it was created in %s meanwhile: move it again", m.r.From)
	}
	word := jobtree.Elsewhere{Home: m.r.To, FirstToken: e.FirstToken}
	if word.Kept, err = m.former(ctx); err != nil {
		return err
	}
	_, err = m.from.Commit(ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(m.tree.Config(), ours.Revision)},
		Then: []registry.Write{registry.Put(m.tree.Config(), jobtree.EncodeElsewhere(word))},
	})
	if registry.LookAgain(ctx, err) {
		said, unread := m.d.get(ctx, m.r.From, m.r.Job)
		e, is := jobtree.DecodeElsewhere(said)
		switch {
		case unread != nil:
			return unread
		case is && e.Home == word.Home && e.Kept == word.Kept && !e.Arriving: // the answer was lost, and it was done
			err = nil
		case said.Revision != ours.Revision:
			return refused("it was created in %s meanwhile: move it again", m.r.From)
		}
	}
	if err != nil {
		return away(ctx, m.r.From, err)
	}
	m.note("%s had no job of this name; it is created in %s from now on", m.r.From, m.r.To)
	return m.d.freePlace(ctx, m.r.Job, Place{Registry: m.r.To, over: word.Kept})
}

// former returns the revision of what To says of a job that has been there, when nothing else is left of it; 0 if it says
// nothing.
func (m *mover) former(ctx context.Context) (registry.Revision, error) {
	theirs, err := m.d.get(ctx, m.r.To, m.r.Job)
	e, is := jobtree.DecodeElsewhere(theirs)
	switch {
	case err != nil || !theirs.Exists() || is && e.Arriving:
		return 0, err
	case !is:
		return 0, refused("it was created in %s meanwhile: move it again", m.r.To)
	}
	if e.Leaving() { // its mover may have died when it had arrived
		there, unproved, err := m.d.proof(ctx, m.r.Job, m.r.To, theirs, e)
		switch {
		case err != nil:
			return 0, err
		case unproved:
			return 0, &unprovedError{from: m.r.To, to: e.Home}
		case !e.Arrived(there):
			return 0, refused("it is being moved from %s to %s: complete that first", m.r.To, e.Home)
		}
	}
	m.id = e.Move
	if err := m.clean(ctx, m.r.To, m.to); err != nil {
		return 0, err
	}
	theirs, err = m.d.get(ctx, m.r.To, m.r.Job)
	if e, is := jobtree.DecodeElsewhere(theirs); err == nil && (!is || e.Arriving || e.Leaving()) {
		err = refused("it was moved meanwhile: move it again")
	}
	return theirs.Revision, err
}
