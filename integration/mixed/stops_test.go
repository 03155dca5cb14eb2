package mixed

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// busyJava has a Go instance lead a job with failover, and a Java instance run item 1 of it, and nothing else.
func (c *cluster) busyJava(p *javapeer.Peer) (g *golang, first string) {
	c.t.Helper()
	return c.busyJavaBeside(p, c.open(c.address))
}

// busyJavaBeside is busyJava with a Go instance that has this registry.
func (c *cluster) busyJavaBeside(p *javapeer.Peer, reg registry.Registry) (g *golang, first string) {
	c.t.Helper()
	cfg := c.config(never, 2)
	cfg.Failover = true
	g = c.startGoOver(reg, goID, cfg)
	c.goLeads()
	first = c.joinJava(p, javapeer.NewJob(c.job, never, 2))
	s := c.eventually("two instances", settled(2, goID, first))
	require.Equal(c.t, first, s.Owner(1))
	p.Last(c.job, javapeer.UntilTold)
	require.NoError(c.t, g.triggerJob(c.t.Context(), c.job))
	p.WaitEvents(c.job, began(1, 0))
	g.wait("its own item", ran(0, 0))
	c.eventually("Java runs alone", func(s *jobtree.State) bool { return s.Item(1).Running.Exists() && !s.Item(0).Running.Exists() })
	return g, first
}

// A Java process that exits waits for what it runs, and leaves then: nothing is run again, and Go has its item.
func TestAJavaProcessExitsWhileItRuns(t *testing.T) {
	t.Parallel()
	ofEach(t, func(t *testing.T, j java) {
		c, p := j.newCluster(t, "java_exits"), j.first
		g, first := c.busyJava(p)
		exited := make(chan struct{})
		go func() {
			defer close(exited)
			assert.True(t, p.Exit())
		}()
		require.False(t, c.within(3*sessionTimeout/2, func(s *jobtree.State) bool {
			return s.Instance(first).Created == 0 || !s.Item(1).Running.Exists() || s.Owner(1) != first
		}), "it stays until its item has ended")
		p.Last(c.job, 0)
		<-exited
		require.Equal(t, 1, countKind(p.Events(c.job), javapeer.EventEnd))
		c.eventually("Go alone", func(s *jobtree.State) bool { return settled(2, goID)(s) && idle(s) })
		require.NoError(t, g.triggerJob(t.Context(), c.job))
		runs := g.wait("what was Java's", ran(1, 0))
		require.Zero(t, countOf(runs, 1, job.Failover), "%s", shown(runs))
	})
}

// A Go instance that hears nothing while a Java process ends what it runs and exits learns of both at once. That is no crash.
func TestAJavaProcessExitsUnheard(t *testing.T) {
	t.Parallel()
	ofEach(t, func(t *testing.T, j java) {
		c := j.newCluster(t, "java_exits_unheard")
		unheard(c, j.first, 0, func(string) {
			j.first.Last(c.job, 0)
			require.True(t, j.first.Exit())
		})
	})
}

// What it learns of like that of a Java process that was killed is a crash.
func TestAJavaProcessIsKilledUnheard(t *testing.T) {
	t.Parallel()
	ofEach(t, func(t *testing.T, j java) {
		c := j.newCluster(t, "java_is_killed_unheard")
		unheard(c, j.first, 1, func(first string) {
			j.first.Kill()
			c.eventually("its session is over", func(s *jobtree.State) bool { return s.Instance(first).Created == 0 })
		})
	})
}

// unheard ends a Java process that runs an item while Go hears nothing. Go is to run that item again so many times.
func unheard(c *cluster, p *javapeer.Peer, reruns int, end func(first string)) {
	c.t.Helper()
	way := proxy.Start(c.t, c.address)
	g, first := c.busyJavaBeside(p, c.open(way.Address()))
	way.CutDown()
	end(first)
	way.Heal()
	c.eventually("Go alone", func(s *jobtree.State) bool { return settled(2, goID)(s) && idle(s) })
	if reruns > 0 {
		g.wait("the rerun", func(runs []job.ShardingContext) bool { return countOf(runs, 1, job.Failover) > 0 })
	}
	require.NoError(c.t, g.triggerJob(c.t.Context(), c.job))
	runs := g.wait("what was Java's", func(runs []job.ShardingContext) bool { return countOf(runs, 1, job.Manual) > 0 })
	require.Equal(c.t, reruns, countOf(runs, 1, job.Failover), "%s", shown(runs))
}

// The console shuts down an instance of ElasticJob 3.x that is busy. To the others this is a crash: Go runs the item again
// while Java's run goes on. Java's end takes Go's mark away; nobody begins the item a third time.
func TestTheConsoleShutsABusyInstanceOfElasticJob3Down(t *testing.T) {
	t.Parallel()
	need(t)
	p := javapeer.Start(t, javapeer.WithRelease(javapeer.ElasticJob3), javapeer.WithIP(ipFirst))
	c := java{layout: jobtree.ElasticJob3}.newCluster(t, "busy_shutdown")
	g, first := c.busyJava(p)
	g.hold()
	require.NoError(t, p.Console(c.java()).Shutdown(c.job, ipFirst))
	g.wait("the rerun", func(runs []job.ShardingContext) bool { return countOf(runs, 1, job.Failover) > 0 })
	require.Zero(t, c.state().Instance(first).Created)
	p.Last(c.job, 0)
	p.WaitEvents(c.job, ended(1))
	g.release()
	c.eventually("Go alone", func(s *jobtree.State) bool { return settled(2, goID)(s) && idle(s) })
	runs, _ := g.look()
	require.Len(t, runs, 2, "%s", shown(runs))
	require.Equal(t, map[int]int{1: 1}, begins(p.Events(c.job)))
}

// A Go process that stops in order, at an address that it shares with a Java process, is no crash to that one, which would run
// again at once all that the assignment says it had. It stays until what it runs has ended, and gives its item up as it goes.
func goStopsAtAnAddressOfJavas(t *testing.T, j java) {
	c := j.newCluster(t, "go_stops_at_javas")
	const neighbour = ipFirst + "@-@go"
	cfg := c.config(never, 2)
	cfg.Failover = true
	start := func() *golang { return c.startGoOver(c.open(c.address), neighbour, cfg) }
	g := start()
	c.eventually("Go leads", func(s *jobtree.State) bool { return s.Leader.Instance == neighbour })
	spec := javapeer.NewJob(c.job, never, 2)
	spec.Failover = true
	first := c.joinJava(j.first, spec)
	ours := func() int {
		return slices.Index(ownersOf(c.eventually("two instances", settled(2, first, neighbour))), neighbour)
	}
	item := ours()
	g.hold()
	require.NoError(t, g.triggerJob(t.Context(), c.job))
	g.wait("its item", ran(item, 0))
	j.first.WaitEvents(c.job, ended(1-item))
	g.cancel()
	require.False(t, c.within(2*time.Second, func(s *jobtree.State) bool {
		return s.Instance(neighbour).Created == 0 || s.Item(item).Failover.Exists()
	}), "it stays until its item has ended")
	g.stop()
	// Whatever Java made of it, it would have run before it runs for what it is asked for.
	alone := func(ran map[int]int) {
		c.eventually("it is gone", func(s *jobtree.State) bool { return s.Instance(neighbour).Created == 0 })
		require.NoError(t, j.first.Console(c.java()).Trigger(c.job))
		j.first.WaitEvents(c.job, func(events []javapeer.Event) bool {
			now := begins(events)
			return now[0] >= ran[0] && now[1] >= ran[1]
		})
		c.eventually("nothing is left", func(s *jobtree.State) bool { return settled(2, first)(s) && idle(s) })
		require.Equal(t, ran, begins(j.first.Events(c.job)))
	}
	alone(map[int]int{item: 1, 1 - item: 2})

	g = start()
	require.NoError(t, j.first.Console(c.java()).Trigger(c.job)) // for which Java, which leads now, spreads the items
	g.wait("its item", func(runs []job.ShardingContext) bool { return len(runs) > 0 })
	j.first.WaitEvents(c.job, func(events []javapeer.Event) bool { return len(events) >= 2*(3+1) })
	item = ours()
	c.eventually("nothing runs", idle)
	before := begins(j.first.Events(c.job))
	g.stop() // idle
	before[0]++
	before[1]++
	alone(before)
}
