package jobfile

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/seed"
)

// Applied is [Differences] of which each is gone when the file has been applied. stays says of the jobs that are otherwise
// disabled or enabled than in the file whether they are disabled: that stays as it is.
func Applied(file seed.File, nodes []registry.Node) (lines []string, stays map[string]bool) {
	return applied(file, Differences(file, nodes))
}

// AppliedWithSecrets is [Applied] for who may see everything.
func AppliedWithSecrets(file seed.File, nodes []registry.Node) (lines []string, stays map[string]bool) {
	return applied(file, DifferencesWithSecrets(file, nodes))
}

func applied(file seed.File, differences []string) (lines []string, stays map[string]bool) {
	stays = make(map[string]bool)
	of := make(map[string]string) // the lines that say so, and of which job
	for _, job := range Jobs(file) {
		of["~ "+job.Name+"  disabled: stored true, declared false"] = job.Name
		of["~ "+job.Name+"  disabled: stored false, declared true"] = job.Name
	}
	for _, line := range differences {
		if job, is := of[line]; is {
			stays[job] = strings.Contains(line, ": stored true")
			continue
		}
		lines = append(lines, line)
	}
	return lines, stays
}

// Differences lists what of a file is not so in a namespace, a line for each: it begins with + for what the namespace
// does not have, and with ~ for what differs in it. What may be secret is hidden. A job that is stopped to be moved to another
// registry counts as disabled only if it was so before.
func Differences(file seed.File, nodes []registry.Node) (lines []string) {
	return differences(file, nodes, jobtree.Mask, false)
}

// DifferencesWithSecrets is [Differences] for who may see everything.
func DifferencesWithSecrets(file seed.File, nodes []registry.Node) (lines []string) {
	return differences(file, nodes, func(_, value string) string { return value }, true)
}

func differences(file seed.File, nodes []registry.Node, mask func(path, value string) string, secrets bool) (lines []string) {
	stored := make(map[string]registry.Node, len(nodes))
	for _, n := range nodes {
		stored[n.Path] = n
	}
	for path, value := range file.Nodes() {
		was := stored[path]
		name, _ := jobtree.Parse(path)
		if name.Kind == jobtree.KindConfig {
			was = jobtree.Decided(was, stored[jobtree.For(name.Job).Operated()])
		}
		switch {
		case !was.Exists():
			lines = append(lines, alone('+', path, mask(path, value)))
		case was.Value == value:
		case name.Kind == jobtree.KindConfig:
			lines = append(lines, configDifferences(name.Job, was, value, secrets)...)
		default:
			lines = append(lines, fmt.Sprintf("~ %s  %s  %q -> %q", name.Job, below(path), was.Value, value))
		}
	}
	return lines
}

// alone is the line of what one of both has, and the other has not.
func alone(sign rune, path, shown string) string {
	name, _ := jobtree.Parse(path)
	if strings.Contains(shown, "\n") {
		shown = strconv.Quote(shown) // so that it is one line
	}
	return fmt.Sprintf("%c %s  %s  %s", sign, name.Job, below(path), shown)
}

// below is the rest of a path below its job.
func below(path string) string {
	name, _ := jobtree.Parse(path)
	return path[len(jobtree.For(name.Job).Root())+1:]
}

// Surplus lists what a namespace has and a file does not say, though one that is exported now would: a line for each, which
// begins with -. So with [Differences] it tells what has become of the jobs since the file was exported. A server that is
// enabled, as a server is of which nobody says anything, has no line. What may be secret is hidden.
//
// The error joins one fault for each job that cannot be exported; the lines are those of all others.
func Surplus(file seed.File, nodes []registry.Node) (lines []string, err error) {
	return surplus(file, nodes, jobtree.Mask)
}

// SurplusWithSecrets is [Surplus] for who may see everything.
func SurplusWithSecrets(file seed.File, nodes []registry.Node) (lines []string, err error) {
	return surplus(file, nodes, func(_, value string) string { return value })
}

func surplus(file seed.File, nodes []registry.Node, mask func(path, value string) string) (lines []string, err error) {
	text, faults := seed.Export(nodes)
	if len(text) == 0 { // which is no file
		return nil, faults
	}
	stored, err := seed.ParseYAML(text)
	if err != nil {
		return nil, errors.Join(err, faults)
	}
	told := maps.Collect(file.Nodes())
	for path, value := range stored.Nodes() {
		_, is := told[path]
		name, _ := jobtree.Parse(path)
		disabled, _ := jobtree.DecodeServer(registry.Node{Path: path, Value: value})
		if is || name.Kind == jobtree.KindServer && !disabled {
			continue
		}
		lines = append(lines, alone('-', path, mask(path, value)))
	}
	return lines, faults
}

func configDifferences(name string, was registry.Node, value string, secrets bool) (lines []string) {
	stored, err := jobtree.DecodeConfig(was)
	if err != nil {
		return []string{fmt.Sprintf("~ %s  config  cannot be read as it is stored: %s", name, err)}
	}
	declared, err := jobtree.DecodeConfig(registry.Node{Path: was.Path, Value: value})
	if err != nil {
		return []string{fmt.Sprintf("~ %s  config  cannot be read in the file: %s", name, err)}
	}
	between := jobtree.Differences
	if secrets {
		between = jobtree.DifferencesWithSecrets
	}
	for _, d := range between(stored, declared) {
		lines = append(lines, fmt.Sprintf("~ %s  %s", name, d))
	}
	return lines
}
