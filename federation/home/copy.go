package home

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
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
		_, elsewhere := jobtree.DecodeElsewhere(there)
		switch {
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
		case there.Exists() && !elsewhere:
			now, err := m.d.get(ctx, m.r.From, m.r.Job)
			if err != nil {
				return err
			}
			if now.Revision != closed.Revision {
				continue // another mover has gone on since this one looked
			}
			return fmt.Errorf("%w: %s has a job of this name that did not come from %s: remove it there, and call this again", ErrTwice, m.r.To, m.r.From)
		default:
			m.say("keeping its place in %s", m.r.To)
			if err := m.put(ctx, m.r.To, m.to, there, jobtree.Elsewhere{Home: m.r.From, Move: e.Move, Arriving: true}); err != nil {
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

// original is a job that was closed. Nothing of it begins any more, and who owned its items has noted what they missed, unless
// that took longer than lateNote.
type original struct {
	state  *jobtree.State
	cfg    job.Config
	config string
	tokens jobtree.Tokens
	nodes  map[string]string // that it is to have in its new home, by path, but for those above
	read   time.Time         // when it was read
	fires  []time.Time       // that came since it was closed, or come until it is taken up
}

// closedConfig returns the configuration as it was when the job was closed.
func (m *mover) closedConfig(left registry.Snapshot, e jobtree.Elsewhere) (job.Config, error) {
	closed := left.Get(m.tree.Config()).Revision
	cfg, err := jobtree.DecodeConfig(registry.Node{Path: m.tree.Config(), Value: e.Config, Revision: closed})
	if err != nil {
		return cfg, fmt.Errorf("the configuration that was closed cannot be read: %w", err)
	}
	return cfg, nil
}

func (m *mover) originalOf(ctx context.Context, cfg job.Config, left registry.Snapshot, e jobtree.Elsewhere) (original, error) {
	st := jobtree.StateOf(m.r.Job, left)
	closed := left.Get(m.tree.Config()).Revision
	o := original{state: st, cfg: cfg, config: e.Config, nodes: make(map[string]string), read: time.Now()}
	if err := o.findFires(ctx, e.Since, o.read.Add(m.copies+takenUp)); err != nil {
		return o, err
	}
	// Nothing has begun since it was closed, so no token is above this revision. Every mover finds the same one: it is
	// that of the node from which the job is copied.
	o.tokens = jobtree.Tokens{Base: st.Tokens().Value.Of(closed)}
	for n := range left.All() {
		name, known := jobtree.Parse(n.Path)
		if known && !n.Ephemeral() && carried(name.Kind) {
			o.nodes[n.Path] = n.Value
		}
	}
	for n := range st.Items() {
		it := st.Item(n)
		if it.Record.Revision != 0 {
			o.nodes[m.tree.ItemRecord(n)] = jobtree.EncodeRecord(it.Record.Value.Moved())
		}
		if fires := o.missed(n, e.Since); fires != "" {
			o.nodes[m.tree.ItemMisfire(n)] = fires
		}
	}
	if err := m.request(&o, o.read); err != nil {
		return o, err
	}
	operated, err := jobtree.DecodeOperated(left.Get(m.tree.Operated()))
	if err != nil {
		return o, err
	}
	operated.Moving = nil
	o.nodes[m.tree.Operated()] = jobtree.EncodeOperated(operated.Moved(o.begun()))
	return o, nil
}

// carried tells which nodes go with a job as they are. The others say who does what in a registry, or are made anew.
func carried(kind jobtree.Kind) bool {
	switch kind {
	case jobtree.KindServer, jobtree.KindItemDisabled, jobtree.KindItemMisfire, jobtree.KindItemRecord, jobtree.KindItemAside,
		jobtree.KindFailoverItem, jobtree.KindOffset, jobtree.KindOperated:
		return true
	default:
		return false
	}
}

// open is the job as it was before it was closed: which items run for a request is a matter of the configuration. It is without
// an assignment, as it arrives: a request also waits for items that no resharding has come to yet.
func (o *original) open() *jobtree.State {
	open := *o.state
	open.Config.Value, open.Config.Err = o.cfg, nil
	open.Epoch = jobtree.Stored[jobtree.Epoch]{}
	return &open
}

// begun is the id of the operation that made the last request by hand, if all items have run for it, and well; else it is empty.
// Nothing goes with the job of such a request, so its operation is to say so. An item that did not begin, as one that is disabled or
// that no resharding has come to yet, did not run, whether or not it still may.
func (o *original) begun() string {
	asked := o.state.Triggered()
	if !asked.Exists() || asked.Err != nil || asked.Value.Each || o.cfg.Unmonitored {
		return ""
	}
	for n := range max(o.state.Total(), o.cfg.ShardingTotalCount) {
		if !asked.Value.Asks(n) {
			continue
		}
		record := o.state.Record(n)
		answer, e := record.Value.AnswerTo(asked.Revision)
		if record.Err != nil || answer != jobtree.Answered || e == nil || e.Outcome != jobtree.Success {
			return ""
		}
	}
	return asked.Value.Operation
}

// request carries over what items still have to run by hand.
func (m *mover) request(o *original, now time.Time) error {
	items, before := o.open().Pending(now), o.state.Triggered()
	if len(items) == 0 || before.Err != nil || o.cfg.Unmonitored {
		return nil
	}
	asked := before.Value
	asked.Items, asked.Total = items, o.cfg.ShardingTotalCount // in the new home, records may be younger than the request
	text, err := jobtree.EncodeTriggered(asked)
	if err != nil {
		return err
	}
	o.nodes[m.tree.Triggered()] = text
	return nil
}

// lateBegin is how long before the stop a fire may have been that was still on time to begin: by the rules, and as much again for
// clocks that differ.
const lateBegin = 2 * inforce.LateAfter

// firstCopy is how long a copy may take at first. If it takes longer, what has changed of it is written again, with twice the
// time. It is not more than that at once: what is noted ahead takes the place of what was missed, and stays until it has come.
const firstCopy = 10 * time.Second

// takenUp is how long it may take from then on until processes see the fires come in the new home. What comes meanwhile has
// no other witness. Who takes the item up leaves out a noted fire that is still to come, and one that the item ran for.
const takenUp = 10 * time.Second

// findFires finds the newest fires that an item may have missed while the job stood, or may miss before it is taken up. Of a job
// without records nobody makes up what is noted, or takes out what has run: it would all run if executions were recorded one day.
func (o *original) findFires(ctx context.Context, since, until time.Time) error {
	schedule, err := o.cfg.Schedule()
	if err != nil || o.cfg.Disabled || o.cfg.Unmonitored || since.IsZero() || o.cfg.Misfire == job.MisfireSkip || cronexpr.IsTriggered(schedule) {
		return nil
	}
	if _, delayed := cronexpr.DelayOf(schedule); delayed {
		return nil
	}
	for fire := range cronexpr.Between(schedule, since.Add(-lateBegin), until) { // a job may have stood for months
		o.fires = append(o.fires, fire)
		if len(o.fires) == 2*jobtree.MaxMissedFires {
			o.fires = append(o.fires[:0], o.fires[jobtree.MaxMissedFires:]...)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// missed returns what is noted of an item's missed fires, with those that came while the job stood, or come before it is taken up.
func (o *original) missed(item int, since time.Time) string {
	it := o.state.Item(item)
	if it.Disabled || item >= o.cfg.ShardingTotalCount {
		return ""
	}
	if last := it.Record.Value.LastFire; last.IsZero() {
		since = since.Add(-time.Millisecond) // a fire of the very moment in which the job was stopped
	} else if since = since.Add(-lateBegin); last.After(since) {
		since = last
	}
	later := slices.IndexFunc(o.fires, func(fire time.Time) bool { return fire.After(since) })
	if later < 0 {
		return ""
	}
	noted := it.Misfire.Value
	noted.Fires = jobtree.MissedFires(append(slices.Clone(noted.Fires), o.fires[later:]...)...)
	return jobtree.EncodeMisfire(noted)
}

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
		if found := theirs.Get(path); !found.Exists() || found.Value != value {
			first = append(first, put(path, value))
		}
	}
	last := []guarded.Step{
		put(m.tree.Tokens(), jobtree.EncodeTokens(o.tokens)),
		{Write: registry.Put(m.tree.Config(), o.config), Guard: registry.Unchanged(m.tree.Config(), kept)},
	}
	w := guarded.NewWriter(m.to, registry.Unchanged(m.tree.Config(), kept))
	if len(first)+len(last) <= guarded.MaxSteps {
		first, last = nil, append(first, last...)
	}
	if again, err = w.Commit(ctx, nil, first, nil); err == nil {
		if time.Since(o.read) > m.copies { // fires have come that nobody has noted
			m.copies *= 2
			return true, nil
		}
		again, err = w.Commit(ctx, nil, nil, last)
		if now := time.Now(); now.Sub(o.read) > m.copies && (err == nil || again) { // it stood between the two
			m.late, again = &original{state: o.state, cfg: o.cfg, config: o.config, nodes: o.nodes, read: now}, true
		}
	}
	if errors.Is(err, registry.ErrConflict) || again && ctx.Err() == nil {
		return true, nil
	}
	return false, away(ctx, m.r.To, err)
}

// noteLate notes the fires that came while this mover stood before its last commit, as a machine does that is put to sleep: what
// it brought tells of none since. Who has begun an item since has run for them, or for a later one, and it is left alone.
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
			Then: []registry.Write{registry.Put(m.tree.Config(), jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: m.r.To}))},
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
			plain := jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: e.Home})
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
		return nil
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
			there, err := m.d.get(ctx, e.Home, m.r.Job)
			if err != nil || !e.Arrived(there) {
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
