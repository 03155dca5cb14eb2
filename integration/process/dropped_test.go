//go:build linux

package process_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// A session that ends when a former leader of the store goes on was dropped, unless its process had ended or stood still.
func TestDroppedSessions(t *testing.T) {
	t.Parallel()
	const id = "10.0.0.1@-@p1"
	thaw := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := thaw.Add(40 * time.Millisecond)
	instance := registry.Node{Path: jobtree.For("orders").Instance(id), Created: 3, Revision: 3, Session: 7}
	gone := checker.State{At: at, Step: registry.Step{Changes: []registry.Change{{Old: instance}}}}
	for name, test := range map[string]struct {
		thaws   []time.Time
		kind    checker.Kind
		dropped bool
	}{
		"nothing else":            {[]time.Time{thaw}, checker.Started, true},
		"its network was slow":    {[]time.Time{thaw}, checker.Cut, true},
		"it was killed":           {[]time.Time{thaw}, checker.Crashed, false},
		"it was stopped":          {[]time.Time{thaw}, checker.Stopped, false},
		"it stood still":          {[]time.Time{thaw}, checker.Paused, false},
		"no leader stood still":   {nil, checker.Cut, false},
		"the leader had gone on":  {[]time.Time{thaw.Add(-time.Minute)}, checker.Cut, false},
		"the leader goes on soon": {[]time.Time{at.Add(time.Second)}, checker.Cut, false},
	} {
		o := &observations{
			rules: checker.Rules{Settle: 5 * time.Second}, end: at.Add(time.Hour), states: []checker.State{gone},
			incidents: []checker.Incident{{Kind: test.kind, Instance: id, From: at.Add(-time.Second), Until: at}},
		}
		require.Equal(t, test.dropped, len(o.dropped(test.thaws)) == 1, name)
	}
}
