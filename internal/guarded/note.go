package guarded

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/registry"
)

// Author is who changes jobs, how and why, as it is written down.
type Author struct{ Who, How, Reason string }

// The bounds of what an author says, in bytes. They are those of operators.
const (
	maxName   = 200
	maxReason = 1_000
)

// Check refuses what is too long to be written down, or no text.
func (a Author) Check() error {
	for _, said := range []struct {
		name, text string
		most       int
	}{{"Who", a.Who, maxName}, {"How", a.How, maxName}, {"Reason", a.Reason, maxReason}} {
		if len(said.text) > said.most || !utf8.ValidString(said.text) {
			return fmt.Errorf("%w: %s is %q, must be at most %d bytes of UTF-8", option.ErrInvalid, said.name, texts.Shorten(said.text), said.most)
		}
	}
	return nil
}

// Note is what is written down of a change, in each transaction that makes a part of it: that part, and those before.
// So it is true also if the last part is never made.
type Note struct {
	path     string
	found    registry.Revision  // that the node has
	job      registry.Condition // lest a job that is gone leaves the note behind
	operated jobtree.Operated   // what is written down besides
	op       jobtree.Operation  // but for what it changed
	config   registry.Node
	changes  map[string]string // of all parts, by path
	done     []string          // those of the parts that were made
}

// NoteOf is what is to be written down when steps change a job that is there, as operators write down what they do. found
// returns a node as it was read. It is nil if the job is not there, or the steps change nothing that people decide. The
// error is that of a list of operations that cannot be read, which must not be lost.
func NoteOf(job string, found func(path string) registry.Node, steps []Step, verb string, by Author) (*Note, error) {
	tree := jobtree.For(job)
	config, node := found(tree.Config()), found(tree.Operated())
	if !config.Exists() {
		return nil, nil
	}
	op := jobtree.Operation{
		ID: rand.Text()[:16], Verb: verb, Who: by.Who, How: by.How, When: time.Now().UTC().Truncate(time.Millisecond), Reason: by.Reason,
		After: cmp.Or(node.Revision, config.Created),
	}
	changes := make(map[string]string)
	for _, s := range steps {
		if text := changed(found(s.Write.Path), s.Write); text != "" {
			changes[s.Write.Path] = text
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	var operated jobtree.Operated
	if node.Exists() {
		var err error
		if operated, err = jobtree.DecodeOperated(node); err != nil {
			return nil, fmt.Errorf("what was done to the job cannot be read, so nothing can be written down with it: %w", err)
		}
	}
	return &Note{
		path: tree.Operated(), found: node.Revision, job: registry.Unchanged(config.Path, config.Revision),
		operated: operated, op: op, config: config, changes: changes,
	}, nil
}

// changed says what a write changes of what people decide about a job, without what may be secret; empty if nothing.
func changed(was registry.Node, w registry.Write) string {
	name, _ := jobtree.Parse(w.Path)
	deleted := w.Kind == registry.WriteDelete
	switch name.Kind {
	case jobtree.KindConfig:
		if was.Value == w.Value {
			return ""
		}
		return changedConfig(was, w.Value)
	case jobtree.KindServer:
		before, _ := jobtree.DecodeServer(was)
		after, _ := jobtree.DecodeServer(registry.Node{Path: w.Path, Value: w.Value})
		return fmt.Sprintf("server %s %s -> %s", name.Key, mark(before, was.Exists()), mark(after, !deleted))
	case jobtree.KindItemDisabled:
		return fmt.Sprintf("item %d %s -> %s", name.Item, mark(was.Exists(), true), mark(!deleted, true))
	default:
		return ""
	}
}

func changedConfig(was registry.Node, text string) string {
	before, err := jobtree.DecodeConfig(was)
	after, err2 := jobtree.DecodeConfig(registry.Node{Path: was.Path, Value: text, Revision: was.Revision})
	var members []string
	if err == nil && err2 == nil {
		for _, m := range jobtree.ChangedMembers(before, after) {
			members = append(members, fmt.Sprintf("%s %s -> %s", m.Name, m.Before, m.After))
		}
	}
	if members == nil {
		return "the text of the configuration"
	}
	return strings.Join(members, "; ")
}

func mark(disabled, exists bool) string {
	switch {
	case !exists:
		return "none"
	case disabled:
		return "disabled"
	default:
		return "enabled"
	}
}

// guard is the condition under which a note is written.
func (n *Note) guard() Step { return Step{Guard: registry.Unchanged(n.path, n.found)} }

// with is the note as one more step of the transaction that makes a part, and what it says then. There is none to
// write as long as nothing was changed that people decide.
func (n *Note) with(part []Step) (note Step, done []string, write bool) {
	op := n.op
	done = slices.Clone(n.done)
	for _, s := range part {
		text, is := n.changes[s.Write.Path]
		if !is {
			continue
		}
		done = append(done, text)
		if s.Write.Path == n.config.Path {
			op.Before = n.config.Value
		}
	}
	op.Changed = texts.Shorten(strings.Join(done, "; "))
	note = n.guard()
	note.Write = registry.Put(n.path, jobtree.EncodeOperated(n.operated.With(op)))
	return note, done, len(done) > 0
}
