package mixed

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// A Go leader that is killed is followed by Java, and what it ran is run again by another Go instance.
func theGoLeaderIsKilled(t *testing.T, j java) {
	c := j.newCluster(t, "go_leader_is_killed")
	cfg := c.config(never, 3)
	cfg.Failover = true
	leader := c.startChild(cfg)
	c.goLeads()
	last := c.joinJava(j.last, javapeer.NewJob(c.job, never, 1))
	const other = "10.0.0.4@-@go"
	g := c.startGoOver(c.open(c.address), other, cfg)
	s := c.eventually("three instances", settled(3, other, last, goID))
	require.Equal(t, goID, s.Leader.Instance)
	require.Equal(t, goID, s.Owner(2))
	c.change(func(cfg *job.Config) { cfg.Cron = everySecond })
	leader.await(t, "began 2")
	j.last.LastOf(c.job, 2, javapeer.UntilTold)
	leader.kill()
	// Either of the two may be the first to claim what waits. Java never had the item otherwise, and holds what it claims until
	// it is told: a claim that comes and goes between two looks of ours cannot be seen, see docs/java.md.
	ours := func() int { runs, _ := g.look(); return countOf(runs, 2, job.Failover) }
	theirs := func() int { return begins(j.last.Events(c.job))[2] }
	c.eventually("somebody runs it again", func(*jobtree.State) bool { return ours()+theirs() > 0 })
	if theirs() > 0 {
		require.False(t, c.within(2*time.Second, func(*jobtree.State) bool { return ours() > 0 }), "Java runs it")
		j.last.LastOf(c.job, 2, 0)
	}
	c.eventually("two instances", settled(3, other, last))
	runs := g.wait("the next fires", func(runs []job.ShardingContext) bool { return countOf(runs, 2, job.Scheduled) > 3 })
	require.Equal(t, 1, ours()+theirs(), "%s; Java: %+v", shown(runs), j.last.Events(c.job))
	j.last.WaitEvents(c.job, began(1, 0))
}

// A Go instance is killed under a Java leader, which gives its items to others with the next fire: in a
// long time. What was running is run again by Go at once.
func aGoInstanceIsKilledUnderAJavaLeader(t *testing.T, j java) {
	c := j.newCluster(t, "go_is_killed_under_java")
	spec := javapeer.NewJob(c.job, everySecond, 3)
	spec.Failover = true
	first := c.joinJava(j.first, spec)
	cfg := c.config(everySecond, 3)
	cfg.Failover = true
	const other = "10.0.0.4@-@go"
	g := c.startGoOver(c.open(c.address), other, cfg)
	c.eventually("two instances", settled(3, first, other))
	victim := c.startChild(cfg)
	c.eventually("three instances", settled(3, first, other, goID))
	victim.await(t, "began 1")
	c.change(func(cfg *job.Config) { cfg.Cron = never })
	before := c.eventually("only what never ends runs", func(s *jobtree.State) bool {
		return s.Item(1).Running.Exists() && !s.Item(0).Running.Exists() && !s.Item(2).Running.Exists()
	})
	ranBefore, _ := g.look()
	begunBefore := begins(j.first.Events(c.job))[1]
	died := time.Now()
	victim.kill()
	if c.layout == jobtree.ElasticJob3 { // which sees our mark, and claims as fast as we do
		again := func() int {
			runs, _ := g.look()
			return countOf(runs, 1, job.Failover) + begins(j.first.Events(c.job))[1] - begunBefore
		}
		c.eventually("the rerun, and the request for a resharding or what became of it", func(s *jobtree.State) bool {
			it := s.Item(1)
			return again() > 0 && !it.Running.Exists() && !it.Remains.Exists() && it.FailoverItem == 0 && (s.Necessary != 0 || s.Owner(1) != goID)
		})
		require.True(t, c.state().LedByJava())
		require.Equal(t, 1, again())
		return
	}
	g.wait("the rerun", func(runs []job.ShardingContext) bool { return countOf(runs, 1, job.Failover) > 0 })
	s := c.eventually("it has ended", func(s *jobtree.State) bool { return !s.Item(1).Running.Exists() })
	require.True(t, s.LedByJava())
	if before.Necessary == 0 { // else the leader was in a round of before, waiting for the item to end
		require.NotZero(t, s.Necessary, "the leader has yet to see to it")
		require.Equal(t, goID, s.Owner(1))
	}
	runs, _ := g.look()
	again := slices.DeleteFunc(runs[len(ranBefore):], func(sc job.ShardingContext) bool {
		return sc.Item != 1 && sc.Source != job.Failover && sc.Fire.Before(died) // by the cron before, and late
	})
	require.Len(t, again, 1, "%s", shown(again))
}

func countOf(runs []job.ShardingContext, item int, source job.Source) int {
	n := 0
	for _, sc := range runs {
		if sc.Item == item && sc.Source == source {
			n++
		}
	}
	return n
}

// A Java leader that is killed is followed by Go, which runs again what it was running, once, and nothing
// else.
func TestTheJavaLeaderIsKilled(t *testing.T) {
	t.Parallel()
	ofEach(t, theJavaLeaderIsKilled)
}

// ofEach runs a test with a Java process of its own of each kind.
func ofEach(t *testing.T, test func(*testing.T, java)) {
	t.Helper()
	need(t)
	for layout, release := range map[jobtree.Layout]*javapeer.Release{jobtree.Lite: javapeer.Lite2, jobtree.ElasticJob3: javapeer.ElasticJob3} {
		t.Run(release.String(), func(t *testing.T) {
			t.Parallel()
			test(t, java{first: javapeer.Start(t, javapeer.WithRelease(release), javapeer.WithIP(ipFirst)), layout: layout})
		})
	}
}

func theJavaLeaderIsKilled(t *testing.T, j java) {
	c, p := j.newCluster(t, "java_leader_is_killed"), j.first
	spec := javapeer.NewJob(c.job, everySecond, 4)
	spec.Failover = true
	first := c.joinJava(p, spec)
	g := c.startGo(c.config(everySecond, 4))
	s := c.eventually("two instances", settled(4, first, goID))
	require.True(t, s.LedByJava())
	require.Equal(t, []string{goID, goID, first, first}, ownersOf(s))
	require.NoError(t, p.Console(c.java()).DisableItem(c.job, 3))
	ahead := func(events []javapeer.Event) int { times := begins(events); return times[2] - times[3] }
	heard := ahead(p.Events(c.job)) + 3 // Java hears of it by its cache; until then both items are in each of its rounds
	p.WaitEvents(c.job, func(events []javapeer.Event) bool { return ahead(events) >= heard })
	p.Last(c.job, javapeer.UntilTold)
	mark := c.heldInJava(p, 2)
	before, _ := g.look()
	g.wait("Go has seen that", ran(0, times(before, 0)+1))
	s = c.state()
	require.Equal(t, mark, s.Item(2).Running, "Java runs item 2")
	require.False(t, s.Item(3).Running.Exists(), "and that alone")
	p.Kill()
	c.eventually("Go alone", settled(4, goID))
	g.wait("a rerun", func(runs []job.ShardingContext) bool { return countOf(runs, 2, job.Failover) > 0 })
	runs := g.wait("the next fires", func(runs []job.ShardingContext) bool { return countOf(runs, 2, job.Scheduled) > 3 })
	require.Equal(t, 1, countOf(runs, 2, job.Failover))
	require.Zero(t, times(runs, 3), "it is disabled")
	for _, sc := range runs {
		require.True(t, sc.Item == 2 || sc.Source != job.Failover, "%+v", sc)
	}
}

// heldInJava returns the mark of an execution that goes on in a Java process whose executions were just told to. The mark
// that is there at first may be of one that began before, and is about to end: only the next one surely goes on.
func (c *cluster) heldInJava(p *javapeer.Peer, item int) jobtree.Mark {
	c.t.Helper()
	var mark jobtree.Mark
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		earlier := c.state().Item(item).Running.Created
		if c.within(5*time.Second, func(s *jobtree.State) bool {
			mark = s.Item(item).Running
			return mark.Exists() && mark.Created != earlier
		}) {
			return mark
		}
		p.Release(c.job) // it was told in time, and goes on: no next one comes before it ends
	}
	require.Fail(c.t, "waited in vain", "for Java to run item %d", item)
	return mark
}

// What Java missed when it is killed is made up by Go.
func TestAJavaInstanceIsKilledWithMissedFires(t *testing.T) {
	t.Parallel()
	ofEach(t, aJavaInstanceIsKilledWithMissedFires)
}

func aJavaInstanceIsKilledWithMissedFires(t *testing.T, j java) {
	c, p := j.newCluster(t, "java_missed_fires"), j.first
	g := c.startGo(c.config(everySecond, 2))
	c.goLeads()
	first := c.joinJava(p, javapeer.NewJob(c.job, everySecond, 2))
	c.eventually("two instances", settled(2, first, goID))
	p.Last(c.job, javapeer.UntilTold)
	c.eventually("Java runs", func(s *jobtree.State) bool { return s.Item(1).Running.Exists() })
	missed := time.Now().Add(3 * time.Second)
	g.wait("fires that Java misses", func(runs []job.ShardingContext) bool {
		return len(runs) > 0 && runs[len(runs)-1].Fire.After(missed)
	})
	// Java notes what it missed when the run has ended, and has not made it up while it runs again. It may be
	// at rest before it is told to go on running, and then has to miss some more.
	noted := func(s *jobtree.State) bool { return s.Item(1).Misfire.Exists() && s.Item(1).Running.Exists() }
	runsOn := false
	for deadline := time.Now().Add(patience); !runsOn && time.Now().Before(deadline); {
		p.Release(c.job)
		earlier := c.state().Item(1).Running.Created // perhaps of one that began before it was told to go on running
		runsOn = c.within(5*time.Second, func(s *jobtree.State) bool { return noted(s) && s.Item(1).Running.Created != earlier }) ||
			noted(c.state()) // which began just before we looked, and would have ended by now
	}
	require.True(t, runsOn, "Java noted it")
	before, _ := g.look() // it had the item at first, and may have been late
	p.Kill()
	g.wait("a catch-up", func(runs []job.ShardingContext) bool {
		return countOf(runs, 1, job.Misfire) > countOf(before, 1, job.Misfire)
	})
	g.wait("the next fires", func(runs []job.ShardingContext) bool {
		return countOf(runs, 1, job.Scheduled) > countOf(before, 1, job.Scheduled)+1
	})
	note := c.state().Item(1).Misfire // Go may have missed fires itself, on a busy machine, and knows which
	require.False(t, note.Exists() && note.Value.Newest().IsZero(), "Java's note is gone")
}

// Connections break and hang, and the session lives: nothing that Java could take for a crash happens.
// It would run the items of a crashed instance at once, off the schedule, as it knows another one of the
// same server.
func aReconnectOfGoIsNoCrashToJava(t *testing.T, j java) {
	c := j.newCluster(t, "reconnect_of_go")
	cfg := c.config(never, 4)
	cfg.Failover = true
	network := proxy.Start(t, c.address)
	reg := c.open(network.Address())
	g := c.startGoOver(reg, goID, cfg)
	c.goLeads()
	neighbour := c.startGoOver(c.open(c.address), goID+"-neighbour", cfg)
	spec := javapeer.NewJob(c.job, never, 4)
	first, last := c.joinJava(j.first, spec), c.joinJava(j.last, spec)
	everybody := settled(4, first, goID, goID+"-neighbour", last)
	before := c.eventually("four instances", everybody)
	require.Equal(t, goID, before.Leader.Instance)
	for range 4 {
		network.Break()
		_, err := reg.Get(t.Context(), c.tree.Config())
		require.NoError(t, err)
		network.Cut()
		time.Sleep(sessionTimeout / 4)
		network.Heal()
		_, err = reg.Get(t.Context(), c.tree.Config())
		require.NoError(t, err)
	}
	s := c.eventually("four instances still", everybody)
	require.Equal(t, before.Instance(goID), s.Instance(goID), "its node was not touched")
	require.Equal(t, before.Leader, s.Leader)
	require.Equal(t, ownersOf(before), ownersOf(s))

	// Whatever Java made of it, it would have run before it runs for this.
	require.NoError(t, g.triggerJob(t.Context(), c.job))
	g.wait("by hand", func(runs []job.ShardingContext) bool { return len(runs) > 0 })
	neighbour.wait("by hand", func(runs []job.ShardingContext) bool { return len(runs) > 0 })
	for _, p := range []*javapeer.Peer{j.first, j.last} {
		events := p.WaitEvents(c.job, func(events []javapeer.Event) bool { return len(events) >= 2 })
		require.Len(t, events, 2, "one item, once")
	}
	runs, _ := g.look()
	require.Len(t, runs, 1)
}
