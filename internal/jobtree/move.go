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
	// Servers are those that the registry which the job leaves had before the move disabled them; nil is one without a node.
	Servers map[string]*string `json:"servers"`
}

// Disabled tells whether the move, and nobody else, has disabled a server.
func (m MoveMark) Disabled(server string) bool {
	was, is := m.Servers[server]
	return is && (m.State == MoveDrained || m.State == MoveConfirmed) && (was == nil || *was != EncodeServer(true))
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

// KeepDisabled returns the text of a mark with a server as one that was disabled before the move, so that it stays so where the job
// comes back. All else stays as it is, also what this version does not know.
func KeepDisabled(text, server string) (string, error) {
	var mark, servers map[string]json.RawMessage
	err := json.Unmarshal([]byte(text), &mark)
	if had := mark["servers"]; err == nil && had != nil {
		err = json.Unmarshal(had, &servers)
	}
	if err != nil {
		return "", fmt.Errorf("the %d bytes of a move's mark are no JSON object with servers", len(text))
	}
	if servers == nil {
		servers = make(map[string]json.RawMessage)
	}
	servers[server], _ = json.Marshal(EncodeServer(true)) //nolint:errchkjson // a string
	mark["servers"], _ = json.Marshal(servers)            //nolint:errchkjson // they were read from JSON
	all, _ := json.Marshal(mark)                          //nolint:errchkjson // it was, too
	return string(all), nil
}
