package home

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// shut waits until nothing of the stopped job runs and its owners have had time to note what they missed, and closes it. It
// answers false if the configuration is not that of revision any more, or the mark of elasticron migrate not that of migrated.
func (m *mover) shut(ctx context.Context, revision, migrated registry.Revision) (closed bool, err error) {
	m.stands = m.stopped()
	view, err := m.from.View(ctx, m.tree.Root())
	if err != nil {
		return false, away(ctx, m.r.From, err)
	}
	defer view.Close()
	if err := view.WaitRevision(ctx, revision); err != nil {
		return false, away(ctx, m.r.From, err)
	}
	told, seen := "", time.Now()
	for {
		shown := view.Snapshot()
		st := jobtree.StateOf(m.r.Job, shown)
		if st.Config.Revision != revision {
			return false, nil
		}
		switch now := nextOfShut(st, time.Since(seen)); {
		case now.running != nil:
			if text := fmt.Sprint(now.running); text != told {
				told = text
				m.say("waiting for items %s to end in %s", text, m.r.From)
			}
			if err := m.awaitEnd(ctx, view, shown, st, now.running); err != nil {
				return false, err
			}
		case now.left > 0:
			if _, err := changes(ctx, view, shown, now.left); err != nil {
				return false, away(ctx, m.r.From, err)
			}
		default:
			return m.close(ctx, shown, st, migrated)
		}
	}
}

// shutting is what a job that was stopped waits for before it is closed; nothing if it is zero.
type shutting struct {
	running []int         // the items that run
	left    time.Duration // how long its owners may still note what they missed
}

// nextOfShut tells what a job waits for that was seen stopped so long ago.
func nextOfShut(st *jobtree.State, ago time.Duration) shutting {
	if running := runningItems(st); running != nil {
		return shutting{running: running}
	}
	if left := lateNote - ago; left > 0 && mayNote(st) {
		return shutting{left: left}
	}
	return shutting{}
}

// awaitEnd waits until something of the job changes. What finished in a process that had lost touch is recorded first, if it
// comes in time; if nothing does, what ran in processes that are gone is lost.
func (m *mover) awaitEnd(ctx context.Context, view *registry.View, shown registry.Snapshot, st *jobtree.State, running []int) error {
	changed, err := changes(ctx, view, shown, lateEnd)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("items %v still run: %w", running, context.Cause(ctx))
	case err != nil:
		return away(ctx, m.r.From, err)
	case !changed:
		return m.bury(ctx, st)
	}
	return nil
}

// changes waits until a view shows something else than before, and answers false if it does not in time.
func changes(ctx context.Context, view *registry.View, before registry.Snapshot, within time.Duration) (changed bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err = view.WaitFor(bounded, func(s registry.Snapshot) bool { return s.Revision() != before.Revision() })
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// lateNote is how long the owners of items have, from the stop on, to note what those missed: until then it is known to them
// alone. It is enough for a few commits. A new owner waits as long for what its former one notes.
const lateNote = 2 * time.Second

// mayNote tells whether somebody lives who may know of a fire that an item missed.
func mayNote(st *jobtree.State) bool {
	cfg := st.Config.Value
	return len(st.Instances) > 0 && cfg.Misfire != job.MisfireSkip && !cfg.Unmonitored
}

// runningItems are those that run, or of whose end nothing is recorded yet.
func runningItems(st *jobtree.State) (items []int) {
	for n := range st.Items() {
		if it := st.Item(n); it.Running.Exists() || it.Record.Value.State == jobtree.ItemRunning {
			items = append(items, n)
		}
	}
	return items
}

// lateEnd is how long nothing may change of a job before what ran in processes that are gone is declared lost.
const lateEnd = 5 * time.Second

// bury declares lost what ran in processes that are gone. The job's instances do not do that while it is disabled.
func (m *mover) bury(ctx context.Context, st *jobtree.State) error {
	for n := range st.Items() {
		if !failover.Lost(st, n) {
			continue
		}
		txn, err := failover.Declare(st, n, time.Now(), inforce.FailoverLimit(st.Config.Value))
		if err != nil {
			return refused("item %d: %v", n, err)
		}
		if _, err := commit(ctx, m.r.From, m.from, txn); err != nil {
			return err
		}
	}
	return nil
}

// close has the former home say where the job is, if it is still as shown.
func (m *mover) close(ctx context.Context, shown registry.Snapshot, st *jobtree.State, migrated registry.Revision) (closed bool, err error) {
	operated, err := jobtree.DecodeOperated(shown.Get(m.tree.Operated()))
	if err != nil || operated.Moving == nil {
		return false, nil
	}
	cfg := st.Config.Value
	cfg.Disabled = operated.Moving.Disabled
	if err := tellsFires(cfg); err != nil {
		return false, m.standing(err)
	}
	text, err := jobtree.EncodeConfig(cfg)
	if err != nil {
		return false, refused("its configuration cannot be written: %v", err)
	}
	if err := m.writable(ctx, shown, text); err != nil {
		return false, m.standing(err)
	}
	m.say("closing it in %s", m.r.From)
	m.stands = fmt.Sprintf("it is stopped in %s, and may be closed: call it again to go on", m.r.From)
	again, err := commit(ctx, m.r.From, m.from, registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(m.tree.Config(), st.Config.Revision),
			registry.Unchanged(m.tree.Operated(), shown.Get(m.tree.Operated()).Revision),
			registry.Unchanged(m.tree.Move(), migrated),
		},
		Then: []registry.Write{registry.Put(m.tree.Config(), jobtree.EncodeElsewhere(jobtree.Elsewhere{
			Home: m.r.To, Move: operated.Moving.Move, Since: operated.Moving.Since, Config: text, FirstToken: st.Tokens().Value.Of(1),
		}))},
	})
	if err != nil && !errors.Is(err, registry.ErrUnknownOutcome) {
		m.stands = m.stopped()
		err = m.standing(err)
	}
	return !again && err == nil, err
}

// stopped is how far a job is that was not closed.
func (m *mover) stopped() string {
	return fmt.Sprintf("it is stopped in %s, and not closed: call it again to go on, or enable the job to call it off", m.r.From)
}
