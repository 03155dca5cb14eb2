package etcd

import (
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// group is one part of a request: a commit, or several neighbours that state the same conditions, as the items of
// a job do about its config and the instance that runs them. The store judges, sends on and keeps these once for
// all of the group. If one of them does not hold, none of the group is done; if they hold, each commit depends on
// the rest of its own conditions alone.
type group struct {
	commits []*commit
	shared  []registry.Condition // none if there is one commit
	inner   int                  // operations of the largest commit, less what is shared
}

// leastShared is how many conditions neighbours must have in common to be a group, which is an operation by itself.
const leastShared = 2

func newGroup(c *commit) group { return group{commits: c.self[:], inner: c.size(0)} }

// with returns the group with one more commit, and false if that may not join. One that carries the reads of what
// it looks at stays alone: where a shared condition does not hold, the store would not come to them.
func (g group) with(c *commit) (group, bool) {
	if c.explains || g.commits[0].explains {
		return group{}, false
	}
	if len(g.commits) > 1 {
		for _, s := range g.shared {
			if !slices.Contains(c.guards, s) {
				return group{}, false
			}
		}
		return group{append(g.commits, c), g.shared, max(g.inner, c.size(len(g.shared)))}, true
	}
	var shared []registry.Condition
	for _, s := range g.commits[0].guards {
		if slices.Contains(c.guards, s) && !slices.Contains(shared, s) {
			shared = append(shared, s)
		}
	}
	if len(shared) < leastShared {
		return group{}, false
	}
	return group{append(g.commits, c), shared, max(g.commits[0].size(len(shared)), c.size(len(shared)))}, true
}

// size is what etcd counts against its limit of operations, which holds for all that is nested in one another.
func (g group) size() int {
	if len(g.commits) == 1 {
		return g.inner
	}
	return max(len(g.commits), len(g.shared)) + g.inner
}

// spared is how many conditions less the store has to judge.
func (g group) spared() int { return (len(g.commits) - 1) * len(g.shared) }
