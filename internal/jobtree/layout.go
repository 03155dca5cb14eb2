package jobtree

import (
	"maps"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/javayaml"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Layout says in which words the nodes of a job are written that instances of another kind read, too. The nodes that
// are ours alone are the same in each.
type Layout uint8

const (
	// Lite is that of Elastic-Job-Lite 2.1.5, and of jobs that are not shared.
	Lite Layout = iota
	// ElasticJob3 is that of ElasticJob 3.0.x.
	ElasticJob3
)

// The values of a server node of ElasticJob 3.x. It takes every other one, and a node that is not there, for disabled.
const serverEnabled = "ENABLED"

// EncodeConfig returns the text of a job's config node; see the function of this name for [Lite]. ElasticJob 3.x
// refuses members that it does not know, so there a configuration that says more than it can say is an error, which
// names the fields.
func (l Layout) EncodeConfig(c job.Config) (string, error) {
	if l == ElasticJob3 {
		return encodeConfig3(c)
	}
	return EncodeConfig(c)
}

// DecodeConfig reads a config node. root is the value of the job's own node, in which ElasticJob 3.x keeps the class.
func (l Layout) DecodeConfig(root string, n registry.Node) (job.Config, error) {
	if l == ElasticJob3 {
		return decodeConfig3(root, n)
	}
	return DecodeConfig(n)
}

// PutConfig returns the writes that store a configuration whose text is known. root is the value of the job's own node.
func (l Layout) PutConfig(t Tree, root, text string, c job.Config) []registry.Write {
	writes := []registry.Write{registry.Put(t.Config(), text)}
	if class := rootOf(c); l == ElasticJob3 && root != class {
		writes = append(writes, registry.Put(t.Root(), class))
	}
	return writes
}

// OtherClass returns the class for which the value of the job's own node keeps the name of the job although it has no
// configuration; empty if it does not.
func (l Layout) OtherClass(root string, c job.Config) string {
	if l != ElasticJob3 || strings.TrimSpace(root) == "" || root == rootOf(c) {
		return ""
	}
	return root
}

// WithoutClass tells whether a stored configuration has no class yet, as nothing tells it but the value of the job's own
// node, root. ElasticJob 3.x writes that after the configuration, and goes on if it could not.
func (l Layout) WithoutClass(root string, stored job.Config) bool {
	return l == ElasticJob3 && strings.TrimSpace(root) == "" && stored.Class == ""
}

// PutClass returns the write that stores the class of a job that is [Layout.WithoutClass].
func (l Layout) PutClass(t Tree, c job.Config) registry.Write {
	return registry.Put(t.Root(), rootOf(c))
}

// EncodeServer returns the text of a server node.
func (l Layout) EncodeServer(disabled bool) string {
	if l == ElasticJob3 && !disabled {
		return serverEnabled
	}
	return EncodeServer(disabled)
}

// EncodeInstance returns the text of an instance's node of which nothing is asked.
func (l Layout) EncodeInstance(id string) string {
	if l != ElasticJob3 {
		return InstanceIdle
	}
	text := javayaml.AppendText(nil, 0, instanceMember, id)
	return string(javayaml.AppendText(text, 0, "serverIp", ServerOf(id)))
}

const instanceMember = "jobInstanceId"

// LayoutOf tells in which layout the node of an instance is written.
func LayoutOf(instance registry.Node) Layout {
	if strings.HasPrefix(instance.Value, instanceMember+":") {
		return ElasticJob3
	}
	return Lite
}

// LayoutOfConfig tells in which layout the text of a config node is written.
func LayoutOfConfig(text string) Layout {
	if text != "" && text[0] != '{' && yamlOfElasticJob3.MatchString(text) {
		return ElasticJob3
	}
	return Lite
}

func (l Layout) serverOf(ip string, n registry.Node) Server {
	if l == ElasticJob3 {
		return Server{IP: ip, Disabled: n.Value != serverEnabled, Unset: n.Value == "", Revision: n.Revision}
	}
	return serverOf(ip, n)
}

func (l Layout) instanceOf(id string, n registry.Node) Instance {
	i := instanceOf(id, n)
	i.Layout = LayoutOf(n)
	if l == ElasticJob3 { // which asks by other nodes
		i.Triggered, i.Shutdown, i.Request = false, false, 0
	}
	return i
}

// Ask returns the writes that ask an instance to run its items, and the guards that it is still as it was seen. ElasticJob
// 3.x heeds that the node by which it is asked comes to be, and no change of it: one that has not taken the node yet is
// asked already, and nothing is written.
func (s *State) Ask(i Instance) ([]registry.Condition, []registry.Write) {
	path := s.tree.Instance(i.ID)
	same := registry.Unchanged(path, i.Revision)
	if s.Layout() != ElasticJob3 {
		return []registry.Condition{same}, []registry.Write{registry.Update(path, InstanceTriggered)}
	}
	asked := s.tree.InstanceTrigger(i.ID)
	compare := []registry.Condition{same, registry.Unchanged(asked, s.java.triggers[i.ID])}
	if i.Triggered {
		return compare, nil
	}
	return compare, []registry.Write{registry.Put(asked, "")}
}

// Abandoned returns the writes that delete by what instances are asked that do not live any more, at most so many, and
// the guards that nothing else is asked meanwhile. Nobody else deletes these nodes, and an instance that comes back under
// its id would not heed the next request.
func (s *State) Abandoned(most int) (compare []registry.Condition, writes []registry.Write) {
	if s.Layout() != ElasticJob3 {
		return nil, nil
	}
	for _, id := range slices.Sorted(maps.Keys(s.java.triggers)) {
		if s.Instance(id).Created == 0 && len(writes) < most {
			path := s.tree.InstanceTrigger(id)
			compare, writes = append(compare, registry.Unchanged(path, s.java.triggers[id])), append(writes, registry.Delete(path))
		}
	}
	return compare, writes
}

// Answer returns the write by which an instance takes back what was asked of it, and the guard that nothing else was.
func (s *State) Answer(i Instance) (registry.Condition, registry.Write) {
	if s.Layout() == ElasticJob3 {
		path := s.tree.InstanceTrigger(i.ID)
		return registry.Unchanged(path, i.Request), registry.Delete(path)
	}
	path := s.tree.Instance(i.ID)
	return registry.Unchanged(path, i.Request), registry.Update(path, InstanceIdle)
}
