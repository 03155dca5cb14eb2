package home

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// depart stops the job in its former home, and closes it when nothing runs.
func (m *mover) depart(ctx context.Context, p Place) error {
	theirs, err := m.d.get(ctx, m.r.To, m.r.Job)
	if err != nil {
		return err
	}
	if _, elsewhere := jobtree.DecodeElsewhere(theirs); theirs.Exists() && !elsewhere {
		ours, err := m.d.get(ctx, m.r.From, m.r.Job)
		if err != nil {
			return err
		}
		if e, left := jobtree.DecodeElsewhere(ours); left && e.Home == m.r.To {
			return nil // another mover has completed it since this one looked
		}
		if sameNode(ours, theirs) {
			return oneStore(m.r.From, m.r.To)
		}
		return refused("%s has a job of this name, which did not come from %s: remove one of them", m.r.To, m.r.From)
	}
	if e, _ := jobtree.DecodeElsewhere(theirs); e.Leaving() { // its copy would give way to that which comes
		_, unproved, err := m.d.proof(ctx, m.r.Job, m.r.To, theirs, e)
		if err != nil {
			return err
		}
		if unproved {
			return &unprovedError{from: m.r.To, to: e.Home}
		}
	}
	if !p.Exists {
		return m.rename(ctx, p)
	}
	began := false // by this call, or seen to be under way
	for {
		shown, err := m.list(ctx, m.r.From, m.from)
		if err != nil {
			return err
		}
		now, err := m.nextOfDeparture(shown, began)
		if err != nil || now.next == hasDeparted {
			return err
		}
		if now.next == toShut {
			m.r.Resumed = m.r.Resumed || !began
			began = true
		} else if err := tellsFires(now.state.Config.Value); err != nil {
			return refused("%v", err)
		} else if text, err := jobtree.EncodeConfig(now.state.Config.Value); err != nil {
			return refused("its configuration cannot be written: %v", err)
		} else if err := m.writable(ctx, shown, text); err != nil {
			return asRefused(err)
		}
		switch {
		case m.opts.DryRun:
			m.foretell(now.state)
			m.noteFiles(now.operated.Files, now.state.Config.Value.Disabled)
			return nil
		case now.next == toStop:
			m.say("stopping it in %s", m.r.From)
			m.stands = fmt.Sprintf("it may be stopped in %s: call it again to go on, or enable the job to call it off", m.r.From)
			again, err := commit(ctx, m.r.From, m.from, m.stop(shown, now.state, now.operated, m.now(ctx).Time))
			if err != nil {
				return err
			}
			began = !again
		default:
			closed, err := m.shut(ctx, now.state.Config.Revision, shown.Get(m.tree.Move()).Revision)
			if err != nil || closed {
				return err
			}
		}
	}
}

// stays refuses a job whose home is To, where it was stopped to be moved on: that it is there is not what was asked for, as it
// runs nowhere.
func (m *mover) stays(ctx context.Context, p Place) error {
	if !p.Exists {
		return nil
	}
	store, err := m.d.store(ctx, m.r.To)
	if err != nil {
		return err
	}
	shown, err := m.list(ctx, m.r.To, store)
	if err != nil {
		return err
	}
	st := jobtree.StateOf(m.r.Job, shown)
	if e, elsewhere := jobtree.DecodeElsewhere(shown.Get(m.tree.Config())); elsewhere {
		return refused("it has moved to %s meanwhile", e.Home)
	}
	n := shown.Get(m.tree.Operated())
	if !n.Exists() || st.Config.Err != nil || !st.Config.Value.Disabled {
		return nil
	}
	operated, err := jobtree.DecodeOperated(n)
	if err != nil || operated.Moving == nil || operated.Moving.To == m.r.To {
		return nil //nolint:nilerr // whether something of it cannot be read is of no concern to a job that stays
	}
	return refusedOnItsWay(operated)
}

func (m *mover) foretell(st *jobtree.State) {
	if running := runningItems(st); running != nil {
		m.say("it would be stopped in %s, and closed when its items %v have ended", m.r.From, running)
	} else {
		m.say("it would be stopped and closed in %s: nothing of it runs", m.r.From)
	}
	m.say("then it would be copied to %s", m.r.To)
}

// noteFiles tells what becomes of a job that files of workers named in its former home. Those of its new one may be others, so
// the mark of the files stays behind; see [jobtree.Operated.Moved].
func (m *mover) noteFiles(mark *jobtree.Files, disabled bool) {
	switch {
	case mark == nil:
	case !mark.Gone:
		m.noteOnce(fmt.Sprintf("the files of %q name it, and do not move: bring its file to the workers of %s when it has moved, not before, "+
			"and take it away from those of %s", mark.Owner, m.r.To, m.r.From))
	case mark.Disabled && disabled:
		m.noteOnce(fmt.Sprintf("it is disabled because no file named it, and stays so until files in %s do, or somebody enables it", m.r.To))
	}
}
