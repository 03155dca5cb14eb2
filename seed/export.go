package seed

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Export returns the text of a YAML file with what people decided about the jobs of nodes, which are those of a namespace or
// of some jobs: their configurations, and which servers and items are disabled. [ParseYAML] reads it back, and [Run] into an
// empty namespace stores each configuration byte for byte as it was. A job that is stopped to be moved to another registry
// of a federation is disabled in the file only if it was so before. One that elasticron migrate has stopped, which another
// registry may run, stays disabled in it, and its servers are as they were. Nothing is said of one whose home is another registry.
//
// A configuration that a file cannot hold, because this version cannot read it or no job can run with it, is left out with all
// that is said of its job. One of which there are only warnings stands in the file byte for byte, as !stored. The error joins
// one fault for each such job; the text holds all others. Without any job the text is empty.
func Export(nodes []registry.Node) (text []byte, err error) {
	jobs, operated, moves := make(map[string][]registry.Node), make(map[string]registry.Node), make(map[string]registry.Node)
	for _, n := range nodes {
		name, known := jobtree.Parse(n.Path)
		if known && name.Kind == jobtree.KindOperated {
			operated[name.Job] = n
		}
		if known && name.Kind == jobtree.KindMove {
			moves[name.Job] = n
		}
		if known && (name.Kind == jobtree.KindConfig || name.Kind == jobtree.KindServer || name.Kind == jobtree.KindItemDisabled) {
			jobs[name.Job] = append(jobs[name.Job], n)
		}
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		if slices.ContainsFunc(jobs[name], movedAway) {
			continue
		}
		one, err := exportJob(name, jobs[name], operated[name], moves[name])
		if err != nil {
			faults = append(faults, fmt.Errorf("job %s is left out: %w", name, err))
			continue
		}
		text = append(text, one...)
	}
	return text, errors.Join(faults...)
}

// movedAway tells whether a node is a config that says in which other registry the job is. One that has left and not arrived
// is in none.
func movedAway(n registry.Node) bool {
	name, _ := jobtree.Parse(n.Path)
	e, elsewhere := jobtree.DecodeElsewhere(n)
	return name.Kind == jobtree.KindConfig && elsewhere && !e.Leaving()
}

// exportJob tries forms of the configuration from the one that reads best to the one that holds every byte, and takes
// the first that is read back as it was. operated is the node of the job's operations, and move that of its move by elasticron
// migrate, or the zero Node.
func exportJob(name string, nodes []registry.Node, operated, move registry.Node) ([]byte, error) {
	if mark, err := jobtree.DecodeMove(move); err == nil { // else each server is as it is
		nodes = slices.DeleteFunc(nodes, func(n registry.Node) bool {
			at, _ := jobtree.Parse(n.Path)
			is, _ := jobtree.DecodeServer(n)
			return at.Kind == jobtree.KindServer && is && mark.Disabled(at.Key)
		})
	}
	slices.SortFunc(nodes, func(a, b registry.Node) int { return strings.Compare(a.Path, b.Path) })
	i := slices.IndexFunc(nodes, func(n registry.Node) bool { return n.Path == jobtree.For(name).Config() })
	if i < 0 {
		return nil, errors.New("it has no configuration")
	}
	if err := usable(name, nodes[i]); err != nil {
		return nil, err
	}
	nodes[i] = jobtree.Decided(nodes[i], operated)
	disabled := startsDisabled(nodes[i])
	if oneByOne := disabledBefore(operated); disabled && oneByOne != nil { // the configuration says it of the others
		nodes = slices.DeleteFunc(nodes, func(n registry.Node) bool {
			at, _ := jobtree.Parse(n.Path)
			is, _ := jobtree.DecodeServer(n)
			return at.Kind == jobtree.KindServer && is && !slices.Contains(oneByOne, at.Key)
		})
		i = slices.IndexFunc(nodes, func(n registry.Node) bool { return n.Path == jobtree.For(name).Config() })
	}
	var why error
	for _, form := range []func(registry.Node, string) (*yaml.Node, error){shortForm, longForm, storedForm} {
		config, err := form(nodes[i], name)
		if err != nil {
			why = err
			continue
		}
		text, err := document(name, config, nodes, disabled)
		if err != nil {
			return nil, err
		}
		if why = readsBack(text, nodes[i]); why == nil {
			return text, nil
		}
	}
	return nil, why
}

// disabledBefore are the servers that were disabled before the job was, if beside Java instances that has disabled all of them;
// else it is nil.
func disabledBefore(operated registry.Node) []string {
	o, err := jobtree.DecodeOperated(operated)
	if err != nil {
		return nil // each server is as it is
	}
	return o.DisabledServers
}

// startsDisabled tells whether a server that the tree does not mention is disabled, so that an enabled one must be named.
func startsDisabled(config registry.Node) bool {
	c, err := jobtree.DecodeConfig(config)
	return err == nil && c.Disabled
}

func readsBack(text []byte, config registry.Node) error {
	file, err := ParseYAML(text)
	if err != nil {
		return err
	}
	name, _ := jobtree.Parse(config.Path)
	if file.jobs[name.Job][config.Path] != config.Value {
		return errors.New("its configuration would not be read back as it is stored")
	}
	return nil
}

// document returns the YAML of one job.
func document(name string, config *yaml.Node, nodes []registry.Node, all bool) ([]byte, error) {
	job := mapping("config", config)
	servers, items := mapping(), mapping()
	for _, n := range nodes {
		switch at, _ := jobtree.Parse(n.Path); at.Kind {
		case jobtree.KindServer:
			disabled, _ := jobtree.DecodeServer(n) // what is neither counts as enabled
			if disabled || all {
				servers.Content = append(servers.Content, plain(at.Key), plain(jobtree.EncodeServer(disabled)))
			}
		case jobtree.KindItemDisabled:
			items.Content = append(items.Content, number(at.Item), mapping("disabled", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}))
		}
	}
	if len(servers.Content) > 0 {
		job.Content = append(job.Content, plain("servers"), servers)
	}
	if len(items.Content) > 0 {
		job.Content = append(job.Content, plain("sharding"), items)
	}
	var text strings.Builder
	out := yaml.NewEncoder(&text)
	out.SetIndent(2)
	if err := out.Encode(mapping(name, job)); err != nil {
		return nil, err
	}
	return []byte(text.String()), out.Close()
}

// shortForm leaves out the members that a file need not mention.
func shortForm(n registry.Node, name string) (*yaml.Node, error) {
	c, err := jobtree.DecodeConfig(n)
	if err != nil {
		return nil, err
	}
	usual := job.Config{Name: name, Cron: c.Cron, ShardingTotalCount: c.ShardingTotalCount, Type: c.Type, ScriptCommandLine: c.ScriptCommandLine}
	text, err := jobtree.EncodeConfig(usual)
	if err != nil {
		return nil, err
	}
	var standard map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &standard); err != nil {
		return nil, err
	}
	for _, needed := range []string{"cron", "shardingTotalCount", "scriptCommandLine"} {
		delete(standard, needed)
	}
	if c.Type != job.TypeSimple {
		delete(standard, "jobType")
	}
	all, err := longForm(n, name)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(n.Value), &members); err != nil {
		return nil, err
	}
	kept := mapping()
	for i := 0; i+1 < len(all.Content); i += 2 {
		member := all.Content[i].Value
		if was, known := standard[member]; !known || string(was) != string(members[member]) {
			kept.Content = append(kept.Content, all.Content[i], all.Content[i+1])
		}
	}
	return kept, nil
}

// longForm has all members that are stored, in their order.
func longForm(n registry.Node, _ string) (*yaml.Node, error) {
	var all yaml.Node // JSON is YAML
	if err := yaml.Unmarshal([]byte(n.Value), &all); err != nil {
		return nil, err
	}
	if len(all.Content) != 1 || all.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("its configuration is no object")
	}
	inBlocks(all.Content[0])
	return all.Content[0], nil
}

// storedForm is a stored text that the file marks as to be stored unchanged.
func storedForm(n registry.Node, _ string) (*yaml.Node, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tagStored, Style: yaml.TaggedStyle, Value: n.Value}, nil
}

// tagStored marks the text of a config that must be kept byte for byte.
const tagStored = "!stored"

// inBlocks takes the braces and quotes of JSON away, where YAML does without them.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	for _, inner := range n.Content {
		inBlocks(inner)
	}
}

func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		n.Content = append(n.Content, plain(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return n
}

func plain(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

func number(n int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(n)}
}
