package migrate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
)

// owedIn returns the execution for which an item of the job "orders" waits in the target.
func (w *world) owedIn(item int) *jobtree.Execution {
	w.Helper()
	all, revision, err := w.target.List(w.Context(), "/orders")
	require.NoError(w, err)
	s := jobtree.StateOf("orders", registry.NewSnapshot(revision, all))
	it := s.Item(item)
	require.NoError(w, it.Record.Err)
	require.Equal(w, it.Record.Value.State == jobtree.ItemWaiting, it.FailoverItem != 0, "both nodes say the same")
	return it.Record.Value.Owed()
}

// What the source would have run again, the target runs again: once, when it gets the job.
func TestLostExecutionsAreRunAgain(t *testing.T) {
	t.Parallel()
	fire := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	record := func(state jobtree.ItemState, failover bool) string {
		r := jobtree.Record{State: state, LastFire: fire, Current: &jobtree.Execution{
			Instance: "10.0.0.1@-@7-go", Session: 7, Source: job.Scheduled, Fire: fire, Begin: fire, Failover: failover, Parameter: "p", Round: "r", Trigger: 3,
		}}
		if state == jobtree.ItemRunning {
			r.Before = &jobtree.Before{State: jobtree.ItemIdle}
		}
		return jobtree.EncodeRecord(r)
	}
	with := func(on bool) string { return configOf(t, func(c *job.Config) { c.Failover = on }) }
	of3 := func(on bool) string {
		return strings.Replace(newConfig, "failover: true", fmt.Sprintf("failover: %v", on), 1)
	}
	for name, test := range map[string]struct {
		nodes []string
		note  string
		owed  *jobtree.Execution
	}{
		"3.x, left by the dead": {
			nodes: []string{"/orders/config", of3(true), "/orders/sharding/1/running", "10.0.0.1@-@7"},
			note:  "run again in the target: lost executions of items 1",
			owed:  &jobtree.Execution{Instance: "10.0.0.1@-@7", Source: job.Scheduled},
		},
		"3.x, failover was switched off": {
			nodes: []string{"/orders/config", of3(false), "/orders/sharding/1/running", "10.0.0.1@-@7"},
			note:  "not copied: lost executions of items 1: failover is off",
		},
		"3.x, the item is disabled": {
			nodes: []string{"/orders/config", of3(true), "/orders/sharding/1/running", "10.0.0.1@-@7", "/orders/sharding/1/disabled", ""},
			note:  "not copied: lost executions of items 1, which are disabled",
		},
		"3.x, claimed by the dead": {
			nodes: []string{"/orders/config", of3(true), "/orders/sharding/1/instance", "10.0.0.2@-@8", "/orders/sharding/1/failovering", "10.0.0.1@-@7"},
			note:  "run again in the target: lost executions of items 1",
			owed:  &jobtree.Execution{Instance: "10.0.0.1@-@7", Source: job.Scheduled},
		},
		"nobody took it over yet": {
			nodes: []string{"/orders/config", with(true), "/orders/sharding/1/instance", "10.0.0.1@-@7", "/orders/leader/failover/items/1", ""},
			note:  "run again in the target: lost executions of items 1",
			owed:  &jobtree.Execution{Instance: "10.0.0.1@-@7", Source: job.Scheduled},
		},
		"ours, which waits": {
			nodes: []string{"/orders/config", with(true), "/orders/sharding/1/record", record(jobtree.ItemWaiting, true), "/orders/leader/failover/items/1", ""},
			note:  "run again in the target: lost executions of items 1",
			owed:  &jobtree.Execution{Instance: "10.0.0.1@-@7-go", Source: job.Scheduled, Fire: fire, Begin: fire, Parameter: "p"},
		},
		"ours, which nobody has declared lost yet": {
			nodes: []string{"/orders/config", with(true), "/orders/sharding/1/record", record(jobtree.ItemRunning, true)},
			note:  "run again in the target: lost executions of items 1",
			owed:  &jobtree.Execution{Instance: "10.0.0.1@-@7-go", Source: job.Scheduled, Fire: fire, Begin: fire, Parameter: "p"},
		},
		"ours, without failover then": {
			nodes: []string{"/orders/config", with(true), "/orders/sharding/1/record", record(jobtree.ItemRunning, false)},
		},
		"beyond the total count": {
			nodes: []string{"/orders/config", with(true), "/orders/leader/failover/items/9", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.has(w.source, test.nodes...)
			created := w.one(apply)
			require.Equal(t, migrate.Created, created.Action, created.Reason)
			if test.note != "" {
				require.Contains(t, created.Notes, test.note)
			}
			owed := w.owedIn(1)
			if test.owed == nil {
				require.Nil(t, owed)
				return
			}
			require.NotNil(t, owed)
			require.NotZero(t, owed.End)
			want := *test.owed
			want.End, want.Outcome, want.Failover = owed.End, jobtree.Lost, true
			require.Equal(t, want, *owed)

			w.has(w.target, "/orders/sharding/1/record", jobtree.EncodeRecord(jobtree.Record{State: jobtree.ItemIdle}))
			before := w.nodes(w.target)
			require.Equal(t, migrate.Unchanged, w.one(apply).Action)
			require.Equal(t, before, w.nodes(w.target), "it is not run a second time")
		})
	}
}

// Instances that live run again themselves what others lost.
func TestWhatTheSourceRunsAgainItselfIsLeftToIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", newConfig, "/orders/instances/10.0.0.2@-@8!", "", "/orders/sharding/1/running", "10.0.0.1@-@7")
	created := w.one(migrate.Options{Apply: true, EvenIfRunning: true})
	require.Equal(t, migrate.Created, created.Action)
	require.Contains(t, created.Notes, "not copied: lost executions of items 1: the source's instances run them again")
	require.Nil(t, w.owedIn(1))
}

// An answer that Java takes for a success is none here.
func TestACallOf3(t *testing.T) {
	t.Parallel()
	for props, noted := range map[string]bool{"": true, "  http.fail.on.status: 'false'\n": false} {
		w := newWorld(t)
		w.has(w.source, "/orders", "HTTP", "/orders/config", newConfig+"props:\n  http.method: GET\n  http.uri: http://a/\n"+props)
		created := w.one(apply)
		require.Equal(t, migrate.Created, created.Action, created.Reason)
		require.Equal(t, noted, strings.Contains(fmt.Sprint(created.Notes), "status 400"))
		require.Contains(t, w.nodes(w.target)["/orders/config"], `"jobClass":"HTTP","jobType":"SIMPLE"`)
	}
}

// A job may have lost the executions of very many items.
func TestManyLostExecutionsAreTakenOver(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		const items = 520
		w.has(w.source, "/orders/config", configOf(w, func(c *job.Config) { c.Failover, c.ShardingTotalCount = true, items }))
		for n := range items {
			w.has(w.source, fmt.Sprintf("/orders/leader/failover/items/%d", n), "")
		}
		report, err := migrate.Move(w.Context(), w.source, w.target, applyMove)
		require.NoError(w, err)
		require.True(w, report.Complete(), report.Jobs[0].Reason)
	})
}
