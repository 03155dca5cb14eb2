package jobtree

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// CheckTyped tells of each member of a config node that says something and has no effect, as it is for jobs of another type: a
// script's command line in a job whose type was forgotten, which would then be no script. Where it was found it is no fault, as
// Java writes such members of every job; where somebody writes a text, it is one. If members are named, it judges those alone.
func CheckTyped(n registry.Node, named ...string) error {
	return checkTyped(n, func(m member, _ job.Type) bool { return len(named) == 0 || slices.Contains(named, m.name) })
}

// CheckNewlyTyped is [CheckTyped] but for members that stand in a stored text just so, and have no effect there either: whoever
// changes something else has not written them.
func CheckNewlyTyped(n registry.Node, stored string) error {
	was := make(map[string]string)
	if members, err := parseObject(stored); err == nil {
		for m := range members.members() {
			was[m.name] = m.value
		}
	}
	before, err := DecodeConfig(registry.Node{Value: stored})
	return checkTyped(n, func(m member, kind job.Type) bool { return err != nil || was[m.name] != m.value || before.Type == kind })
}

// checkTyped judges the members that are to be judged, which are for jobs of a kind.
func checkTyped(n registry.Node, judged func(m member, kind job.Type) bool) error {
	members, err := parseObject(n.Value)
	if err != nil {
		return at(n.Path, err)
	}
	c, err := DecodeConfig(n)
	if err != nil {
		return err
	}
	var all []error
	for m := range members.members() {
		f, known := memberNamed(m.name)
		if !known || f.kind == "" || f.kind == c.Type || !judged(m, f.kind) {
			continue
		}
		var said storedConfig
		if f.of(&said).read(m) != nil || bytes.Equal(f.of(&said).append(nil), f.standard) {
			continue
		}
		all = append(all, ofConfig(n.Path, &ValueError{
			Field: m.name, Value: maskedMember(m),
			Reason: fmt.Sprintf("must not be there, as the jobType is %s: want the jobType %s, or no such member", c.Type, f.kind),
		}))
	}
	return errors.Join(all...)
}
