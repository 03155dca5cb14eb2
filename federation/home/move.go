package home

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// ErrRefused says that the job must not or cannot be moved so. Nothing was changed by the call.
var ErrRefused = errors.New("not moved")

// ErrCalledOff says that the job was enabled or removed before it was closed, and stays where it is; or that others moved
// it on.
var ErrCalledOff = errors.New("the move was called off")

// MoveOptions say how a job is moved. The zero value moves it.
type MoveOptions struct {
	// DryRun changes nothing, and tells what would be done.
	DryRun bool
	// Who moves the job, How, such as by which program, and why, is written down with the job's operations. Who and How have
	// at most 200 bytes, a Reason 1,000. The defaults are "unknown", "move" and no reason.
	Who, How, Reason string
	// Progress hears, on the caller's goroutine, what is done or waited for next. nil hears nothing.
	Progress func(step string)
}

func (o MoveOptions) author() guarded.Author {
	return guarded.Author{Who: cmp.Or(o.Who, "unknown"), How: cmp.Or(o.How, "move"), Reason: o.Reason}
}

// Moved tells of a move.
type Moved struct {
	Job  string `json:"job"`
	From string `json:"from,omitempty"` // empty if the job was there already
	To   string `json:"to"`
	// Done tells that the job is in To. After an error without it, the same call goes on where this one ended.
	Done bool `json:"done"`
	// Resumed tells that an earlier call had begun the move.
	Resumed bool `json:"resumed,omitempty"`
	// Notes are for the person who moves the job.
	Notes []string `json:"notes,omitempty"`
}

// Move makes the registry named to the home of a job; the package documentation tells how. It waits for what runs to end,
// as long as ctx lasts. If ctx ends or the process dies, call it again to go on, from anywhere; until the job is closed,
// an operator can enable it instead to call the move off. A job that is in to, and not stopped on its way elsewhere, stays as it
// is; what an earlier move has left of it in other registries is cleaned up.
//
// Errors: [ErrRefused], before anything was changed, if no registry knows the job, it is being moved to another registry, by
// elasticron migrate too, or removed, something of it cannot be read, to has a job of this name, or to or the directory cannot
// be written; [ErrCalledOff]; [ErrInvalidOption]; the cause of ctx; and those of [Directory.Find] and of the registries. If to or
// the directory cannot be written any more when the job was stopped already, it is not closed, and the error is that of the
// registry.
func (d *Directory) Move(ctx context.Context, job, to string, opts MoveOptions) (Moved, error) {
	r := Moved{Job: job, To: to}
	err := opts.author().Check()
	if err == nil && registry.CheckPath(jobtree.For(job).Root()) != nil {
		err = fmt.Errorf("%w: the name of the job is %q, must be one segment of a path", ErrInvalidOption, job)
	}
	if err == nil && !slices.Contains(d.names, to) {
		err = fmt.Errorf("%w: there is no registry %q, but %s", ErrInvalidOption, to, listed(d.names))
	}
	if err == nil {
		_, err = d.get(ctx, to, job)
	}
	if err == nil {
		err = d.move(ctx, &r, opts)
	}
	if err != nil {
		return r, fmt.Errorf("move job %q to %s: %w", job, to, err)
	}
	return r, nil
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrRefused}, args...)...)
}

func (d *Directory) move(ctx context.Context, r *Moved, opts MoveOptions) error {
	find := d.findMending
	if opts.DryRun {
		find = d.find
	}
	p, err := find(ctx, r.Job)
	m := &mover{d: d, r: r, opts: opts, tree: jobtree.For(r.Job), copies: firstCopy}
	switch {
	case err != nil:
		return err
	case p.Registry == "":
		return refused("no registry knows the job")
	case p.From != "" && p.Registry != r.To:
		return refused("it is being moved from %s to %s: complete that first", p.From, p.Registry)
	case p.From == "" && p.Registry == r.To:
		if err := m.stays(ctx, p); err != nil {
			return err
		}
		r.Done = true
		return m.tidy(ctx, p)
	}
	r.From, r.Resumed = cmp.Or(p.From, p.Registry), p.From != ""
	for _, end := range []struct {
		name  string
		store *Store
	}{{r.From, &m.from}, {r.To, &m.to}} {
		if *end.store, err = d.store(ctx, end.name); err != nil {
			return err
		}
	}
	if p.From != "" && opts.DryRun {
		m.say("it has left %s, and would be copied to %s", r.From, r.To)
		return nil
	}
	err = m.carryOut(ctx, p)
	if err != nil && ctx.Err() != nil {
		err = m.standing(err)
	}
	r.Done = err == nil && !opts.DryRun
	return err
}

// carryOut brings a job from where it was found to where it is to be.
func (m *mover) carryOut(ctx context.Context, p Place) error {
	if p.From == "" {
		if err := m.depart(ctx, p); err != nil || m.opts.DryRun {
			return err
		}
	}
	m.stands = fmt.Sprintf("it has left %s: call it again to go on", m.r.From)
	if err := m.arrive(ctx); err != nil {
		return err
	}
	if err := m.settle(ctx); err != nil {
		return err
	}
	now, err := m.d.find(ctx, m.r.Job)
	switch {
	case err != nil:
		return err
	case now.Registry != m.r.To || now.From != "":
		return fmt.Errorf("%w: somebody has moved the job on, to %s", ErrCalledOff, now.Registry)
	case p.From == "" && !p.Exists: // a mover may have died when the job had arrived where it was removed
		return m.tidy(ctx, now)
	}
	return nil
}

// standing completes an error with how far the job is, unless that was said.
func (m *mover) standing(err error) error {
	if m.stands == "" {
		return err
	}
	err = fmt.Errorf("%s: %w", m.stands, err)
	m.stands = ""
	return err
}

// mover carries out one move.
type mover struct {
	d        *Directory
	r        *Moved
	opts     MoveOptions
	tree     jobtree.Tree
	from, to Store
	id       string        // of the move, once the job is closed
	stands   string        // how far the job is, and what can be done then, for an error that keeps it there; empty: where it was
	copies   time.Duration // how long copying the job may take
	late     *original     // what was brought later than that, read when it had been; nil: nothing was
}

func (m *mover) say(format string, args ...any) {
	if m.opts.Progress != nil {
		m.opts.Progress(fmt.Sprintf(format, args...))
	}
}

func (m *mover) note(format string, args ...any) {
	m.r.Notes = append(m.r.Notes, fmt.Sprintf(format, args...))
}

// commit carries out one transaction. again tells that something has changed meanwhile, or that the answer was lost: look
// again.
func commit(ctx context.Context, name string, store Store, txn registry.Txn) (again bool, err error) {
	_, err = store.Commit(ctx, txn)
	if registry.LookAgain(ctx, err) {
		return true, nil
	}
	return false, away(ctx, name, err)
}

// list reads all of the job in a registry.
func (m *mover) list(ctx context.Context, name string, store Store) (registry.Snapshot, error) {
	nodes, revision, err := store.List(ctx, m.tree.Root())
	return registry.NewSnapshot(revision, nodes), away(ctx, name, err)
}

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
		return refused("%s has a job of this name, which did not come from %s: remove one of them", m.r.To, m.r.From)
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
		} else if err := m.writable(ctx); err != nil {
			return asRefused(err)
		}
		switch {
		case m.opts.DryRun:
			m.foretell(now.state)
			return nil
		case now.next == toStop:
			m.say("stopping it in %s", m.r.From)
			m.stands = fmt.Sprintf("it may be stopped in %s: call it again to go on, or enable the job to call it off", m.r.From)
			again, err := commit(ctx, m.r.From, m.from, m.stop(shown, now.state, now.operated))
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

// departing is a job in its former home, and what is next of its departure from there.
type departing struct {
	next     departure
	state    *jobtree.State
	operated jobtree.Operated
}

// departure is a step of a job that leaves its former home.
type departure int

const (
	toStop      departure = iota // nobody moves it yet
	toShut                       // it is stopped, and is to be closed when nothing of it runs
	hasDeparted                  // somebody has closed it, and perhaps completed the move
)

// nextOfDeparture tells what is next, by what is shown of the job in its former home. began says that the job was stopped for
// this move before, by this call or as it has seen.
func (m *mover) nextOfDeparture(shown registry.Snapshot, began bool) (departing, error) {
	config := shown.Get(m.tree.Config())
	e, elsewhere := jobtree.DecodeElsewhere(config)
	switch {
	case elsewhere && e.Home == m.r.To:
		return departing{next: hasDeparted}, nil
	case elsewhere:
		return departing{}, refused("it has moved to %s meanwhile", e.Home)
	case !config.Exists():
		return departing{}, fmt.Errorf("%w: the job was removed", ErrCalledOff)
	}
	st, operated, err := m.movable(shown)
	if err != nil {
		return departing{}, err
	}
	now := departing{state: st, operated: operated}
	stopped := operated.Moving != nil && st.Config.Value.Disabled // on an enabled job it says nothing
	switch {
	case stopped && operated.Moving.To != m.r.To:
		return departing{}, refusedOnItsWay(operated)
	case stopped:
		now.next = toShut
	case began:
		return departing{}, fmt.Errorf("%w: the job was enabled", ErrCalledOff)
	}
	return now, nil
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

func refusedOnItsWay(operated jobtree.Operated) error {
	return refused("it is being moved to %s: complete that first, or enable the job to call it off", operated.Moving.To)
}

// movable reads a job that can be moved.
func (m *mover) movable(shown registry.Snapshot) (*jobtree.State, jobtree.Operated, error) {
	st := jobtree.StateOf(m.r.Job, shown)
	var operated jobtree.Operated
	var err error
	if n := shown.Get(m.tree.Operated()); n.Exists() {
		operated, err = jobtree.DecodeOperated(n)
	}
	if err = errors.Join(st.Config.Err, st.Tokens().Err, err); err != nil {
		return nil, operated, refused("something of it cannot be read: %v", err)
	}
	for n := range st.Items() {
		if err := st.Item(n).Record.Err; err != nil {
			return nil, operated, refused("something of it cannot be read: %v", err)
		}
	}
	if operated.Removing != "" {
		return nil, operated, refused("it is being removed: complete that, or enable the job to call it off")
	}
	if err := m.migrates(shown.Get(m.tree.Move())); err != nil {
		return nil, operated, err
	}
	return st, operated, nil
}

// migrates refuses a job that elasticron migrate moves, or has moved away: what it keeps of that in the job's tree does not
// go with the job, and without it both registries of that move would run the job.
func (m *mover) migrates(n registry.Node) error {
	mark, err := jobtree.DecodeMove(n)
	switch {
	case err != nil:
		return refused("how far its move by elasticron migrate is cannot be read: %v", err)
	case mark.State == "", mark.State == jobtree.MoveReturned && !mark.Away:
		return nil
	case mark.State == jobtree.MoveReturned:
		return refused("elasticron migrate has taken it back, at %s: it does not run here", mark.When.Format(time.RFC3339))
	case mark.State == jobtree.MoveConfirmed:
		return refused("elasticron migrate has moved it elsewhere, which was confirmed at %s: it does not run here", mark.When.Format(time.RFC3339))
	}
	return refused("elasticron migrate moves it, and it is %q since %s: complete and confirm that, or take it back", mark.State, mark.When.Format(time.RFC3339))
}

func (m *mover) foretell(st *jobtree.State) {
	if running := runningItems(st); running != nil {
		m.say("it would be stopped in %s, and closed when its items %v have ended", m.r.From, running)
	} else {
		m.say("it would be stopped and closed in %s: nothing of it runs", m.r.From)
	}
	m.say("then it would be copied to %s", m.r.To)
}

// stop is the transaction that disables the job and notes why.
func (m *mover) stop(shown registry.Snapshot, st *jobtree.State, operated jobtree.Operated) registry.Txn {
	now := time.Now().UTC().Truncate(time.Millisecond)
	id := rand.Text()[:16]
	cfg := st.Config.Value
	operated.Moving = &jobtree.Moving{To: m.r.To, Move: id, Since: now, Disabled: cfg.Disabled}
	by := m.opts.author()
	operated = operated.With(jobtree.Operation{
		ID: id, Verb: "move", Who: by.Who, How: by.How, When: now, Reason: by.Reason,
		Changed: fmt.Sprintf("registry %s -> %s", m.r.From, m.r.To),
	})
	cfg.Disabled = true
	text, err := jobtree.EncodeConfig(cfg)
	if err != nil { // what was read can be written
		text = shown.Get(m.tree.Config()).Value
	}
	return registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(m.tree.Config(), st.Config.Revision),
			registry.Unchanged(m.tree.Operated(), shown.Get(m.tree.Operated()).Revision),
			registry.Unchanged(m.tree.Move(), shown.Get(m.tree.Move()).Revision),
		},
		Then: []registry.Write{
			registry.Put(m.tree.Config(), text),
			registry.Put(m.tree.Operated(), jobtree.EncodeOperated(operated)),
		},
	}
}

// unwritableError says that the job must not leave its home yet.
type unwritableError struct {
	registry string
	err      error
}

func (e *unwritableError) Error() string {
	return fmt.Sprintf("%s cannot be written: %v", e.registry, e.err)
}

func (e *unwritableError) Unwrap() error { return e.err }

// asRefused has a registry that cannot be written refuse a move of which nothing was done.
func asRefused(err error) error {
	if unwritable := (*unwritableError)(nil); errors.As(err, &unwritable) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// writable fails if it is certain that the job could not arrive: that is to be known before it is stopped, and before it is
// closed, as from then on nothing calls the move off. A directory that is away, or silent, is no reason: it is told by whoever moves
// next, and the job is not to stand still for it.
func (m *mover) writable(ctx context.Context) error {
	if err := m.try(ctx, m.r.To, m.to); err != nil || m.d.name == m.r.To || m.d.name == m.r.From {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, directoryAnswers)
	defer cancel()
	store, err := m.d.store(bounded, m.d.name)
	if err == nil {
		err = m.try(bounded, m.d.name, store)
	}
	if unwritable := (*unwritableError)(nil); errors.As(err, &unwritable) {
		return err
	}
	return ctx.Err()
}

const (
	// directoryAnswers is how long a move waits to hear whether the directory can be written.
	directoryAnswers = 5 * time.Second
	// tryAgain is the pause before a registry is asked again that did not say.
	tryAgain = 100 * time.Millisecond
)

// try asks a registry to write of the job what a move writes there, under conditions of which one never holds. So it is not
// done, now or by a late copy, whoever dies or sleeps meanwhile. A registry that refuses the user, or is full, says so before
// it looks at conditions.
func (m *mover) try(ctx context.Context, name string, store Store) error {
	for {
		_, err := store.Commit(ctx, registry.Txn{
			If:     []registry.Condition{registry.Absent(m.tree.Config()), registry.Present(m.tree.Config())},
			Then:   []registry.Write{registry.Put(m.tree.Config(), ""), registry.Put(m.tree.Operated(), "")},
			Repeat: registry.RepeatHarmless,
		})
		switch {
		case err == nil, errors.Is(err, registry.ErrConflict):
			return nil
		case errors.Is(err, registry.ErrDenied), errors.Is(err, registry.ErrNoSpace):
			return &unwritableError{name, err}
		case !errors.Is(err, registry.ErrUnknownOutcome) || ctx.Err() != nil:
			return away(ctx, name, err)
		}
		select { // it may answer that at once
		case <-time.After(tryAgain):
		case <-ctx.Done():
			return away(ctx, name, ctx.Err())
		}
	}
}

// shut waits until nothing of the stopped job runs and its owners have had time to note what they missed, and closes it. It
// answers false if the configuration is not that of revision any more, or the mark of elasticron migrate not that of migrated.
func (m *mover) shut(ctx context.Context, revision, migrated registry.Revision) (closed bool, err error) {
	m.stands = fmt.Sprintf("it is stopped in %s, and not closed: call it again to go on, or enable the job to call it off", m.r.From)
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

// close has the former home say where the job is, if it is still as shown.
func (m *mover) close(ctx context.Context, shown registry.Snapshot, st *jobtree.State, migrated registry.Revision) (closed bool, err error) {
	operated, err := jobtree.DecodeOperated(shown.Get(m.tree.Operated()))
	if err != nil || operated.Moving == nil {
		return false, nil
	}
	if err := m.writable(ctx); err != nil {
		return false, m.standing(err)
	}
	m.say("closing it in %s", m.r.From)
	cfg := st.Config.Value
	cfg.Disabled = operated.Moving.Disabled
	text, err := jobtree.EncodeConfig(cfg)
	if err != nil {
		return false, refused("its configuration cannot be written: %v", err)
	}
	m.stands = fmt.Sprintf("it is stopped in %s, and may be closed: call it again to go on", m.r.From)
	again, err := commit(ctx, m.r.From, m.from, registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(m.tree.Config(), st.Config.Revision),
			registry.Unchanged(m.tree.Operated(), shown.Get(m.tree.Operated()).Revision),
			registry.Unchanged(m.tree.Move(), migrated),
		},
		Then: []registry.Write{registry.Put(m.tree.Config(), jobtree.EncodeElsewhere(jobtree.Elsewhere{
			Home: m.r.To, Move: operated.Moving.Move, Since: operated.Moving.Since, Config: text,
		}))},
	})
	return !again && err == nil, err
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

// rename gives a name another home that no registry has a job of. If the job has been in its new home, that still says where it
// went. One transaction in From overrules that word, by its revision, and keeps everybody from creating the job in From. Whoever
// deleted the word before would let the job be created in both.
func (m *mover) rename(ctx context.Context, p Place) error {
	if m.opts.DryRun {
		m.say("%s has no job of this name: it would be created in %s from now on", m.r.From, m.r.To)
		return nil
	}
	ours, err := m.d.get(ctx, m.r.From, m.r.Job)
	if err != nil {
		return err
	}
	if e, is := jobtree.DecodeElsewhere(ours); ours.Exists() && (!is || !e.Arriving && ours.Revision != p.over) {
		return refused("it was created in %s meanwhile: move it again", m.r.From)
	}
	word := jobtree.Elsewhere{Home: m.r.To}
	if word.Kept, err = m.former(ctx); err != nil {
		return err
	}
	again, err := commit(ctx, m.r.From, m.from, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(m.tree.Config(), ours.Revision)},
		Then: []registry.Write{registry.Put(m.tree.Config(), jobtree.EncodeElsewhere(word))},
	})
	if again {
		return refused("it was created in %s meanwhile: move it again", m.r.From)
	}
	if err != nil {
		return err
	}
	m.note("%s had no job of this name; it is created in %s from now on", m.r.From, m.r.To)
	return m.d.freePlace(ctx, m.r.Job, Place{Registry: m.r.To, over: word.Kept})
}

// former returns the revision of what To says of a job that has been there, when nothing else is left of it; 0 if it says nothing.
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
		there, err := m.d.get(ctx, e.Home, m.r.Job)
		switch {
		case err != nil:
			return 0, err
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

// listed joins what a text names.
func listed(all []string) string { return strings.Join(all, ", ") }
