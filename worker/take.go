package worker

import (
	"path"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/job"
)

// NeedsProperty is the prop of a job that says which labels a worker needs to take part in it: "zone=eu,disk=ssd".
const NeedsProperty = "elasticron.needs"

// Takes tells whether a worker takes part in a job: it has the class, a pattern of its name, and every label that the
// job needs.
func (t Take) Takes(cfg job.Config) bool {
	if class := classOf(cfg); !slices.Contains(t.Classes, class) {
		return false
	}
	named := func(pattern string) bool {
		ok, _ := path.Match(pattern, cfg.Name)
		return ok
	}
	if len(t.Jobs) > 0 && !slices.ContainsFunc(t.Jobs, named) {
		return false
	}
	for need := range strings.SplitSeq(cfg.Props[NeedsProperty], ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(need), "=")
		if name == "" {
			continue
		}
		if has, is := t.Labels[strings.TrimSpace(name)]; !is || has != strings.TrimSpace(value) {
			return false
		}
	}
	return true
}

// classOf is the class of a job as files of workers have it.
func classOf(cfg job.Config) string {
	if cfg.ClassName() == job.ScriptClass {
		return ClassScript
	}
	return cfg.ClassName()
}
