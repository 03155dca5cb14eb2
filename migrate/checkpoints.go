package migrate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// checkpointsOf returns what has one side of a job go on from the checkpoints of the other one, and the items whose checkpoints
// are not the same. An item that has none on the other side begins anew.
func checkpointsOf(side, other jobNodes) (steps []guarded.Step, items []int) {
	for _, path := range slices.Sorted(maps.Keys(other.nodes)) {
		if name, ok := jobtree.Parse(path); ok && name.Kind == jobtree.KindOffset && (!side.get(path).Exists() || side.get(path).Value != other.get(path).Value) {
			step, _ := side.put(path, other.get(path).Value)
			steps, items = append(steps, step), append(items, name.Item)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(side.nodes)) {
		if name, ok := jobtree.Parse(path); ok && name.Kind == jobtree.KindOffset && !other.get(path).Exists() {
			step, _ := side.remove(path)
			steps, items = append(steps, step), append(items, name.Item)
		}
	}
	slices.Sort(items)
	return steps, items
}

// compareCheckpoints has a target go on from the checkpoints of the source if it gets the job, or got it and has not run it
// since. Once it has run the job, it has its own. A report shows none: they may be secret.
func (c *comparison) compareCheckpoints(o *original, target jobNodes, overwrite bool) {
	steps, items := checkpointsOf(target, o.jobNodes)
	switch {
	case !c.exists:
	case mayHaveRun(target):
		c.noteItems("not copied: checkpoints of items %s, as the target has the job and its own", items)
		return
	case c.differs() && !overwrite: // so nothing is written
		return
	default:
		c.noteItems("copied again, as nothing has run in the target: checkpoints of items %s", items)
		c.checkpoints = len(steps) > 0
	}
	c.marks = append(c.marks, steps...)
}

// mayHaveRun tells whether anything of a job may have run that saves checkpoints. Such an execution leaves a record of its
// item, and an instance may begin one.
func mayHaveRun(t jobNodes) bool {
	return len(t.state.Instances) > 0 || hasRun(t)
}

// hasRun tells whether anything of a job has run, or runs, that saves checkpoints.
func hasRun(t jobNodes) bool {
	for path := range t.nodes {
		if name, ok := jobtree.Parse(path); ok && (name.Kind == jobtree.KindItemRecord || name.Kind == jobtree.KindItemRunning) {
			return true
		}
	}
	return false
}

// moveCheckpoints has the target of a move go on from the checkpoints of the source, and notes which of its own are
// replaced. A source in which nothing has run that saves any, such as one of Java instances, has none to speak of: the
// target keeps its own then. One that has run, and has none, has its items begin anew.
func (m *mover) moveCheckpoints(s *scene) []guarded.Step {
	had := checkpointed(s.target.jobNodes)
	steps, items := checkpointsOf(s.target.jobNodes, s.source.jobNodes)
	text := "replaced by those of the source: checkpoints of items %s in the target"
	if len(checkpointed(s.source.jobNodes)) == 0 && !hasRun(s.source.jobNodes) {
		steps, text = nil, "kept, as the source knows of none: checkpoints of items %s in the target"
	}
	if items = slices.DeleteFunc(items, func(n int) bool { return !slices.Contains(had, n) }); len(items) > 0 {
		m.job.Notes = append(slices.Clip(m.job.Notes), fmt.Sprintf(text, list(items)))
	}
	return steps
}

// checkpointed are the items that have a checkpoint.
func checkpointed(t jobNodes) (items []int) {
	for path := range t.nodes {
		if name, ok := jobtree.Parse(path); ok && name.Kind == jobtree.KindOffset {
			items = append(items, name.Item)
		}
	}
	return items
}
