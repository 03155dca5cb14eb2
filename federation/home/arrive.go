package home

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// arrive copies the job to its new home. It does nothing if the job has arrived, whatever has become of it there since.
func (m *mover) arrive(ctx context.Context) error {
	for {
		left, err := m.list(ctx, m.r.From, m.from)
		if err != nil {
			return err
		}
		closed := left.Get(m.tree.Config())
		e, is := jobtree.DecodeElsewhere(closed)
		if !is || !e.Leaving() || e.Home != m.r.To || m.id != "" && m.id != e.Move {
			return nil // another mover has completed it
		}
		m.id = e.Move
		theirs, err := m.list(ctx, m.r.To, m.to)
		if err != nil {
			return err
		}
		there := theirs.Get(m.tree.Config())
		before, elsewhere := jobtree.DecodeElsewhere(there)
		switch {
		case e.Arrived(there) && isOlder(there, tokensOf(theirs.Get(m.tree.Tokens())), tokensOf(left.Get(m.tree.Tokens())), closed):
			return &unprovedError{from: m.r.From, to: m.r.To}
		case e.Arrived(there):
			return m.noteLate(ctx, e, theirs)
		case e.KeptBy(there) && e.Kept != 0:
			again, err := m.bring(ctx, left, e, theirs, there.Revision)
			if err != nil || !again {
				return err
			}
		case e.KeptBy(there):
			e.Kept = there.Revision
			if err := m.put(ctx, m.r.From, m.from, closed, e); err != nil {
				return err
			}
		default:
			// What the new home says was read later than what the former one does, and others may have completed the move in
			// between: then it is what they, or the next move, have left there, and no place to keep.
			now, err := m.d.get(ctx, m.r.From, m.r.Job)
			switch {
			case err != nil:
				return err
			case now.Revision != closed.Revision:
				continue
			case e.Kept != 0:
				return &unprovedError{from: m.r.From, to: m.r.To}
			case there.Exists() && !elsewhere:
				return fmt.Errorf("%w: %s has a job of this name that did not come from %s: remove it there, and call this again", ErrTwice, m.r.To, m.r.From)
			}
			m.say("keeping its place in %s", m.r.To)
			if err := m.put(ctx, m.r.To, m.to, there, jobtree.Elsewhere{
				Home: m.r.From, Move: e.Move, Arriving: true, FirstToken: before.FirstToken,
			}); err != nil {
				return err
			}
		}
	}
}

// put says in a config node where the job is, if the node is as it was found. If it is not, or the answer was lost, the caller
// looks again.
func (m *mover) put(ctx context.Context, name string, store Store, found registry.Node, e jobtree.Elsewhere) error {
	_, err := commit(ctx, name, store, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(m.tree.Config(), found.Revision)},
		Then: []registry.Write{registry.Put(m.tree.Config(), jobtree.EncodeElsewhere(e))},
	})
	return err
}

// bring copies a closed job to the place that is kept for it.
func (m *mover) bring(ctx context.Context, left registry.Snapshot, e jobtree.Elsewhere, theirs registry.Snapshot, kept registry.Revision) (again bool, err error) {
	cfg, err := m.closedConfig(left, e)
	if err != nil {
		return false, err
	}
	if cfg.Unmonitored {
		if err := m.deserted(ctx); err != nil {
			return false, err
		}
	}
	o, err := m.originalOf(ctx, cfg, left, e)
	if err != nil {
		return false, err
	}
	m.say("copying it to %s", m.r.To)
	return m.copy(ctx, o, theirs, kept)
}

// deserted waits until no instance of an unmonitored job is left in its former home.
func (m *mover) deserted(ctx context.Context) error {
	view, err := m.from.View(ctx, m.tree.Instances())
	if err != nil {
		return away(ctx, m.r.From, err)
	}
	defer view.Close()
	if view.Snapshot().Len() > 0 {
		m.say("waiting for its instances to leave %s: it is unmonitored, and only so nothing of it runs", m.r.From)
	}
	if _, err := view.WaitFor(ctx, func(s registry.Snapshot) bool { return s.Len() == 0 }); err != nil {
		return fmt.Errorf("instances of the unmonitored job are left in %s: %w", m.r.From, err)
	}
	return nil
}

// firstCopy is how long a copy may take at first. If it takes longer, what has changed of it is written again, with twice the
// time. It is not more than that at once: what is noted ahead takes the place of what was missed, and stays until it has come.
const firstCopy = 10 * time.Second

// copy writes what the new home lacks, the configuration last. kept is the revision of the node that keeps the place: each
// transaction is guarded by it, so nothing is written once the job has arrived. again asks to look and call once more.
func (m *mover) copy(ctx context.Context, o original, theirs registry.Snapshot, kept registry.Revision) (again bool, err error) {
	var first []guarded.Step
	put := func(path, value string) guarded.Step {
		return guarded.Step{Write: registry.Put(path, value), Guard: registry.Unchanged(path, theirs.Get(path).Revision)}
	}
	for n := range theirs.All() {
		if _, wanted := o.nodes[n.Path]; !wanted && !n.Ephemeral() && n.Path != m.tree.Config() && n.Path != m.tree.Tokens() {
			first = append(first, guarded.Step{Write: registry.Delete(n.Path), Guard: registry.Unchanged(n.Path, n.Revision)})
		}
	}
	for path, value := range o.nodes {
		if found := theirs.Get(path); path != m.tree.Operated() && (!found.Exists() || found.Value != value) {
			first = append(first, put(path, value))
		}
	}
	last := []guarded.Step{
		put(m.tree.Tokens(), jobtree.EncodeTokens(o.tokens)),
		put(m.tree.Operated(), o.nodes[m.tree.Operated()]), // what is newer would be taken for changes from outside
		{Write: registry.Put(m.tree.Config(), o.config), Guard: registry.Unchanged(m.tree.Config(), kept)},
	}
	w := guarded.NewWriter(m.to, registry.Unchanged(m.tree.Config(), kept))
	if !m.apart && len(first)+len(last) <= guarded.MaxSteps {
		first, last = nil, append(first, last...)
	}
	if again, err = w.Commit(ctx, nil, first, nil); err == nil {
		if m.passed(o.read) > m.copies { // fires have come that nobody has noted
			m.copies *= 2
			return true, nil
		}
		again, err = w.Commit(ctx, nil, nil, last)
		if m.passed(o.read) > m.copies && (err == nil || again) { // it stood between the two
			m.late, again = &original{state: o.state, cfg: o.cfg, config: o.config, nodes: o.nodes, read: m.now(ctx)}, true
		}
		if errors.Is(err, registry.ErrTooLarge) && len(first) == 0 && !m.apart { // nothing was written
			m.apart = true
			return true, nil
		}
	}
	if errors.Is(err, registry.ErrConflict) || again && ctx.Err() == nil {
		return true, nil
	}
	return false, away(ctx, m.r.To, err)
}

// noteLate notes the fires that came while this mover stood before its last commit, as a machine does that is put to sleep:
// what it brought tells of none since. Who has begun an item since has run for them, or for a later one, and it is left
// alone.
func (m *mover) noteLate(ctx context.Context, e jobtree.Elsewhere, theirs registry.Snapshot) error {
	o := m.late
	if o == nil {
		return nil
	}
	if err := o.findFires(ctx, e.Since, o.read.Add(takenUp)); err != nil {
		return err
	}
	for m.late = nil; ; {
		config := theirs.Get(m.tree.Config())
		if config.Value != o.config { // somebody has decided something else
			return nil
		}
		var items []registry.Txn
		for n := range o.state.Items() {
			ofRecord, ofNote := m.tree.ItemRecord(n), m.tree.ItemMisfire(n)
			record, noted, fires := theirs.Get(ofRecord), theirs.Get(ofNote), o.missed(n, e.Since)
			if fires == "" || fires == noted.Value || record.Value != o.nodes[ofRecord] || noted.Value != o.nodes[ofNote] {
				continue
			}
			items = append(items, registry.Txn{
				If:   []registry.Condition{registry.Unchanged(ofRecord, record.Revision), registry.Unchanged(ofNote, noted.Revision)},
				Then: []registry.Write{registry.Put(ofNote, fires)},
			})
		}
		again := false
		for part := range slices.Chunk(items, partOfNotes) {
			txn := registry.Txn{If: []registry.Condition{registry.Unchanged(config.Path, config.Revision)}}
			for _, item := range part {
				txn.If, txn.Then = append(txn.If, item.If...), append(txn.Then, item.Then...)
			}
			changed, err := commit(ctx, m.r.To, m.to, txn)
			if err != nil {
				return err
			}
			again = again || changed
		}
		if !again {
			return nil
		}
		var err error
		if theirs, err = m.list(ctx, m.r.To, m.to); err != nil {
			return err
		}
	}
}

// partOfNotes is of how many items one transaction notes fires. Each makes three conditions.
const partOfNotes = registry.MaxOps/3 - 2
