package jobtree

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// nodeMove says how far the move of a job is that elasticron migrate carries out. The registry that the job leaves and
// the one to which it goes have one each. Neither Java nor the scheduler reads it.
const nodeMove = "/leader/move"

// Move holds how far the job's move by elasticron migrate is.
func (t Tree) Move() string { return t.root + nodeMove }

// The states of a move. Those of the registry that the job leaves are drained, returned and confirmed.
const (
	MovePrepared   = "prepared"   // the job waits here, disabled, and the registry that it leaves runs it, or drains
	MoveDrained    = "drained"    // it is disabled here, and may run where it goes
	MoveMoved      = "moved"      // it runs here
	MoveReturning  = "returning"  // it is disabled here, and is to run again where it came from
	MoveReturned   = "returned"   // it runs again where it came from: here, or elsewhere if the mark says away
	MoveConfirming = "confirming" // it runs here, and the registry that it left does not know yet that there is no way back
	MoveConfirmed  = "confirmed"  // there is no way back
)

// MoveMark is what everybody may know of a move.
type MoveMark struct {
	ID    string    `json:"id"`
	State string    `json:"state"`
	When  time.Time `json:"when"`
	Away  bool      `json:"away"` // returned from here, and not to here
}

// DecodeMove reads the node of [Tree.Move]. The zero mark is that of a node that is not there. The error does not quote the
// node, which may hold a configuration with secrets.
func DecodeMove(n registry.Node) (m MoveMark, err error) {
	if !n.Exists() {
		return m, nil
	}
	if err := json.Unmarshal([]byte(n.Value), &m); err != nil || m.ID == "" {
		return m, fmt.Errorf("%s cannot be read: its %d bytes are no JSON object with an id", n.Path, len(n.Value))
	}
	return m, nil
}
