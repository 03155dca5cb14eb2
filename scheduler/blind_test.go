package scheduler_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// ViewChanged implements [scheduler.Observer].
func (d *diary) ViewChanged(e scheduler.ViewEvent) { d.note("view of %q: %v", e.Job, e.Err) }

// stateOf returns the state of a job in the registry.
func (c *cluster) stateOf(name string) *jobtree.State {
	c.t.Helper()
	synctest.Wait()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	nodes, revision, err := reg.List(c.t.Context(), "/"+name)
	require.NoError(c.t, err)
	return jobtree.StateOf(name, registry.NewSnapshot(revision, nodes))
}

// ownersOf returns how many items of a job each instance owns.
func (c *cluster) ownersOf(name string) map[string]int {
	s, owners := c.stateOf(name), make(map[string]int)
	for n := range s.Total() {
		owners[s.Owner(n)]++
	}
	return owners
}

// Whose job's tree cannot be followed for a moment begins nothing of it meanwhile, says so, and goes on
// where it was.
func TestAViewThatEndsAndComesBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		var heard diary
		a := c.startWith("a", nil, []scheduler.Option{scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), scheduler.WithObserver(&heard)}, jobOf(2))
		sleepUntil(9 * time.Second)
		require.Len(t, c.take(), 2)
		heard.read()
		before := c.state().Instance(fullID("a"))
		a.registry.Deny("/orders", false)
		sleepUntil(11 * time.Second)
		require.Empty(t, c.take(), "it cannot know what it would do")
		_, j := a.look(t)
		require.Contains(t, j.Blind, "no permission to read /orders")
		a.registry.Allow()
		sleepUntil(13 * time.Second)
		require.Len(t, c.take(), 2, "the fires of second 10, late")
		sleepUntil(17 * time.Second)
		require.Len(t, c.take(), 2)
		require.Equal(t, before, c.state().Instance(fullID("a")), "it never left")
		require.Equal(t, []string{
			`view of "orders": view /orders: registry access denied: no permission to read /orders`, `view of "orders": <nil>`,
		}, heard.read())
		require.Contains(t, log.line("the job cannot be followed"), "no permission to read /orders")
		require.NotEmpty(t, log.line("the job can be followed again"))
		_, j = a.look(t)
		require.Empty(t, j.Blind)
	})
}

// When that lasts for longer than a session would, others get the items: the instance leaves the job, or
// if it may not even write that, gives its session up. Its other jobs go on, and it comes back when it may.
func TestAViewThatEndsForLong(t *testing.T) {
	t.Parallel()
	for name, writes := range map[string]bool{"may leave": false, "may not leave": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				other := job.NewConfig("bills", everyFive, 2)
				a := c.start("a", nil, jobOf(4), other)
				c.start("b", nil, jobOf(4), other)
				sleepUntil(9 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2, fullID("b"): 2}, c.ownersOf("orders"))
				session := c.stateOf("bills").Instance(fullID("a")).Session
				a.registry.Deny("/orders", writes)
				patience := 7 * time.Second // the session's TTL and some
				if writes {
					patience = 14 * time.Second // and that of the session that was given up
				}
				sleepUntil(9*time.Second + patience)
				require.Equal(t, map[string]int{fullID("b"): 4}, c.ownersOf("orders"))
				require.Equal(t, writes, session != c.stateOf("bills").Instance(fullID("a")).Session)
				c.take()
				sleepUntil(41 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 1, fullID("b"): 1}, c.ownersOf("bills"))
				runs := map[string]int{}
				for _, r := range c.take() {
					runs[r.instance+" "+r.sc.JobName]++
				}
				require.Zero(t, runs["a orders"])
				require.Positive(t, runs["a bills"])
				require.Positive(t, runs["b orders"])
				a.registry.Allow()
				sleepUntil(50 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2, fullID("b"): 2}, c.ownersOf("orders"))
			})
		})
	}
}

// A stop does not wait for a view that has ended.
func TestAStopWithoutAView(t *testing.T) {
	t.Parallel()
	for _, writes := range []bool{false, true} {
		inBubble(t, func(t *testing.T, c *cluster) {
			a := c.start("a", nil, jobOf(2))
			sleepUntil(9 * time.Second)
			a.registry.Deny("/orders", writes)
			sleepUntil(10 * time.Second)
			began := time.Now()
			a.stop(t)
			require.Less(t, time.Since(began), time.Second)
			require.Empty(t, c.state().Instances, "it has left, or its session was ended")
		})
	}
}

// The list of jobs is followed again, too: jobs that came meanwhile are taken up, those that went are left.
func TestAListOfJobsThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		greeting := scheduler.WithHandler("greeting", c.record("a", nil))
		a := c.launchWith("a", nil, []scheduler.Option{greeting}, nil)
		put := func(name string) { put(t, c.server, "/"+name+"/config", mustEncode(ofClass(name, "greeting", 1))) }
		put("orders")
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 1)
		a.registry.Deny("/secrets", true) // the root has it below, the job not
		put("bills")
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 1, "what it has goes on")
		require.Contains(t, a.Health(t.Context()).Blind, "/secrets")
		a.registry.Allow()
		sleepUntil(26 * time.Second)
		require.Len(t, c.take(), 6)
		require.Empty(t, a.Health(t.Context()).Blind)
	})
}
