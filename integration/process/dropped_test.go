//go:build linux

package process_test

import (
	"cmp"
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
	went := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := went.Add(40 * time.Millisecond)
	instance := registry.Node{Path: jobtree.For("orders").Instance(id), Created: 3, Revision: 3, Session: 7}
	gone := checker.State{At: at, Step: registry.Step{Changes: []registry.Change{{Old: instance}}}}
	later := checker.State{At: at.Add(time.Minute), Step: gone.Step}
	from := func(times ...time.Time) (all []thaw) {
		for _, t := range times {
			all = append(all, thaw{t, t})
		}
		return all
	}
	for name, test := range map[string]struct {
		thaws   []thaw
		kind    checker.Kind
		dropped int
		lasted  time.Duration // zero = a second
	}{
		"nothing else":          {from(went), checker.Started, 1, 0},
		"its network was cut":   {from(went), checker.Cut, 1, 0},
		"its network was slow":  {from(went), checker.Slow, 1, 0},
		"it was killed":         {from(went), checker.Crashed, 0, 0},
		"it was stopped":        {from(went), checker.Stopped, 0, 0},
		"it stood still":        {from(went), checker.Paused, 0, 2 * time.Second},
		"it stalled for a bit":  {from(went), checker.Paused, 1, 300 * time.Millisecond},
		"no leader stood still": {nil, checker.Cut, 0, 0},
		"it had gone on":        {from(went.Add(-30 * time.Second)), checker.Cut, 0, 0},
		"it goes on soon":       {from(at.Add(time.Second)), checker.Cut, 0, 0},
		"it took long to go on": {[]thaw{{went.Add(-time.Minute), went}}, checker.Cut, 1, 0},
		"another time, too":     {from(went, went.Add(time.Minute)), checker.Started, 2, 0},
	} {
		o := &observations{
			rules: checker.Rules{Settle: 5 * time.Second, TTL: 3 * time.Second}, end: at.Add(time.Hour), states: []checker.State{gone, gone, later},
			incidents: []checker.Incident{{Kind: test.kind, Instance: id, From: at.Add(-cmp.Or(test.lasted, time.Second)), Until: at}},
		}
		require.Len(t, o.dropped(test.thaws), test.dropped, name)
	}
}

// An instance that was killed, and whose id another process has had for a while since, can lose its session as any other.
func TestDroppedSessionsOfALaterLife(t *testing.T) {
	t.Parallel()
	const id = "10.0.0.1@-@p1"
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	instance := registry.Node{Path: jobtree.For("orders").Instance(id), Created: 3, Revision: 3, Session: 7}
	gone := checker.State{At: at, Step: registry.Step{Changes: []registry.Change{{Old: instance}}}}
	for again, dropped := range map[time.Duration]int{time.Minute: 1, 2 * time.Second: 0} {
		killed, started := at.Add(-again-time.Second), at.Add(-again)
		o := &observations{
			rules: checker.Rules{Settle: 5 * time.Second, TTL: 3 * time.Second}, end: at.Add(time.Hour), states: []checker.State{gone},
			incidents: []checker.Incident{
				{Kind: checker.Started, Instance: id, From: at.Add(-time.Hour), Until: at.Add(-time.Hour)},
				{Kind: checker.Crashed, Instance: id, From: killed, Until: killed},
				{Kind: checker.Started, Instance: id, From: started, Until: started},
			},
		}
		from := at.Add(-time.Second)
		found := o.dropped([]thaw{{from, at}})
		require.Len(t, found, dropped, again)
		if dropped > 0 {
			require.Equal(t, checker.Incident{Kind: checker.Expired, Instance: id, From: from, Until: at}, found[0])
		}
	}
}
