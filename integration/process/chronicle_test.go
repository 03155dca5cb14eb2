//go:build linux

package process_test

import (
	"context"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
)

// chronicle is all that was written down about a fleet, put together.
type chronicle struct {
	rules     checker.Rules
	events    map[*life][]event
	incidents []checker.Incident
	states    []checker.State
	end       time.Time
}

// chronicle gathers what everybody wrote down. All instances must be gone.
func (f *fleet) chronicle() *chronicle {
	f.t.Helper()
	f.tape.finish()
	f.compareView()
	c := &chronicle{
		rules: f.rules, events: make(map[*life][]event),
		states: f.tape.states(f.namespace), end: now().time(),
	}
	var drifted, all int
	for _, l := range f.lives {
		<-l.gone
		events, err := readJournal(l.journal)
		require.NoError(f.t, err)
		c.events[l] = events
		for _, e := range events {
			all++
			if e.drift().Abs() > slack/10 {
				drifted++
			}
		}
	}
	if drifted > all/10 {
		f.t.Skipf("somebody set the machine's clock: %d of %d events do not fit", drifted, all)
	}
	f.mu.Lock()
	for _, i := range f.incidents {
		c.incidents = append(c.incidents, *i)
	}
	f.mu.Unlock()
	for l, events := range c.events {
		c.incidents = append(c.incidents, standstills(l.id, events)...)
	}
	for _, i := range c.dropped(f.thaws) {
		f.t.Logf("the store dropped the session of %s when its former leader went on", i.Instance)
		c.incidents = append(c.incidents, i)
	}
	c.allow()
	return c
}

// compareView fails if the view that nobody disturbed does not end where the tape does.
func (f *fleet) compareView() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	states := f.tape.states(f.namespace)
	require.NotEmpty(f.t, states)
	last := states[len(states)-1].Step.Snapshot
	require.NoError(f.t, f.view.WaitRevision(ctx, last.Revision()))
	require.Equal(f.t, slices.Collect(last.All()), slices.Collect(f.view.Snapshot().All()))
}

// allow prolongs incidents by what real processes and a real store take beyond what a simulated one
// would.
func (c *chronicle) allow() {
	for n := range c.incidents {
		i := &c.incidents[n]
		switch i.Kind {
		case checker.Paused: // it must be given a processor before it can know that it stood still
			i.Until = i.Until.Add(slack / 2)
		case checker.Down: // its new leader grants every session its whole time to live anew
			if c.mourns(i.From, i.Until) {
				i.Until = i.Until.Add(c.rules.TTL)
			}
		}
	}
}

// mourns tells whether, between two moments, there was a session whose process did not keep it alive.
func (c *chronicle) mourns(from, until time.Time) bool {
	return slices.ContainsFunc(c.incidents, func(i checker.Incident) bool {
		silent := i.Kind == checker.Crashed || i.Kind == checker.Paused || i.Kind == checker.Cut
		return silent && i.From.Before(until) && i.From.Add(c.rules.TTL+c.rules.Detect).After(from)
	})
}
