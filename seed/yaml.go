package seed

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// ParseYAML reads the text of a YAML file. The error joins all faults with it, or 100 of them and how many more there are.
func ParseYAML(text []byte) (File, error) {
	reader := yaml.NewDecoder(strings.NewReader(string(text)))
	var document, more yaml.Node
	switch err := reader.Decode(&document); {
	case errors.Is(err, io.EOF):
		return File{}, fmt.Errorf("%w: the file is empty", ErrInvalid)
	case err != nil:
		return File{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := reader.Decode(&more); !errors.Is(err, io.EOF) {
		return File{}, fmt.Errorf("%w: the file has more than one YAML document", ErrInvalid)
	}
	r := yamlReader{open: make(map[*yaml.Node]bool), room: roomFor(len(text))}
	r.walk("", document.Content[0])
	if err := r.faults.joined(); err != nil {
		return File{}, err
	}
	return r.file, nil
}

// maxByAlias bounds the nodes that are there by aliases, which can make very much of very little.
const maxByAlias = 100_000

// yamlReader gathers the nodes of a document.
type yamlReader struct {
	file    File
	faults  faults
	open    map[*yaml.Node]bool // what aliases name that is being walked
	byAlias int                 // how many nodes are there by aliases
	room    int                 // how many bytes the file may still make
}

// roomFor is how many bytes a file may make: more than what it says itself comes to, and this much by aliases, and by names
// that much stands below. A text that many jobs name may be long, and each has it anew.
func roomFor(size int) int { return 32<<20 + 12*size }

// spend takes bytes of the room. The first that are not there are a fault.
func (r *yamlReader) spend(n *yaml.Node, bytes int) bool {
	had := r.room >= 0
	if r.room -= bytes; r.room >= 0 {
		return true
	}
	if had {
		r.faultOfFile(n, errors.New("aliases, or what stands below long names, make too many bytes of this file"))
	}
	r.room = -1
	return false
}

// weigh spends the room for what a configuration says, before it is put together.
func (r *yamlReader) weigh(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		if r.open[n.Alias] {
			return true // within what it names: a fault of its own
		}
		r.open[n.Alias] = true
		defer delete(r.open, n.Alias)
		return r.weigh(n.Alias)
	}
	const node = 8 // what else there is to it
	return r.spend(n, len(n.Value)+node) && !slices.ContainsFunc(n.Content, func(each *yaml.Node) bool { return !r.weigh(each) })
}

// walk takes up what stands at a path: the nodes below it, or a value.
func (r *yamlReader) walk(path string, n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		if r.open[n.Alias] {
			r.fault(n, fmt.Errorf("%s: the alias %q stands within what it names", path, n.Value))
			return
		}
		r.open[n.Alias] = true
		defer delete(r.open, n.Alias)
		n = n.Alias
	}
	if len(r.open) > 0 {
		if r.byAlias++; r.byAlias > maxByAlias {
			if r.byAlias == maxByAlias+1 {
				r.faultOfFile(n, fmt.Errorf("aliases make more than %d nodes of this file", maxByAlias))
			}
			return
		}
	}
	if !r.spend(n, len(path)) {
		return
	}
	name, known := jobtree.Parse(path)
	switch {
	case n.Kind == yaml.ScalarNode && len(r.open) > 0 && !r.spend(n, len(n.Value)):
	case known && name.Kind == jobtree.KindConfig && n.Kind == yaml.MappingNode && !r.weigh(n):
	case known && name.Kind == jobtree.KindConfig && n.Kind == yaml.MappingNode:
		text, err := configText(name.Job, n)
		if err != nil {
			r.fault(n, fmt.Errorf("%s: %w", path, err))
			return
		}
		if r.spend(n, len(text)) { // in JSON it may be six times as long
			r.add(path, text, n)
		}
	case n.Kind == yaml.ScalarNode && n.Tag == tagStored:
		r.addStored(path, n)
	case path == "" && n.Kind != yaml.MappingNode:
		r.fault(n, errors.New("the file must be a mapping of jobs"))
	case n.Kind == yaml.MappingNode && len(n.Content) == 0:
		r.fault(n, fmt.Errorf("%s says nothing", cmp.Or(path, "the file")))
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			r.walk(path+"/"+n.Content[i].Value, n.Content[i+1])
		}
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		r.add(path, "", n)
	case n.Kind == yaml.ScalarNode:
		r.add(path, n.Value, n)
	default:
		r.fault(n, fmt.Errorf("%s must be a value, or a mapping of names to nodes", path))
	}
}

func (r *yamlReader) add(path, value string, n *yaml.Node) {
	if err := r.file.add(path, value); err != nil {
		r.tell(n, err)
	}
}

// addStored takes up a config that is to be stored byte for byte.
func (r *yamlReader) addStored(path string, n *yaml.Node) {
	if name, known := jobtree.Parse(path); !known || name.Kind != jobtree.KindConfig {
		r.fault(n, fmt.Errorf("%s: %s is for the text of a config", path, tagStored))
		return
	}
	if err := r.file.put(path, n.Value, checkStored); err != nil {
		r.tell(n, err)
	}
}

// checkStored is [check] for a config that was found.
func checkStored(path, value string) (job, stored string, err error) {
	name, _ := jobtree.Parse(path)
	return name.Job, value, usable(name.Job, registry.Node{Path: path, Value: value})
}

func (r *yamlReader) fault(n *yaml.Node, err error) {
	r.tell(n, fmt.Errorf("%w: %w", ErrInvalid, err))
}

func (r *yamlReader) tell(n *yaml.Node, err error) {
	r.faults.tell(fmt.Errorf("line %d: %w", n.Line, err))
}

// faultOfFile is a fault of the file as a whole, which is told however many others there are.
func (r *yamlReader) faultOfFile(n *yaml.Node, err error) {
	r.faults.all = append(r.faults.all, fmt.Errorf("line %d: %w: %w", n.Line, ErrInvalid, err))
}

// configText returns the JSON of a config that is written as a mapping.
func configText(name string, n *yaml.Node) (string, error) {
	var members map[string]any
	if err := make(asTexts).of(n).Decode(&members); err != nil {
		return "", err
	}
	all := defaults(name, members["jobType"] != string(job.TypeScript))
	maps.Copy(all, members)
	text, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	c, err := jobtree.DecodeConfig(registry.Node{Value: string(text)})
	if err == nil && c.Unknown != "" {
		// What an application of a later version knows, this one cannot judge; a slip of the pen is likelier.
		err = fmt.Errorf("a config has no member such as %s", c.Unknown)
	}
	if err == nil {
		err = jobtree.CheckTyped(registry.Node{Value: string(text)})
	}
	return string(text), err
}

// asTexts has in a config the members that are texts as they stand: YAML takes 007 for the number 7, and 2026-03-01 for a
// time. It has what was made of a mapping already, as one may be merged into many, or into itself, which the decoder refuses.
type asTexts map[*yaml.Node]*yaml.Node

// of returns a mapping, or what is merged into one: an alias or a list.
func (t asTexts) of(n *yaml.Node) *yaml.Node {
	if made, is := t[n]; is {
		return made
	}
	made := *n
	t[n] = &made
	switch n.Kind {
	case yaml.AliasNode:
		made.Alias = t.of(n.Alias)
	case yaml.SequenceNode:
		made.Content = slices.Clone(n.Content)
		for i, each := range n.Content {
			made.Content[i] = t.of(each)
		}
	case yaml.MappingNode:
		made.Content = slices.Clone(n.Content)
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch name := n.Content[i]; {
			case name.ShortTag() == "!!merge":
				made.Content[i+1] = t.of(n.Content[i+1])
			case jobtree.TextMember(name.Value):
				made.Content[i+1] = asText(n.Content[i+1])
			}
		}
	}
	return &made
}

// asText returns a value as it stands if it is a number or a time without quotes.
func asText(n *yaml.Node) *yaml.Node {
	value := n
	if n.Kind == yaml.AliasNode {
		value = n.Alias
	}
	switch tag := value.ShortTag(); {
	case value.Kind != yaml.ScalarNode, value.Style != 0, tag != "!!int" && tag != "!!float" && tag != "!!timestamp":
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value.Value, Line: value.Line, Column: value.Column}
}
