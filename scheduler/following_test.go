package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// counting is a registry that counts what its views are told of items, and how often each item's views were opened.
type counting struct {
	*memory.Registry
	mu    sync.Mutex
	items map[int]int // changes
}

func (r *counting) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	return r.heard(r.Registry.View(ctx, path, except...))
}

func (r *counting) ViewParts(ctx context.Context, path string, parts []registry.Part, except ...func(path string) bool) (*registry.View, error) {
	return r.heard(r.Registry.ViewParts(ctx, path, parts, except...))
}

func (r *counting) heard(view *registry.View, err error) (*registry.View, error) {
	if err != nil {
		return nil, err
	}
	first := true
	view.Subscribe(func(step registry.Step) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, c := range step.Changes {
			if name, ok := jobtree.Parse(c.Path()); ok && !first && strings.Contains(c.Path(), "/sharding/") {
				r.items[name.Item]++
			}
		}
		first = false
	})
	return view, nil
}

func (r *counting) take() map[int]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.items
	r.items = make(map[int]int)
	return taken
}

// follows is an instance that counts what it is told.
type follows struct {
	*instance
	id  string
	reg *counting
}

func (c *cluster) follows(id string, f scheduler.Following, cfg job.Config, work job.HandlerFunc) *follows {
	c.t.Helper()
	return c.followsOver(c.server.Open("test"), id, f, cfg, work)
}

// followsOver is follows with a registry handle of its own.
func (c *cluster) followsOver(reg *memory.Registry, id string, f scheduler.Following, cfg job.Config, work job.HandlerFunc) *follows {
	c.t.Helper()
	m := &follows{id: fullID(id), reg: &counting{Registry: reg, items: make(map[int]int)}}
	s, err := scheduler.New(m.reg, scheduler.WithInstanceID(m.id), scheduler.WithFollowing(f))
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record(id, work))))
	m.instance = c.run(s, m.reg.Registry)
	<-s.Ready()
	return m
}

// An execution is told to its owner and to the leader, in a cluster of six as in one of twenty.
func TestWhoIsToldOfAnExecutionDoesNotDependOnTheCluster(t *testing.T) {
	t.Parallel()
	const items, fires = 100, 6
	for _, size := range []int{6, 20} {
		inBubble(t, func(t *testing.T, c *cluster) {
			members := make([]*follows, size)
			for i := range members {
				members[i] = c.follows(fmt.Sprintf("%02d", i), scheduler.FollowByCost, jobOf(items), nil)
			}
			time.Sleep(30 * time.Second)
			sleepPast(5*time.Second, time.Second)
			for _, m := range members {
				m.reg.take()
			}
			time.Sleep(fires * 5 * time.Second)
			hear := make(map[int][]string) // of each item
			for _, m := range members {
				heard := m.reg.take()
				for n, times := range heard {
					require.Equal(t, fires*4, times, "each begin and each end write two nodes")
					hear[n] = append(hear[n], m.id)
				}
				health := m.Health(t.Context()).Jobs[0]
				require.Equal(t, len(heard), health.Followed)
				require.Empty(t, health.Overdue)
			}
			operator := c.server.Open("test")
			nodes, revision, err := operator.List(t.Context(), "/orders")
			require.NoError(t, err)
			state := jobtree.StateOf("orders", registry.NewSnapshot(revision, nodes))
			require.Len(t, hear, items)
			for n, ids := range hear {
				want := []string{state.Owner(n), state.Leader.Instance}
				slices.Sort(want)
				require.ElementsMatch(t, slices.Compact(want), ids)
			}
			operator.Vanish()
		})
	}
}

// sleepPast sleeps until so long past the next multiple of an interval.
func sleepPast(interval, past time.Duration) {
	time.Sleep(time.Until(time.Now().Truncate(interval).Add(interval + past)))
}

// Whatever happens to instances and items while processes follow their own items alone, every item runs once for every
// fire soon after.
func TestOwnItemsAreFollowedThroughEverything(t *testing.T) {
	t.Parallel()
	const items = 9
	tree := jobtree.For("orders")
	type world struct {
		*cluster
		operator *memory.Registry
		members  []*follows
		want     map[int]bool // items
	}
	leader := func(w *world) *follows {
		node, err := w.operator.Get(w.t.Context(), tree.Leader())
		require.NoError(w.t, err)
		return w.members[slices.IndexFunc(w.members, func(m *follows) bool { return m.id == node.Value })]
	}
	ownerOf := func(w *world, n int) *follows {
		node, err := w.operator.Get(w.t.Context(), tree.ItemInstance(n))
		require.NoError(w.t, err)
		return w.members[slices.IndexFunc(w.members, func(m *follows) bool { return m.id == node.Value })]
	}
	follower := func(w *world) *follows {
		return w.members[slices.IndexFunc(w.members, func(m *follows) bool { return m.Health(w.t.Context()).Jobs[0].Followed < items })]
	}
	put := func(w *world, writes ...registry.Write) {
		_, err := w.operator.Commit(w.t.Context(), registry.Txn{Then: writes})
		require.NoError(w.t, err)
	}
	total := func(n int) func(w *world) {
		return func(w *world) {
			j, err := w.members[2].Job("orders")
			require.NoError(w.t, err)
			require.NoError(w.t, j.Update(w.t.Context(), func(cfg *job.Config) error { cfg.ShardingTotalCount = n; return nil }))
			cfg, _, err := j.Config()
			require.NoError(w.t, err)
			require.Equal(w.t, n, cfg.ShardingTotalCount, "who changed it sees that")
			w.want = make(map[int]bool)
			for n := range n {
				w.want[n] = true
			}
		}
	}
	die := func(w *world, m *follows) {
		m.crash(w.t)
		w.members = slices.DeleteFunc(w.members, func(other *follows) bool { return other == m })
	}
	for name, happens := range map[string]func(w *world){
		"nothing":             func(*world) {},
		"the leader dies":     func(w *world) { die(w, leader(w)) },
		"a follower dies":     func(w *world) { die(w, follower(w)) },
		"two die at once":     func(w *world) { die(w, leader(w)); die(w, w.members[len(w.members)-1]) },
		"the leader leaves":   func(w *world) { leader(w).cancel() },
		"a follower leaves":   func(w *world) { follower(w).cancel() },
		"one comes":           func(w *world) { w.members = append(w.members, w.follows("9", scheduler.FollowOwn, jobOf(items), nil)) },
		"a session is lost":   func(w *world) { follower(w).registry.Expire() },
		"more items":          total(14),
		"fewer items":         total(4),
		"an item is disabled": func(w *world) { put(w, registry.Put(tree.ItemDisabled(3), "")); delete(w.want, 3) },
		"a record is deleted": func(w *world) { put(w, registry.Delete(tree.ItemRecord(3)), registry.Delete(tree.ItemRecord(8))) },
		"an owner is deleted": func(w *world) { put(w, registry.Delete(tree.ItemInstance(3)), registry.Delete(tree.ItemInstance(8))) },
		"an owner is exchanged": func(w *world) {
			put(w, registry.Put(tree.ItemInstance(3), w.members[2].id), registry.Put(tree.ItemInstance(8), w.members[1].id))
		},
		"a mark is made by hand": func(w *world) { put(w, registry.Put(tree.ItemRunning(3), "x"), registry.Put(tree.ItemRunning(8), "x")) },
		"a view is refused": func(w *world) {
			m := follower(w)
			m.registry.Deny(tree.Root(), false)
			time.Sleep(2 * time.Second)
			m.registry.Allow()
		},
		"items are asked for": func(w *world) {
			for _, n := range []int{0, 4, 8} {
				j, err := follower(w).Job("orders")
				require.NoError(w.t, err)
				request, err := j.Trigger(w.t.Context(), scheduler.TriggerItems(n), scheduler.TriggerReplacing())
				require.NoError(w.t, err)
				runs, err := request.Wait(w.t.Context())
				require.NoError(w.t, err)
				require.Equal(w.t, "success", runs[0].Outcome)
				require.Equal(w.t, ownerOf(w, n).id, runs[0].Instance)
				numbers, err := j.Statistics(w.t.Context())
				require.NoError(w.t, err)
				require.NotZero(w.t, numbers.Items[n].Success)
				dump, err := j.Dump(w.t.Context())
				require.NoError(w.t, err)
				require.False(w.t, slices.ContainsFunc(dump.Nodes, func(n scheduler.DumpNode) bool { return !n.Agrees() }))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				w := &world{cluster: c, operator: c.server.Open("test", memory.WithTTL(time.Hour)), want: make(map[int]bool)}
				t.Cleanup(w.operator.Vanish)
				for n := range items {
					w.want[n] = true
				}
				for i := range 4 {
					w.members = append(w.members, c.follows(fmt.Sprint(i), scheduler.FollowOwn, jobOf(items), nil))
				}
				time.Sleep(20 * time.Second)
				require.NotNil(t, follower(w))
				sleepPast(5*time.Second, time.Second)
				happens(w)
				time.Sleep(10 * time.Minute) // sessions end, and the leader reconciles
				sleepPast(5*time.Second, 2*time.Second)
				before := len(c.all())
				time.Sleep(20 * time.Second)
				ran := make(map[int]int)
				for _, r := range c.all()[before:] {
					require.Equal(t, job.Scheduled, r.sc.Source)
					ran[r.sc.Item]++
				}
				for n := range w.want {
					require.Equal(t, 4, ran[n], "item %d", n)
				}
				require.Len(t, ran, len(w.want))
				require.NotNil(t, follower(w), "some follow their own items again")
			})
		})
	}
}

// What runs when its process dies runs again, once; so does what runs then if that process dies, too.
func TestALostRunIsRunAgainWhereOwnItemsAreFollowed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const item = 7
		type begun struct {
			id string
			sc job.ShardingContext
		}
		var mu sync.Mutex
		var begins []begun
		seen := func() []begun {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(begins)
		}
		held := make(chan struct{})
		cfg := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 8, Failover: true}
		var members []*follows
		for i := range 5 {
			id := fmt.Sprint(i)
			members = append(members, c.follows(id, scheduler.FollowOwn, cfg, func(ctx context.Context, sc job.ShardingContext) error {
				if sc.Item != item {
					return nil
				}
				mu.Lock()
				begins = append(begins, begun{fullID(id), sc})
				mu.Unlock()
				select {
				case <-held:
				case <-ctx.Done():
				}
				return context.Cause(ctx)
			}))
		}
		sleepPast(time.Hour, time.Minute)
		for lives := range 2 {
			runs := seen()
			require.Len(t, runs, lives+1)
			dies := slices.IndexFunc(members, func(m *follows) bool { return m.id == runs[lives].id })
			members[dies].crash(t)
			members = slices.Delete(members, dies, dies+1)
			time.Sleep(memory.DefaultTTL + time.Second)
			require.Len(t, seen(), lives+2, "it runs again within a second of the end of the session")
		}
		close(held)
		time.Sleep(time.Minute)
		runs := seen()
		require.Len(t, runs, 3)
		require.Equal(t, job.Failover, runs[2].sc.Source)
		require.Equal(t, runs[0].sc.Fire, runs[2].sc.Fire)
	})
}

// An item that comes from a live owner to one that did not follow it runs for a fire that comes before the new owner sees
// everything again: nobody else is to run it, so it is on time, and not missed.
func TestAFireWhileAMoveIsNotFollowedYet(t *testing.T) {
	t.Parallel()
	const items, aWay = 9, 200 * time.Millisecond
	for _, before := range []time.Duration{500 * time.Millisecond, 400 * time.Millisecond, 300 * time.Millisecond} {
		inBubble(t, func(t *testing.T, c *cluster) {
			cfg := jobOf(items)
			cfg.Misfire = job.MisfireSkip
			var far *follows
			for n := range 3 {
				far = c.followsOver(c.server.Open("test", memory.WithLatency(time.Duration(n/2)*aWay)), fmt.Sprint(n), scheduler.FollowOwn, cfg, nil)
			}
			time.Sleep(20 * time.Second)
			require.Less(t, far.Health(t.Context()).Jobs[0].Followed, items)
			sleepPast(5*time.Second, 5*time.Second-before)
			c.take()
			c.follows("3", scheduler.FollowOwn, cfg, nil)
			sleepPast(5*time.Second, 2*time.Second)
			ran := make(map[int]string)
			for _, r := range c.take() {
				require.Empty(t, ran[r.sc.Item], "item %d", r.sc.Item)
				ran[r.sc.Item] = r.instance
			}
			require.Len(t, ran, items)
			require.Equal(t, "2", ran[3], "which came from another one")
		})
	}
}

// all returns the runs so far.
func (c *cluster) all() []run {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.runs)
}

func TestFollowingOfNoKindIsRefused(t *testing.T) {
	t.Parallel()
	_, err := scheduler.New(memory.NewServer().Open("test"), scheduler.WithFollowing("all of it"))
	require.ErrorIs(t, err, scheduler.ErrInvalidOption)
	require.ErrorContains(t, err, `"all of it" must be one of "by cost", "whole" and "own"`)
}
