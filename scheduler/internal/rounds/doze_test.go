package rounds

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/load"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// waitingJob is a job of this instance whose items fire each second and wait for a turn that does not come.
func waitingJob(tb testing.TB, items int, cfg job.Config) (*Rounds, room.View) {
	tb.Helper()
	r, v := jobOf(tb, slices.Repeat([]string{"me"}, items)...)
	cfg.Cron = "* * * * * ?"
	schedule, err := cfg.Schedule()
	require.NoError(tb, err)
	rules := policy.RulesOf(schedule, cfg)
	v.Rules = &rules
	p := processOf(r)
	p.load.Tell, p.admission = func(load.Report) {}, admission.New()
	r.refreshOwned(v)
	for n := range items {
		r.item(n).queued = true
	}
	tb.Cleanup(p.load.Stop)
	return r, v
}

var dawn = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// second returns the tick of all seconds from one to another after dawn.
func second(first, last int) fires.Tick {
	return fires.Tick{First: dawn.Add(time.Duration(first) * time.Second), Fire: dawn.Add(time.Duration(last) * time.Second)}
}

func misfires() map[string]job.Config {
	return map[string]job.Config{
		"once": {}, "skip": {Misfire: job.MisfireSkip}, "all": {Misfire: job.MisfireAll}, "all of none": {Misfire: job.MisfireAll, MisfireMax: -1},
		"all, up to three": {Misfire: job.MisfireAll, MisfireMax: 3}, "all of a minute": {Misfire: job.MisfireAll, MisfireWindow: time.Minute},
	}
}

// What is due of an item that dozed is what would be if each fire had been noted in it as it came, whatever
// the policy, and also if ticks were kept and folded, fires went by unseen, or the clock was set back.
func TestWhatDozesMissesNothing(t *testing.T) {
	t.Parallel()
	for name, cfg := range misfires() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				const items = 3
				r, v := waitingJob(t, items, cfg)
				var want [items]policy.Due
				disabled := make(map[int]bool)
				var kept *fires.Tick
				now := 0
				flush := func() {
					if kept != nil {
						r.Tick(v, *kept, true)
					}
					kept = nil
				}
				tick := func(first, last int) {
					now = last
					t := second(first, last)
					var passed []time.Time
					if v.Rules.All {
						passed = v.Rules.Fires(t.First.Add(-1), t.Fire.Add(-1))
					}
					for n := range want {
						if !disabled[n] {
							want[n] = v.Rules.Tick(want[n], t.Fire, passed)
						}
					}
					if kept == nil && !r.Dozes(v) {
						r.Tick(v, t, false)
						return
					}
					if kept == nil {
						kept = &t
					} else if both, ok := Fold(*kept, t); ok {
						kept = &both
					} else {
						flush()
						r.Tick(v, t, false)
						return
					}
					r.Kept()
				}
				item := rapid.IntRange(0, items-1)
				rt.Repeat(map[string]func(*rapid.T){
					"a fire":         func(*rapid.T) { tick(now+1, now+1) },
					"several fires":  func(rt *rapid.T) { tick(now+1, now+rapid.IntRange(2, 9).Draw(rt, "fires")) },
					"clock set back": func(rt *rapid.T) { at := max(1, now-rapid.IntRange(0, 5).Draw(rt, "by")); tick(at, at) },
					"touched": func(rt *rapid.T) {
						flush()
						n := item.Draw(rt, "item")
						r.rouse(r.item(n))
						require.Equal(rt, want[n].Owed(), r.item(n).Due.Owed())
						if rapid.Bool().Draw(rt, "missed") {
							want[n] = v.Rules.Miss(want[n])
							r.item(n).Due = v.Rules.Miss(r.item(n).Due)
						}
					},
					"switched": func(rt *rapid.T) {
						flush()
						n := item.Draw(rt, "item")
						disabled[n] = !disabled[n]
						r.Observe(v.State.Apply(switched(v, n, disabled[n])))
					},
				})
				flush()
				r.rouseAll()
				require.Zero(rt, r.dozing.items)
				for n := range want {
					require.Equal(rt, want[n].Owed(), r.item(n).Due.Owed(), "item %d", n)
					require.Equal(rt, want[n].OnTime, r.item(n).Due.OnTime, "item %d", n)
				}
			})
		})
	}
}

// switched is a step that disables or enables an item.
func switched(v room.View, n int, disabled bool) registry.Step {
	change := registry.Change{New: registry.Node{Path: v.Tree.ItemDisabled(n), Created: 3, Revision: 3}}
	if !disabled {
		change.Old, change.New = change.New, registry.Node{}
	}
	return registry.Step{Snapshot: registry.NewSnapshot(3, nil), Changes: []registry.Change{change}}
}

// A fire that is dropped costs no memory, and no step for each item: none is looked at until something happens to it.
func TestADroppedFireIsNotedOnceForAllItems(t *testing.T) { // not parallel: it counts what the process allocates
	for name, cfg := range misfires() {
		t.Run(name, func(t *testing.T) {
			const items = 1000
			r, v := waitingJob(t, items, cfg)
			for at := range 2 { // with the first of which they begin to doze
				r.Tick(v, second(at, at), false)
			}
			require.True(t, r.Dozes(v))
			at := 2
			allocations := testing.AllocsPerRun(2000, func() {
				require.False(t, r.Tick(v, second(at, at), false), "there is nothing to decide")
				at++
			})
			require.Less(t, allocations, 5.0, "of a fire of %d items", items)
			for n := range items {
				require.True(t, r.items[n].dozes)
				require.Equal(t, second(0, 0).Fire, r.items[n].Due.OnTime, "as it was when it began to doze")
			}
			require.LessOrEqual(t, len(r.dozing.fires), v.Rules.Keeps()+1, "what the policy cannot need is not kept")
			counted := r.ports.Load().Counted()
			require.EqualValues(t, items*at, counted.Wanted)
			require.EqualValues(t, items*(at-1), counted.Dropped, "all but the last, which may still begin")
			r.Tick(v, second(at, at+3), true)
			require.Equal(t, counted, r.ports.Load().Counted(), "ticks that were kept were counted")
		})
	}
}

// Only an item of which nothing but its fire can be due waits for its turn without having been looked at.
func TestPlainlyIdleItems(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	record := func(state jobtree.ItemState, outcome jobtree.Outcome) registry.Node {
		return registry.Node{Path: tree.ItemRecord(0), Value: jobtree.EncodeRecord(jobtree.Record{
			State: state, Before: &jobtree.Before{State: jobtree.ItemIdle},
			Current: &jobtree.Execution{Instance: "me", Session: 7, Source: job.Scheduled, Fire: dawn, Begin: dawn, Outcome: outcome},
		})}
	}
	for name, test := range map[string]struct {
		nodes []registry.Node
		want  bool
	}{
		"never ran":   {nil, true},
		"idle":        {[]registry.Node{record(jobtree.ItemIdle, jobtree.Success)}, true},
		"interrupted": {[]registry.Node{record(jobtree.ItemInterrupted, jobtree.Lost)}, true},
		"running":     {[]registry.Node{record(jobtree.ItemRunning, "")}, false},
		"waiting":     {[]registry.Node{record(jobtree.ItemWaiting, jobtree.Lost)}, false},
		"not started": {[]registry.Node{record(jobtree.ItemIdle, jobtree.NotStarted)}, false},
		"marked":      {[]registry.Node{{Path: tree.ItemRunning(0), Value: "me"}}, false},
		"missed":      {[]registry.Node{{Path: tree.ItemMisfire(0)}}, false},
		"unreadable":  {[]registry.Node{{Path: tree.ItemRecord(0), Value: "{"}}, false},
	} {
		for i := range test.nodes {
			test.nodes[i].Created, test.nodes[i].Revision = 5, 5
		}
		state := jobtree.StateOf("orders", registry.NewSnapshot(9, test.nodes))
		require.Equal(t, test.want, plainlyIdle(state.Item(0)), name)
	}
}
