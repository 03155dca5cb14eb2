package home

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
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
	// Again moves a job that has left its home and is in no registry, as to was restored from a backup of before it arrived, or
	// it was removed there since: what its former home keeps is copied once more. It changes nothing about any other job.
	Again bool
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

// Move makes the registry named to the home of a job; the package documentation tells how. It waits for what runs to end, as
// long as ctx lasts. If ctx ends or the process dies, call it again to go on, from anywhere; until the job is closed, an
// operator can enable it instead to call the move off. A job that is in to, and not stopped on its way elsewhere, stays as
// it is; what an earlier move has left of it in other registries is cleaned up.
//
// Errors: [ErrRefused], before anything was changed, if no registry knows the job, it is being moved to another registry, by
// elasticron migrate too, or removed, something of it cannot be read, or when it fires not be told, to has a job of this name,
// to or the directory cannot be written, or something of it is too large for to, or for its home once it is closed, which is
// also a [registry.ErrTooLarge]; [ErrCalledOff]; [ErrInvalidOption]; the cause of ctx; and those of [Directory.Find] and of the
// registries. If to or the directory cannot be written any more when the job was stopped already, it is not closed, and the
// error is that of the registry.
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
	if opts.Again {
		p, err = m.again(ctx, p, err)
	}
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
	if !opts.DryRun && p.stale != r.To { // there, the place is kept anew
		if err := d.giveUpPlace(ctx, r.Job, p); err != nil {
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
	apart    bool          // the new home does not take all of it in one transaction
}

func (m *mover) say(format string, args ...any) {
	if m.opts.Progress != nil {
		m.opts.Progress(fmt.Sprintf(format, args...))
	}
}

func (m *mover) note(format string, args ...any) {
	m.r.Notes = append(m.r.Notes, fmt.Sprintf(format, args...))
}

// noteOnce is note, unless that is noted already.
func (m *mover) noteOnce(text string) {
	if !slices.Contains(m.r.Notes, text) {
		m.note("%s", text)
	}
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

// listed joins what a text names.
func listed(all []string) string { return strings.Join(all, ", ") }
