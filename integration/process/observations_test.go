//go:build linux

package process_test

import (
	"context"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// observations is all that was written down about a cluster, put together.
type observations struct {
	rules     checker.Rules
	events    map[*process][]event
	incidents []checker.Incident
	states    []checker.State
	end       time.Time
}

// observe gathers what everybody wrote down. All instances must be gone.
func (c *cluster) observe() *observations {
	c.t.Helper()
	c.recording.finish()
	c.compareView()
	o := &observations{
		rules: c.rules, events: make(map[*process][]event),
		states: c.recording.states(c.namespace), end: now().time(),
	}
	var drifted, all int
	for _, p := range c.processes {
		<-p.gone
		events, err := readJournal(p.journal)
		require.NoError(c.t, err)
		o.events[p] = events
		for _, e := range events {
			all++
			if e.drift().Abs() > slack/10 {
				drifted++
			}
		}
	}
	if drifted > all/10 {
		c.t.Skipf("somebody set the machine's clock: %d of %d events do not fit", drifted, all)
	}
	c.mu.Lock()
	for _, i := range c.incidents {
		o.incidents = append(o.incidents, *i)
	}
	c.mu.Unlock()
	for p, events := range o.events {
		o.incidents = append(o.incidents, stalls(p.id, events)...)
		o.told(p.id, events)
	}
	for _, i := range o.dropped(c.thaws) {
		c.t.Logf("the store dropped the session of %s when it went on", i.Instance)
		o.incidents = append(o.incidents, i)
	}
	o.prolongIncidents()
	return o
}

// told has the stop of an instance begin when its process heard of it: a signal takes its time on a busy machine.
func (o *observations) told(id string, events []event) {
	for _, e := range events {
		for n := range o.incidents {
			i := &o.incidents[n]
			if e.Kind == kindTold && i.Kind == checker.Stopped && i.Instance == id && e.time().After(i.From) && e.time().Before(i.Until) {
				i.From = e.time()
			}
		}
	}
}

// compareView fails if the view that nobody disturbed does not end where the recording does.
func (c *cluster) compareView() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	states := c.recording.states(c.namespace)
	require.NotEmpty(c.t, states)
	last := states[len(states)-1].Step.Snapshot
	require.NoError(c.t, c.view.WaitRevision(ctx, last.Revision()))
	require.Equal(c.t, slices.Collect(last.All()), slices.Collect(c.view.Snapshot().All()))
}

// prolongIncidents prolongs incidents by what real processes and a real store take beyond what a simulated one
// would.
func (o *observations) prolongIncidents() {
	for n := range o.incidents {
		i := &o.incidents[n]
		switch i.Kind {
		case checker.Paused: // it must be given a processor before it can know that it stood still
			i.Until = i.Until.Add(slack / 2)
		case checker.Down: // its new leader grants every session its whole time to live anew
			if o.hadSilentProcess(i.From, i.Until) {
				i.Until = i.Until.Add(o.rules.TTL)
			}
		}
	}
}

// hadSilentProcess tells whether, between two moments, there was a session whose process did not keep it alive.
func (o *observations) hadSilentProcess(from, until time.Time) bool {
	return slices.ContainsFunc(o.incidents, func(i checker.Incident) bool {
		silent := i.Kind == checker.Crashed || i.Kind == checker.Paused || i.Kind == checker.Cut
		return silent && i.From.Before(until) && i.From.Add(o.rules.TTL+o.rules.Detect).After(from)
	})
}

// dropped returns the sessions that the store dropped without a reason. A leader of etcd that stood still
// and goes on takes sessions for expired that its successor has kept alive. It asks itself whether it
// still leads, but answers by a clock that ticks again by then; see github.com/etcd-io/etcd/issues/15247.
// A server of ZooKeeper that stood still may look at its clock before it reads what those sent who live.
// To the jobs either is a store which forgets a session and tells nobody.
func (o *observations) dropped(thaws []thaw) []checker.Incident {
	type drop struct {
		instance string
		thaw     int
	}
	var all []checker.Incident
	known := make(map[drop]bool) // of the first of its jobs
	for _, state := range o.states {
		after := slices.IndexFunc(thaws, func(t thaw) bool {
			return state.At.After(t.from) && state.At.Before(t.until.Add(o.rules.TTL+o.rules.Settle))
		})
		if after < 0 {
			continue
		}
		for _, change := range state.Step.Changes {
			name, _ := jobtree.Parse(change.Path())
			gone := name.Kind == jobtree.KindInstance && !change.New.Exists()
			if this := (drop{name.Key, after}); gone && !known[this] && !o.troubled(name.Key, state.At) {
				known[this] = true
				// Whoever recorded that heard of it later than the processes may have.
				all = append(all, checker.Incident{Kind: checker.Expired, Instance: name.Key, From: thaws[after].from, Until: state.At})
			}
		}
	}
	return all
}

// livesAgain returns when, after an instance ended, its id can be that of nothing but the next process that has it; the end if
// there is none.
func (o *observations) livesAgain(instance string, ended time.Time) time.Time {
	last := o.end
	for _, i := range o.incidents {
		if settled := i.From.Add(o.rules.TTL + o.rules.Detect + o.rules.Settle); i.Kind == checker.Started && i.Instance == instance &&
			i.From.After(ended) && settled.Before(last) {
			last = settled
		}
	}
	return last
}

// troubled tells whether there was another reason for a session to end. A network that was slow or lost what one side sent
// is none: what came through may have kept the session alive, and nobody outside can tell. Nor is it one that the process
// stood still for a moment: on a busy machine all do.
func (o *observations) troubled(instance string, at time.Time) bool {
	return slices.ContainsFunc(o.incidents, func(i checker.Incident) bool {
		over := i.Until.Add(o.rules.Settle)
		if i.Kind == checker.Stopped || i.Kind == checker.Crashed {
			over = o.livesAgain(instance, i.Until)
		}
		moment := i.Kind == checker.Paused && i.Until.Sub(i.From) < o.rules.TTL/2
		network := i.Kind == checker.Cut || i.Kind == checker.Slow
		return i.Instance == instance && i.Kind != checker.Started && !network && !moment && !i.From.After(at) && !over.Before(at)
	})
}
