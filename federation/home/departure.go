package home

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

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
	return refused("elasticron migrate moves it, and it is %q since %s: complete and confirm that, or take it back, also where the other registry is gone for good", mark.State, mark.When.Format(time.RFC3339))
}

func refusedOnItsWay(operated jobtree.Operated) error {
	return refused("it is being moved to %s: complete that first, or enable the job to call it off", operated.Moving.To)
}

// lenOfMove is how long the id of a move is.
const lenOfMove = 16

// stop is the transaction that disables the job and notes why, and since when by the registry's clock.
func (m *mover) stop(shown registry.Snapshot, st *jobtree.State, operated jobtree.Operated, since time.Time) registry.Txn {
	id := rand.Text()[:lenOfMove]
	cfg := st.Config.Value
	operated.Moving = &jobtree.Moving{To: m.r.To, Move: id, Since: since.UTC().Truncate(time.Millisecond), Disabled: cfg.Disabled}
	by := m.opts.author()
	operated = operated.With(jobtree.Operation{
		ID: id, Verb: jobtree.VerbMove, Who: by.Who, How: by.How, When: time.Now().UTC().Truncate(time.Millisecond), Reason: by.Reason,
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
