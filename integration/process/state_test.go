//go:build linux

package process_test

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// state returns what the registry says of a job now.
func (c *cluster) state(name string) *jobtree.State { return jobtree.StateOf(name, c.view.Snapshot()) }

// await waits until the registry says of a job what is wanted, and returns that and when it was heard.
func (c *cluster) await(name, what string, wanted func(*jobtree.State) bool) (*jobtree.State, time.Time) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), waitTimeout)
	defer cancel()
	s, err := c.view.WaitFor(ctx, func(s registry.Snapshot) bool { return wanted(jobtree.StateOf(name, s)) })
	require.NoError(c.t, err, "waiting for "+what)
	return jobtree.StateOf(name, s), now().time()
}

// balanced tells whether an assignment is in force that gives items to every one of so many instances.
func balanced(instances int) func(*jobtree.State) bool {
	return func(s *jobtree.State) bool {
		owners := make(map[string]bool)
		for n := range s.Total() {
			owners[s.Owner(n)] = true
		}
		return len(s.Instances) == instances && len(owners) == instances && s.Necessary == 0 && !owners[""]
	}
}

// runBy returns the tokens of the executions that run under a session, by item.
func runBy(s *jobtree.State, session registry.SessionID) map[int]registry.Revision {
	tokens := make(map[int]registry.Revision)
	for n := range s.Items() {
		if running := s.Item(n).Running; running.Exists() && running.Session == session {
			tokens[n] = running.Created
		}
	}
	return tokens
}

// only returns the single entry of a map.
func only[K comparable, V any](m map[K]V) (key K, value V) {
	for key, value = range m {
		break
	}
	return key, value
}

// allIdle tells whether every item has run, and none does.
func allIdle(s *jobtree.State) bool {
	for n := range s.Total() {
		if record := s.Item(n).Record; !record.Exists() || record.Value.State != jobtree.ItemIdle {
			return false
		}
	}
	return s.Total() > 0
}
