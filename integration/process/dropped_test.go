//go:build linux

package process_test

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// dropped returns the sessions that the store dropped without a reason. A leader of etcd that stood still
// and goes on takes sessions for expired that its successor has kept alive. It asks itself whether it
// still leads, but answers by a clock that ticks again by then; see github.com/etcd-io/etcd/issues/15247.
// To the jobs that is a store which forgets a session and tells nobody.
func (c *chronicle) dropped(thaws []time.Time) []checker.Incident {
	var all []checker.Incident
	known := make(map[string]bool)
	for _, state := range c.states {
		thaw := slices.ContainsFunc(thaws, func(at time.Time) bool {
			return state.At.After(at) && state.At.Before(at.Add(c.rules.Settle))
		})
		for _, change := range state.Step.Changes {
			name, _ := jobtree.Parse(change.Path())
			gone := name.Kind == jobtree.KindInstance && !change.New.Exists()
			if thaw && gone && !known[name.Key] && !c.troubled(name.Key, state.At) {
				known[name.Key] = true
				all = append(all, checker.Incident{Kind: checker.Expired, Instance: name.Key, From: state.At})
			}
		}
	}
	return all
}

// troubled tells whether there was another reason for a session to end.
func (c *chronicle) troubled(instance string, at time.Time) bool {
	return slices.ContainsFunc(c.incidents, func(i checker.Incident) bool {
		over := i.Until.Add(c.rules.Settle)
		if i.Kind == checker.Stopped || i.Kind == checker.Crashed {
			over = c.end
		}
		return i.Instance == instance && i.Kind != checker.Started && !i.From.After(at) && !over.Before(at)
	})
}
