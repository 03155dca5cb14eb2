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
	Moved      MoveState = jobtree.MoveMoved      // the target runs the job, and the source keeps what a way back needs
	Returning  MoveState = jobtree.MoveReturning  // the target is disabled, and the source does not run it yet
	Returned   MoveState = jobtree.MoveReturned   // the source runs the job again
	Confirming MoveState = jobtree.MoveConfirming // the target runs the job, and the source does not know yet that there is no way back
	Confirmed  MoveState = jobtree.MoveConfirmed  // the target runs the job, and there is no way back
)

// drained is what the source says of its job from the moment when it is disabled there. The target says more.
const drained MoveState = jobtree.MoveDrained

// pledge is the value of a node that says how far a move is. The target's decides: whoever changes the source has read
// the target's later than what the change is conditioned on. So a mover that was held up changes nothing any more.
type pledge struct {
	ID    string    `json:"id"` // of the move, the same on both sides
	State MoveState `json:"state"`
	Who   string    `json:"who,omitempty"`
	When  time.Time `json:"when"`

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
	case p.State == "" || p.State == Returned:
		return nil
	case p.State == Confirmed:
		return fmt.Errorf("%s it is disabled since a move of %s, which was confirmed", side, p.When.Format(time.RFC3339))
	default:
		return fmt.Errorf("%s it is %s by a move of %s: move it on, or take it back", side, p.State, p.When.Format(time.RFC3339))
	}
}

// guard is the condition that a node is as it was read.
func (t jobNodes) guard(path string) registry.Condition {
	return registry.Unchanged(path, t.nodes[path].Revision)
}
