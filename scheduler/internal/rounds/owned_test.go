package rounds

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/load"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// process is what a room may ask, in a process without peers.
type process struct {
	Ports
	others    peers.Traits
	load      load.Load
	admission *admission.Admission
	awaited   []registry.Revision
	again     int // how often a decision was asked for
}

func (p *process) Job() string                     { return "orders" }
func (p *process) Traits() peers.Traits            { return p.others }
func (p *process) Peers() peers.Peers              { return peers.None{} }
func (p *process) Load() *load.Load                { return &p.load }
func (p *process) Admission() *admission.Admission { return p.admission }
func (p *process) Await(r registry.Revision)       { p.awaited = append(p.awaited, r) }
func (p *process) DecideAgain()                    { p.again++ }

// processOf is that of a room.
func processOf(r *Rounds) *process { return r.ports.(*process) }

// jobOf returns the room of a job, and what it is shown while these instances own the items.
func jobOf(tb testing.TB, owners ...string) (*Rounds, room.View) {
	tb.Helper()
	tree := jobtree.For("orders")
	nodes := []registry.Node{{Path: tree.Epoch(), Value: jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: 1, Total: len(owners)}), Created: 1, Revision: 1}}
	for n, owner := range owners {
		nodes = append(nodes, registry.Node{Path: tree.ItemInstance(n), Value: owner, Created: 1, Revision: 1})
	}
	r := New(&process{})
	return r, room.View{Facts: &room.Facts{
		Process: &room.Process{Instance: "me", Clock: &fires.ClockCheck{Wall: time.Now, Table: fires.NewTimetable(time.Now)}},
		Tree:    tree, Usable: true, Config: configuration.None().Config, Rules: &configuration.None().Rules,
		State: jobtree.StateOf("orders", registry.NewSnapshot(1, nodes)),
	}}
}

func set(v room.View, item int, owner string) {
	node := registry.Node{Path: v.Tree.ItemInstance(item), Value: owner, Created: 1, Revision: 2}
	v.State.Apply(registry.Step{Snapshot: registry.NewSnapshot(2, nil), Changes: []registry.Change{{New: node}}})
}

// The list of my items, and the text that names them, follow the state.
func TestMyItemsFollowTheState(t *testing.T) {
	t.Parallel()
	r, v := jobOf(t, "me", "other", "me")
	refreshed := func() ([]int, string) {
		r.Stale()
		r.refreshOwned(v)
		return r.owned, r.taskID(v)
	}
	owned, task := refreshed()
	require.Equal(t, []int{0, 2}, owned)
	require.Equal(t, "orders@-@0,2@-@READY@-@me", task)
	for range 2 {
		again, _ := refreshed()
		require.Equal(t, owned, again)
	}
	set(v, 2, "other")
	set(v, 1, "me")
	owned, task = refreshed()
	require.Equal(t, []int{0, 1}, owned)
	require.Equal(t, "orders@-@0,1@-@READY@-@me", task)
	set(v, 0, "other")
	set(v, 1, "other")
	owned, task = refreshed()
	require.Empty(t, owned)
	require.NotContains(t, task, "0")
}

// Whatever changes of a job, and whichever items of it are followed, the list has my items and no others.
func TestMyItemsAreThoseOfTheState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		const items = 4
		r, v := jobOf(t, "me", "other", "me", "")
		revision, counter := registry.Revision(1), int64(1)
		item := rapid.IntRange(0, items-1)
		owner := rapid.SampledFrom([]string{"me", "other", ""})
		step := func(changes ...registry.Change) {
			r.Observe(v.State.Apply(registry.Step{Snapshot: registry.NewSnapshot(revision, nil), Changes: changes}))
		}
		put := func(path, value string) registry.Change {
			revision++
			return registry.Change{New: registry.Node{Path: path, Value: value, Created: revision, Revision: revision}}
		}
		gone := func(path string) registry.Change {
			return registry.Change{Old: registry.Node{Path: path, Created: 1, Revision: 1}}
		}
		epoch := func(total int) registry.Change {
			counter++
			return put(v.Tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: counter, Total: total}))
		}
		rt.Repeat(map[string]func(*rapid.T){
			"an owner":         func(rt *rapid.T) { step(put(v.Tree.ItemInstance(item.Draw(rt, "item")), owner.Draw(rt, "owner"))) },
			"no owner":         func(rt *rapid.T) { step(gone(v.Tree.ItemInstance(item.Draw(rt, "item")))) },
			"an item runs":     func(rt *rapid.T) { step(put(v.Tree.ItemRunning(item.Draw(rt, "item")), "me")) },
			"an item ends":     func(rt *rapid.T) { step(gone(v.Tree.ItemRunning(item.Draw(rt, "item")))) },
			"an item is noted": func(rt *rapid.T) { step(put(v.Tree.ItemMisfire(item.Draw(rt, "item")), "{}")) },
			"another total":    func(rt *rapid.T) { step(epoch(rapid.IntRange(0, items).Draw(rt, "total"))) },
			"a move in parts": func(rt *rapid.T) {
				next := jobtree.Next{Epoch: jobtree.Epoch{Term: 1, Counter: counter + 1}.ID(), Owner: owner.Draw(rt, "owner")}
				step(put(v.Tree.ItemNext(item.Draw(rt, "item")), jobtree.EncodeNext(next)))
				step(epoch(v.State.Total()))
			},
			"some are followed": func(rt *rapid.T) { v.State.Narrow(r.owned) },
			"all are followed":  func(rt *rapid.T) { v.State.Widen(); r.Stale(); step() },
			"": func(rt *rapid.T) {
				r.refreshOwned(v)
				var want []int
				for n := range v.State.Total() {
					if v.Owns(n) {
						want = append(want, n)
					}
				}
				require.ElementsMatch(rt, want, r.owned)
			},
		})
	})
}

// What a step costs that may have moved items, before anything is decided.
func BenchmarkMyItemsAfterAStep(b *testing.B) {
	for _, items := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			owners := make([]string, items)
			for n := range owners {
				owners[n] = "me"
			}
			r, v := jobOf(b, owners...)
			r.refreshOwned(v)
			b.ReportAllocs()
			for b.Loop() {
				r.Stale()
				r.refreshOwned(v)
			}
		})
	}
}
