package migrate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// MoveState is how far the move of a job is. The words are part of the report's format.
type MoveState string

// The states of a move.
const (
	NotMoved   MoveState = "not moved"            // nobody began to move it
	Prepared   MoveState = jobtree.MovePrepared   // the target has the job, disabled; the source runs it, or drains
	Drained    MoveState = jobtree.MoveDrained    // the source is disabled; only where the target cannot be asked
	Moved      MoveState = jobtree.MoveMoved      // the target runs the job, and the source keeps what a way back needs
	Returning  MoveState = jobtree.MoveReturning  // the target is disabled, and the source does not run it yet
	Returned   MoveState = jobtree.MoveReturned   // the source runs the job again
	Confirming MoveState = jobtree.MoveConfirming // the target runs the job, and the source does not know yet that there is no way back
	Confirmed  MoveState = jobtree.MoveConfirmed  // the target runs the job, and there is no way back
)

// pledge is the value of a node that says how far a move is. The target's decides: whoever changes the source has read
// the target's later than what the change is conditioned on. So a mover that was held up changes nothing any more.
type pledge struct {
	ID    string    `json:"id"` // of the move, the same on both sides
	State MoveState `json:"state"`
	Who   string    `json:"who,omitempty"`
	When  time.Time `json:"when"`
	// Away tells the target of a move that was taken back from its source: both are left with Returned.
	Away bool `json:"away,omitempty"`

	// What the source had before it was disabled.
	Config  string             `json:"config,omitempty"`
	Servers map[string]*string `json:"servers,omitempty"` // nil is a server without a node
	// Since is a revision of the source just before it was disabled, and Java that Java instances lived there then.
	Since registry.Revision `json:"since,omitempty"`
	Java  bool              `json:"java,omitempty"`

	// Started tells that the target has begun to run the job, and with it what the source had lost.
	Started bool `json:"started,omitempty"`
	// Lost are the records of executions that this side has given up, and the other is to run again.
	Lost map[int]string `json:"lost,omitempty"`
}

// pledgeOf reads a side's node. The zero pledge is that of a node that is not there. The error does not quote the node: the
// configuration in it may hold secrets.
func pledgeOf(t jobNodes) (pledge, error) {
	var p pledge
	n := t.nodes[t.state.Tree().Move()]
	if !n.Exists() {
		return p, nil
	}
	if err := json.Unmarshal([]byte(n.Value), &p); err != nil || p.ID == "" {
		return p, fmt.Errorf("%s cannot be read: its %d bytes are no JSON object with an id", n.Path, len(n.Value))
	}
	return p, nil
}

func (p pledge) text() string {
	text, _ := json.Marshal(p) //nolint:errchkjson // strings, numbers and a time
	return string(text)
}

// promises tells whether the pledge is of this move, in this state.
func (p pledge) promises(id string, state MoveState) bool { return p.ID == id && p.State == state }

// untouched refuses a job in the middle of a move to those who only copy. side names the registry.
func untouched(side string, t jobNodes) error {
	p, err := pledgeOf(t)
	switch {
	case err != nil:
		return err
	case p.State == "" || p.State == Returned && !p.Away:
		if err := t.leaves(); err != nil {
			return fmt.Errorf("%s %w", side, err)
		}
		return nil
	case p.State == Returned:
		return fmt.Errorf("%s it is disabled since a move to there was taken back at %s: move it there again", side, p.When.Format(time.RFC3339))
	case p.State == Confirmed:
		return fmt.Errorf("%s it is disabled since a move of %s, which was confirmed", side, p.When.Format(time.RFC3339))
	default:
		return fmt.Errorf("%s it is %s by a move of %s: move it on, or take it back", side, p.State, p.When.Format(time.RFC3339))
	}
}

// asSource refuses a source that is the target of a move. What it says of that one is not overwritten: the registry from
// which the job came may run it, or is to go on by it.
func (s *scene) asSource() error {
	switch p := s.here; {
	case p.State == Returned && p.Away:
		return refusal{fmt.Errorf("in the source: it has returned from there to the registry from which it came, at %s: move it from that one",
			p.When.Format(time.RFC3339))}
	case p.State == Prepared, p.State == Moved, p.State == Returning, p.State == Confirming:
		return refusal{fmt.Errorf("in the source: it is %s by a move to there, of %s: complete and confirm that one first, or take it back; "+
			"where the registry from which it came is gone for good, confirm it without that",
			p.State, p.When.Format(time.RFC3339))}
	}
	return nil
}

// asTarget refuses a target that is the source of a move: of another one, or of this one if the two were confused. After a
// move from there that was confirmed, the job may come back.
func (s *scene) asTarget() error {
	switch p := s.there; {
	case p.State == Returned && !p.Away:
		return refusal{fmt.Errorf("in the target: it has returned to there at %s, and is not moved to there: are source and target confused?",
			p.When.Format(time.RFC3339))}
	case p.State == Drained:
		return refusal{fmt.Errorf("in the target: it is drained by a move from there, of %s: complete and confirm that one first, or take it back; "+
			"where the registry to which it goes is gone for good, return it without that",
			p.When.Format(time.RFC3339))}
	}
	return nil
}

// elsewhere refuses a source that another move has drained.
func (s *scene) elsewhere() error {
	if s.here.State == Drained && s.here.ID != s.there.ID {
		return refusal{fmt.Errorf("in the source: it is drained by another move, of %s: this target knows nothing of it; where the one that does is gone for good, "+
			"return it without that first", s.here.When.Format(time.RFC3339))}
	}
	return nil
}

// takenBackAlone refuses a target that was taken for lost and has the job yet: both sides may run it. To go on from there would
// leave the target with tokens below those that the source has granted since.
func (s *scene) takenBackAlone() error {
	if (s.there.State == Moved || s.there.State == Confirming) && s.here.promises(s.there.ID, Returned) {
		return refusal{fmt.Errorf("in the source: it was taken back without this target at %s, and both may run it: "+
			"return it first, which disables it in the target", s.here.When.Format(time.RFC3339))}
	}
	return nil
}

// leaving refuses a job that a move to another registry of a federation has stopped: that it is disabled is nobody's word,
// and both moves would take it for that, so that it ran nowhere in the end. What this move has disabled itself is not looked
// at: there, what is noted of a move is older, and was called off.
//
// It needs no condition of its own. That move notes it in a transaction that writes the config node and wants this move's
// node as it was, and whoever drains the source, or takes hold of the target's job, wants that config unchanged.
func (s *scene) leaving() error {
	if s.here.State == "" || s.here.State == Returned {
		if err := s.source.leaves(); err != nil {
			return refusal{fmt.Errorf("in the source: %w", err)}
		}
	}
	if s.there.State == "" {
		if err := s.target.leaves(); err != nil {
			return refusal{fmt.Errorf("in the target: %w", err)}
		}
	}
	return nil
}

// leaves tells of a job that elasticron move has stopped. On an enabled job it says nothing: that called the move off.
func (t jobNodes) leaves() error {
	n := t.nodes[t.state.Tree().Operated()]
	if !n.Exists() || t.state.Config.Err != nil || !t.state.Config.Value.Disabled {
		return nil // what has left, its config tells
	}
	operated, err := jobtree.DecodeOperated(n)
	if err != nil || operated.Moving == nil { // what cannot be read has a note
		return nil //nolint:nilerr // see above
	}
	return fmt.Errorf("it was stopped at %s to be moved to registry %q: complete that with elasticron move, or enable the job, which calls it off",
		operated.Moving.Since.UTC().Format(time.RFC3339), operated.Moving.To)
}

// guard is the condition that a node is as it was read.
func (t jobNodes) guard(path string) registry.Condition {
	return registry.Unchanged(path, t.nodes[path].Revision)
}
