package jobfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/seed"
)

// Applied is [Differences] of which each is gone when the file has been applied. stays says of the jobs that are otherwise
// disabled or enabled than in the file whether they are disabled: that stays as it is.
func Applied(file seed.File, nodes []registry.Node) (lines []string, stays map[string]bool) {
	stays = make(map[string]bool)
	of := make(map[string]string) // the lines that say so, and of which job
	for _, job := range Jobs(file) {
		of["~ "+job.Name+"  disabled: stored true, declared false"] = job.Name
		of["~ "+job.Name+"  disabled: stored false, declared true"] = job.Name
	}
	for _, line := range Differences(file, nodes) {
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
		what := path[len(jobtree.For(name.Job).Root())+1:]
		switch {
		case !was.Exists():
			shown := jobtree.Mask(path, value)
			if strings.Contains(shown, "\n") {
				shown = strconv.Quote(shown) // so that it is one line
			}
			lines = append(lines, fmt.Sprintf("+ %s  %s  %s", name.Job, what, shown))
		case was.Value == value:
		case name.Kind == jobtree.KindConfig:
			lines = append(lines, configDifferences(name.Job, was, value)...)
		default:
			lines = append(lines, fmt.Sprintf("~ %s  %s  %q -> %q", name.Job, what, was.Value, value))
		}
	}
	return lines
}

func configDifferences(job string, was registry.Node, value string) (lines []string) {
	stored, err := jobtree.DecodeConfig(was)
	if err != nil {
		return []string{fmt.Sprintf("~ %s  config  cannot be read as it is stored: %s", job, err)}
	}
	declared, err := jobtree.DecodeConfig(registry.Node{Path: was.Path, Value: value})
	if err != nil {
		return []string{fmt.Sprintf("~ %s  config  cannot be read in the file: %s", job, err)}
	}
	for _, d := range jobtree.Differences(stored, declared) {
		lines = append(lines, fmt.Sprintf("~ %s  %s", job, d))
	}
	return lines
}
