package migrate

import (
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

// compareCheckpoints has a target that gets the job go on from the checkpoints of the source. Once the target has the job, it has
// its own. A report shows none: they may be secret.
func (c *comparison) compareCheckpoints(o *original, target jobNodes) {
	steps, items := checkpointsOf(target, o.jobNodes)
	if c.exists {
		c.noteItems("not copied: checkpoints of items %s, as the target has the job and its own", items)
		return
	}
	c.marks = append(c.marks, steps...)
}
