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
	"github.com/elasticron/elasticron/internal/standstill"
	"github.com/elasticron/elasticron/registry"
)

// What is promised is promised by a machine that gives processes a processor, and by a store that
// answers. On a busy one neither is certain, so both are measured by somebody who does nothing else, and
// the judge makes the allowances that it makes for a process that was stopped and a store that was slow.
// Nothing but time is excused so: what runs twice, runs twice.

// slowAnswer is what no store takes that has the machine for itself.
const slowAnswer = 250 * time.Millisecond

// startStallDetector has the journal tell when this process stands still, until stop is called.
func startStallDetector(j *journal) (stop func()) {
	return standstill.Detect(func(stood time.Duration) { j.note(event{Kind: kindStalled, Stalled: stood}) })
}

// stalls returns when an instance was given no processor.
func stalls(id string, events []event) (all []checker.Incident) {
	for _, e := range events {
		if e.Kind == kindStalled {
			all = append(all, checker.Incident{Kind: checker.Paused, Instance: id, From: e.time().Add(-e.Stalled), Until: e.time()})
		}
	}
	return all
}

// probeStore writes down whenever the store is slow to answer somebody whom nobody disturbs, until the test
// ends.
func (c *cluster) probeStore() {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	reg, err := registryConfig{Kind: c.env.kind, Addresses: c.env.addresses, Namespace: c.namespace + "-probe"}.open(ctx, nil)
	require.NoError(c.t, err)
	var probing sync.WaitGroup
	c.t.Cleanup(func() {
		stop()
		probing.Wait()
		require.NoError(c.t, reg.Close(context.Background()))
	})
	probing.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			asked := now().time()
			c.noteProbe(asked)
			_, _ = reg.Commit(ctx, registry.Txn{
				Then:   []registry.Write{registry.Put("/probe", fmt.Sprint(n))},
				Repeat: registry.RepeatHarmless,
			})
			answered := now().time()
			c.noteProbe(time.Time{})
			if took := answered.Sub(asked); took > slowAnswer && !c.downSince(asked) { // else it is known why
				c.mu.Lock()
				c.incidents = append(c.incidents, &checker.Incident{Kind: checker.Slow, From: asked, Until: answered, Delay: took})
				c.mu.Unlock()
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

func (c *cluster) noteProbe(asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probed = asked
}

func TestStalls(t *testing.T) {
	t.Parallel()
	e := event{Kind: kindStalled, Stalled: time.Second, moment: moment{Boot: 5 * time.Second}}
	require.Equal(t, []checker.Incident{{
		Kind: checker.Paused, Instance: "a", From: origin.Add(4 * time.Second), Until: origin.Add(5 * time.Second),
	}}, stalls("a", []event{{Kind: kindBegan}, e}))
}
