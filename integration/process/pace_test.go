//go:build linux

package process_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/registry"
)

// What is promised is promised by a machine that gives processes a processor, and by a store that
// answers. On a busy one neither is certain, so both are measured by somebody who does nothing else, and
// the judge makes the allowances that it makes for a process that was stopped and a store that was slow.
// Nothing but time is excused so: what runs twice, runs twice.

const (
	// beat is how often a process notes that it goes on, and still is for how long it must not have
	// gone on to have stood still.
	beat  = 20 * time.Millisecond
	still = 150 * time.Millisecond
	// slowAnswer is what no store takes that has the machine for itself.
	slowAnswer = 250 * time.Millisecond
)

// startPulse has the journal tell when this process stands still, until stop is called.
func startPulse(j *journal) (stop func()) {
	over := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		for last := time.Now(); ; {
			select {
			case <-over:
				return
			case <-time.After(beat):
			}
			if stood := time.Since(last) - beat; stood > still {
				j.note(event{Kind: kindStood, Still: stood})
			}
			last = time.Now()
		}
	})
	return func() { close(over); beating.Wait() }
}

// standstills returns when an instance was given no processor.
func standstills(id string, events []event) (all []checker.Incident) {
	for _, e := range events {
		if e.Kind == kindStood {
			all = append(all, checker.Incident{Kind: checker.Paused, Instance: id, From: e.time().Add(-e.Still), Until: e.time()})
		}
	}
	return all
}

// probe writes down whenever the store is slow to answer somebody whom nobody disturbs, until the test
// ends.
func (f *fleet) probe() {
	f.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	reg, err := place{Kind: f.ground.kind, Addresses: f.ground.addresses, Namespace: f.namespace + "-probe"}.open(ctx, nil)
	require.NoError(f.t, err)
	var probing sync.WaitGroup
	f.t.Cleanup(func() {
		stop()
		probing.Wait()
		require.NoError(f.t, reg.Close(context.Background()))
	})
	probing.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			asked := now().time()
			f.noteProbe(asked)
			_, _ = reg.Commit(ctx, registry.Txn{
				Then:   []registry.Write{registry.Put("/probe", fmt.Sprint(n))},
				Repeat: registry.RepeatHarmless,
			})
			answered := now().time()
			f.noteProbe(time.Time{})
			if took := answered.Sub(asked); took > slowAnswer && !f.downSince(asked) { // else it is known why
				f.mu.Lock()
				f.incidents = append(f.incidents, &checker.Incident{Kind: checker.Slow, From: asked, Until: answered, Delay: took})
				f.mu.Unlock()
			}
			time.Sleep(5 * beat)
		}
	})
}

func (f *fleet) noteProbe(asked time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.probed = asked
}

func TestStandstills(t *testing.T) {
	t.Parallel()
	e := event{Kind: kindStood, Still: time.Second, moment: moment{Boot: 5 * time.Second}}
	require.Equal(t, []checker.Incident{{
		Kind: checker.Paused, Instance: "a", From: origin.Add(4 * time.Second), Until: origin.Add(5 * time.Second),
	}}, standstills("a", []event{{Kind: kindBegan}, e}))
}
