package elasticjob3

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticron/elasticron/job"
)

// Job is what was read of a job.
type Job struct {
	Config job.Config
	// Kept are the members that have no counterpart, such as "label", in the
	// order in which they stand. They are in Config.Unknown.
	Kept []string
}

// Decode reads the config node of a job and the value of its root node. The error names every member
// that cannot be read. Whether the result makes sense as a whole, job.Config.Validate tells.
func Decode(root, config string) (Job, error) {
	members, err := parse(config)
	if err != nil {
		return Job{}, err
	}
	d := decoder{job: Job{Config: missing()}, left: map[string]any{}}
	for i := 0; i+1 < len(members.Content); i += 2 {
		d.member(members.Content[i].Value, resolve(members.Content[i+1]))
	}
	d.settle(root)
	if err := errors.Join(append(d.faults, d.keep())...); err != nil {
		return Job{}, err
	}
	return d.job, nil
}

// missing is what Java makes of a config in which nothing stands.
func missing() job.Config {
	return job.Config{Misfire: job.MisfireSkip, Unmonitored: true, ReconcileInterval: never}
}

// parse returns the one mapping that the text has to be.
func parse(text string) (*yaml.Node, error) {
	reader := yaml.NewDecoder(strings.NewReader(text))
	var document, more yaml.Node
	if err := reader.Decode(&document); err != nil {
		return nil, fmt.Errorf("config is no YAML: %w", err)
	}
	if err := reader.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("config has more than one YAML document")
	}
	members := resolve(document.Content[0])
	if members.Kind != yaml.MappingNode {
		return nil, errors.New("config must be a YAML mapping")
	}
	return members, nil
}

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
