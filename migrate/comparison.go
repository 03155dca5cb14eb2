package migrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// comparison is what the target lacks of a job.
type comparison struct {
	exists bool               // the target has the job
	found  registry.Condition // that the target has this config, or none
	marks  []guarded.Step     // what operators said
	// checkpoints tells that a target that has the job gets checkpoints, which are among the marks.
	checkpoints bool
	config      []guarded.Step // the config node, if it must be written, and what is written with it
	// changes are what people would call a difference; what is written for the sake of order is none.
	changes []Change
	tokens  *Change
	notes   []string
	note    *guarded.Note // what is written down of that; nil if nothing is
	// unwritable tells why nothing can be written down, so that nothing may be written.
	unwritable error
}

// differs tells whether the target has the job and somebody wanted it otherwise.
func (c *comparison) differs() bool { return c.exists && len(c.changes) > 0 }

// compare finds what the target lacks of a job. text is the config that it is to have.
func compare(o *original, text string, target jobNodes) (comparison, error) {
	names := target.state.Tree()
	found := target.nodes[names.Config()]
	c := comparison{exists: found.Exists(), found: registry.Unchanged(names.Config(), found.Revision)}
	if err := target.state.Tokens().Err; err != nil {
		return c, err
	}
	members := memberChanges(target, text)
	c.changes = members
	c.compareMarks(o.wanted(), !o.config.Disabled, target)
	c.compareLost(o, target)
	present := target.state.Tokens().Value
	if start := o.tokens(present.Base); start != present {
		step, change := target.put(names.Tokens(), jobtree.EncodeTokens(start))
		c.config, c.tokens = append(c.config, step), &change
	}
	if len(members) == 0 {
		text = found.Value // equal in meaning, and perhaps not in its bytes
	}
	if len(members) > 0 || len(c.config) > 0 {
		step, _ := target.put(names.Config(), text)
		c.config = append(c.config, step)
	}
	return c, nil
}

// compareMarks finds which marks of operators are missing, differ, or are too many.
func (c *comparison) compareMarks(wanted map[string]string, startEnabled bool, target jobNodes) {
	for _, path := range slices.Sorted(maps.Keys(wanted)) {
		if found := target.nodes[path]; !found.Exists() || found.Value != wanted[path] {
			c.addMark(target.put(path, wanted[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(target.nodes)) {
		name, ok := jobtree.Parse(path)
		if _, keep := wanted[path]; !ok || keep {
			continue
		}
		if name.Kind == jobtree.KindItemDisabled ||
			name.Kind == jobtree.KindServer && target.state.Server(name.Key).Disabled == startEnabled {
			c.addMark(target.remove(path))
		}
	}
}

// compareLost adds what has lost executions run again. Once the target has the job, nobody can tell whether they were.
func (c *comparison) compareLost(o *original, target jobNodes) {
	items := slices.Sorted(maps.Keys(o.lost))
	if c.exists {
		c.noteItems("not copied: lost executions that wait to be run again, of items %s", items)
		return
	}
	steps, changes := o.rerun(target, time.Now())
	c.marks, c.changes = append(c.marks, steps...), append(c.changes, changes...)
	c.noteItems("run again in the target: lost executions of items %s", items)
}

func (c *comparison) noteItems(text string, items []int) {
	if len(items) > 0 {
		c.notes = append(c.notes, fmt.Sprintf(text, list(items)))
	}
}

func (c *comparison) addMark(step guarded.Step, change Change) {
	c.marks, c.changes = append(c.marks, step), append(c.changes, change)
}

// put returns the write of a node, guarded by what was compared, and the change that the report shows.
func (t jobNodes) put(path, value string) (guarded.Step, Change) {
	found := t.nodes[path]
	change := Change{Node: t.below(path), To: &value}
	if found.Exists() {
		change.From = &found.Value
	}
	return guarded.Step{Write: registry.Put(path, value), Guard: registry.Unchanged(path, found.Revision)}, change
}

// remove is put for a node that has to go.
func (t jobNodes) remove(path string) (guarded.Step, Change) {
	found := t.nodes[path]
	return guarded.Step{Write: registry.Delete(path), Guard: registry.Unchanged(path, found.Revision)},
		Change{Node: t.below(path), From: &found.Value}
}

// below returns a path as it reads below the job.
func (t jobNodes) below(path string) string { return path[len(t.state.Tree().Root())+1:] }

// memberChanges compares configurations member by member, by what they mean. One that cannot be read
// differs as a whole, and one that is not there is a single change.
func memberChanges(target jobNodes, text string) []Change {
	found, config := target.nodes[target.state.Tree().Config()], target.state.Config
	if !found.Exists() {
		return []Change{{Node: "config", To: &text}}
	}
	before, err := jobtree.EncodeConfig(config.Value)
	if err != nil || config.Err != nil {
		return []Change{{Node: "config", From: &found.Value, To: &text}}
	}
	from, to := membersOf(before), membersOf(text)
	names := maps.Clone(from)
	maps.Copy(names, to)
	var changes []Change
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if string(from[name]) != string(to[name]) {
			changes = append(changes, Change{Node: "config." + name, From: shownMember(from, name), To: shownMember(to, name)})
		}
	}
	return changes
}

// membersOf takes apart what jobtree encoded, which is an object.
func membersOf(text string) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(text), &members)
	return members
}

func shownMember(members map[string]json.RawMessage, name string) *string {
	value, ok := members[name]
	if !ok {
		return nil
	}
	text := string(value)
	var plain string
	if json.Unmarshal(value, &plain) == nil { // without Java's escapes
		text = quote(plain)
	}
	return &text
}
