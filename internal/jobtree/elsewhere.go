package jobtree

import (
	"fmt"
	"strings"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// Elsewhere stands in the config node of a job whose home is another registry of a federation. Nothing can use such a
// config: no instance begins, claims, leads or asks for anything under it, because all of that is guarded by a config that
// was read before; and nobody stores another one, because those who create a job want the node absent. So it fences off
// everything that has not heard yet that the job has moved.
type Elsewhere struct {
	// Home is the name of the registry to look in. Where Arriving is set, the job comes from there.
	Home string
	// Move is the id of the move that is under way; empty if none is.
	Move string
	// Config is the configuration of a job that has left and not arrived yet, as it is to be there. It stands only in the
	// registry that the job leaves, until it has arrived.
	Config string
	// Kept is the revision of the node that keeps the job's place in its new home; 0 while that is not known. Once it is
	// known, the job has arrived when that node was written since, and is not an older copy from a backup. Where nothing
	// moves, it is the revision of what Home says of where the job is, if that is older than this word and does not count
	// any more.
	Kept registry.Revision
	// Since is when the job was stopped for its move.
	Since time.Time
	// Arriving keeps the place of a job that is being copied here.
	Arriving bool
	// FirstToken is the lowest fencing token that may have been granted where the job was last, when it left; 0 if that is not
	// known. An older copy of the job, which came back with a backup and left in its stead, has a lower one.
	FirstToken int64
}

// Leaving tells whether the job has left and is not known to have arrived.
func (e Elsewhere) Leaving() bool { return e.Config != "" }

// KeptBy tells whether a config node of the new home keeps the place of a job that is leaving.
func (e Elsewhere) KeptBy(n registry.Node) bool {
	place, is := DecodeElsewhere(n)
	return is && place.Arriving && place.Move == e.Move && (e.Kept == 0 || e.Kept == n.Revision)
}

// Arrived tells whether a job that was leaving has arrived, as the config node of its new home proves: it is the one that
// kept the place, and was written since.
func (e Elsewhere) Arrived(n registry.Node) bool {
	place, is := DecodeElsewhere(n)
	keptAnew := is && place.Arriving && place.Move == e.Move
	return e.Kept != 0 && n.Created <= e.Kept && n.Revision > e.Kept && !keptAnew
}

// Unproved tells whether a job that was leaving is neither on its way nor proved to have arrived: the node that kept its place is
// gone. It has arrived and was removed since, or the new home was restored from a backup of before. Nobody can tell these
// apart, so what the former home keeps of the job may be all that there is.
func (e Elsewhere) Unproved(n registry.Node) bool {
	return e.Kept != 0 && !e.KeptBy(n) && !e.Arrived(n)
}

// elsewhereBegins is how the text of every Elsewhere begins, and that of no config: that begins with the name.
const elsewhereBegins = `{"home":`

// EncodeElsewhere returns the text of a config node that says where the job is, as in {"home":"b"}.
func EncodeElsewhere(e Elsewhere) string {
	w := writer{text: []byte{'{'}}
	w.string("home", e.Home)
	w.string("move", e.Move)
	w.count("kept", int64(e.Kept))
	w.instant("since", e.Since)
	w.flag("arriving", e.Arriving)
	w.count("firstToken", e.FirstToken)
	w.string("config", e.Config)
	return string(append(w.text, '}'))
}

// DecodeElsewhere reads where a job is from its config node. It answers false for a config, and for what is neither.
func DecodeElsewhere(n registry.Node) (Elsewhere, bool) {
	if !strings.HasPrefix(n.Value, elsewhereBegins) {
		return Elsewhere{}, false
	}
	o, err := parseObject(n.Value)
	if err != nil {
		return Elsewhere{}, false
	}
	var e Elsewhere
	var r reader
	for m := range o.members() {
		switch m.name {
		case "home":
			e.Home = r.text(m)
		case "move":
			e.Move = r.text(m)
		case "kept":
			e.Kept = registry.Revision(r.count(m))
		case "since":
			e.Since = r.instant(m)
		case "arriving":
			e.Arriving = r.flag(m)
		case "firstToken":
			e.FirstToken = r.count(m)
		case "config":
			e.Config = r.text(m)
		}
	}
	return e, r.err == nil && e.Home != ""
}

// ElsewhereError is the error of [DecodeConfig] for a job whose home is another registry.
type ElsewhereError struct {
	Path string
	Elsewhere
}

// Error names the node and the registry to look in.
func (e *ElsewhereError) Error() string {
	switch {
	case e.Arriving:
		return fmt.Sprintf("%s: the job is being moved here from registry %q", e.Path, e.Home)
	case e.Leaving():
		return fmt.Sprintf("%s: the job is being moved to registry %q", e.Path, e.Home)
	default:
		return fmt.Sprintf("%s: the job's home is registry %q", e.Path, e.Home)
	}
}

// Moving says that a job is stopped to be moved to another registry.
type Moving struct {
	To string
	// Move is the id of the move.
	Move string
	// Since is when the job was stopped, and Disabled that it had been disabled before.
	Since    time.Time
	Disabled bool
}

// Decided returns the config node of a job as people have decided it, for files: a job that is stopped to be moved to another
// registry says whether it is disabled as it will say there. operated is the node of its operations, or the zero Node.
func Decided(config, operated registry.Node) registry.Node {
	c, err := DecodeConfig(config)
	o, err2 := DecodeOperated(operated)
	if err != nil || err2 != nil || !c.Disabled || o.Moving == nil || o.Moving.Disabled {
		return config
	}
	c.Disabled = false
	if text, err := EncodeConfig(c); err == nil {
		config.Value = text
	}
	return config
}

func (v *Moving) write(w *writer) {
	w.string("to", v.To)
	w.string("move", v.Move)
	w.instant("since", v.Since)
	w.flag("disabled", v.Disabled)
}

func (v *Moving) read(r *reader, o object) {
	for m := range o.members() {
		switch m.name {
		case "to":
			v.To = r.text(m)
		case "move":
			v.Move = r.text(m)
		case "since":
			v.Since = r.instant(m)
		case "disabled":
			v.Disabled = r.flag(m)
		}
	}
}

// Moved returns the record as it goes on in another registry, whose revisions count from elsewhere. Sessions and numbers
// of requests by hand are of the registry that is left. So no session is named any more, the item has answered no request,
// and executions by hand name a request that is older than any there. Tokens of former executions become part of their
// base: what is shown of them stays, and no execution of the other registry is taken for one of them. The item must not be
// running.
func (r Record) Moved() Record {
	if previous, ok := r.Previous(); ok {
		previous = previous.moved()
		r.previous = previous.past(r.runner())
	}
	if r.Current != nil {
		current := r.Current.moved()
		r.Current = &current
	}
	r.Trigger, r.Before = 0, nil
	return r
}

func (e Execution) moved() Execution {
	if e.Token != 0 {
		e.Base, e.Token = e.Base+e.Token, 0
	}
	if e.Trigger != 0 {
		e.Trigger = 1 // no request has it: it is older than every job
	}
	e.Session = 0
	return e
}
