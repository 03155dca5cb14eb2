package operate_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// What follows a view, and decides only about what changed or is late, is at each second what a fresh look shows.
func TestFollowingIsAsAFreshLook(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		working(c)
		c.Job(job.Config{Name: "quick", Cron: "0/20 * * * * ?", ShardingTotalCount: 2, Failover: true, Jitter: time.Second}, clustertest.Work(15*time.Second))
		c.Job(job.Config{Name: "slow", Cron: "0 0/2 * * * ?", ShardingTotalCount: 1}, clustertest.Work(5*time.Minute))
		all := c.StartN(2)
		view, err := c.Operator().View(t.Context(), registry.Root)
		require.NoError(t, err)
		defer view.Close()
		var mu sync.Mutex
		var shown registry.Snapshot
		changed := make(map[string]bool)
		unsubscribe := view.Subscribe(func(s registry.Step) {
			mu.Lock()
			defer mu.Unlock()
			shown = s.Snapshot
			for _, ch := range s.Changes {
				changed[operate.JobOf(ch.Path())] = true
			}
		})
		defer unsubscribe()
		following := operate.NewFollowing(false)
		due := make(map[string]time.Time)
		for second := range 600 {
			c.Advance(time.Second)
			switch second {
			case 100:
				all[0].Crash()
			case 200:
				all[1].Freeze()
			case 400:
				all[1].Thaw()
			case 500:
				op, err := operate.New(c.Operator(), operate.By("anna", "test"))
				require.NoError(t, err)
				_, err = op.DisableJob(t.Context(), "slow", operate.Options{})
				require.NoError(t, err)
			}
			now := time.Now()
			var late []string
			for name, at := range due {
				if !at.IsZero() && !at.After(now) {
					late = append(late, name)
				}
			}
			mu.Lock()
			names, snapshot := slices.Collect(maps.Keys(changed)), shown
			clear(changed)
			mu.Unlock()
			before := following.Shown()
			had := before.Jobs()
			n := following.Show(snapshot, names, late, now)
			require.Equal(t, had, before.Jobs(), "what was shown stays as it was")
			for _, name := range append(names, late...) {
				due[name] = n.ChangesAt(name)
				require.True(t, due[name].IsZero() || due[name].After(now))
			}
			fresh := operate.NewNamespace(slices.Collect(snapshot.All()), snapshot.Revision(), now, false)
			require.Equal(t, fresh.Jobs(), n.Jobs())
			require.Equal(t, fresh.Items("slow"), n.Items("slow"))
			require.Equal(t, fresh.Instances(), n.Instances())
			require.Equal(t, fresh.Revision(), n.Revision())
		}
	})
}

// The clock alone makes a job overdue, ten seconds and its jitter after a fire, and moves its next fire.
func TestFollowingGoesByTheClock(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Cron, c.Jitter = "0 * * * * ?", 3*time.Second })))
	record, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: first, Session: 1, Source: job.Scheduled, Fire: began, Time: began})
	require.NoError(t, err)
	record, err = record.End(jobtree.End{Token: 1, Time: began.Add(time.Second), Outcome: jobtree.Success})
	require.NoError(t, err)
	g.do(registry.Put(nodes.ItemRecord(2), jobtree.EncodeRecord(record)))
	f := operate.NewFollowing(false)
	s := registry.NewSnapshot(1, g.all())
	f.Show(s, []string{theJob}, nil, began.Add(time.Second))
	at, looks := f.Shown().ChangesAt(theJob), 0
	for second := range 300 {
		now := began.Add(time.Duration(second+1) * time.Second)
		if !at.After(now) {
			f.Show(s, nil, []string{theJob}, now)
			at = f.Shown().ChangesAt(theJob)
			looks++
		}
		require.Equal(t, operate.NewNamespace(g.all(), 1, now, false).Jobs(), f.Shown().Jobs())
		row, _ := f.Shown().Job(theJob)
		require.Equal(t, second+1 >= 60+13, row.OverdueItems == 1, "at %s", now)
	}
	require.Less(t, looks, 12, "twice for each fire")
}

func TestFollowingForgetsAJob(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	nodes, revision, err := g.registry.List(t.Context(), registry.Root)
	require.NoError(t, err)
	f := operate.NewFollowing(false)
	now := time.Now()
	require.Equal(t, []string{theJob}, f.Show(registry.NewSnapshot(revision, nodes), []string{theJob, "none"}, []string{"none"}, now).Names())
	n := f.Shown()
	require.Empty(t, f.Show(registry.NewSnapshot(revision+1, nil), []string{theJob}, nil, now).Names())
	require.Equal(t, []string{theJob}, n.Names())
	require.Equal(t, []string{theJob}, n.Of(theJob).Names())
	require.Len(t, n.Of(theJob).Instances(), 2)
	require.Empty(t, n.Of("none").Names())
}

func TestNextFires(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		working(c)
		c.Job(job.Config{Name: "again", Cron: "@delay 1m", ShardingTotalCount: 1}, clustertest.Work(time.Second))
		look := func() *operate.Namespace {
			n, err := operate.ReadNamespace(t.Context(), c.Operator(), time.Now())
			require.NoError(t, err)
			return n
		}
		all := c.StartN(1)
		c.Advance(10 * time.Second)
		n := look()
		wanted := []time.Time{clustertest.At(5 * time.Minute), clustertest.At(10 * time.Minute)}
		require.Equal(t, wanted, n.NextFires(theJob, time.Now(), 2))
		require.Equal(t, wanted, slices.Collect(n.Fires(theJob, time.Now(), clustertest.At(10*time.Minute))))
		for range n.Fires(theJob, time.Now(), time.Now().Add(1e6*time.Hour)) {
			break // who asks for too many may stop
		}
		require.Len(t, n.NextFires("again", time.Now(), 5), 1)
		require.Empty(t, slices.Collect(n.Fires("again", time.Now(), time.Now().Add(time.Hour))))
		require.Empty(t, n.NextFires("none", time.Now(), 5))
		require.True(t, n.ChangesAt("again").IsZero())
		all[0].Stop()
		c.Advance(time.Minute)
		require.Empty(t, look().NextFires(theJob, time.Now(), 5), "nobody lives who would run it")
	})
}
