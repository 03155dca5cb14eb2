package mixed

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/sharding"
)

// A Java leader and a Go leader come to the same assignment, and each gets its items from the other. The
// leadership moves because the console disables servers.
func oneAssignmentWhoeverLeads(name, strategy string) func(*testing.T, java) {
	return func(t *testing.T, j java) {
		const total = 7
		c := j.newCluster(t, name)
		spec := javapeer.NewJob(c.job, everySecond, total)
		spec.Strategy = strategy
		first := c.joinJava(j.first, spec)
		g := c.startGo(c.config(everySecond, total))
		last := c.joinJava(j.last, spec)
		everybody := settled(total, first, goID, last)
		want := wanted(t, c.job, strategy, total, first, goID, last)
		console := j.first.Console(c.java())

		asWanted := func(s *jobtree.State) bool { return everybody(s) && slices.Equal(want, ownersOf(s)) }
		s := c.eventually("Java leads", func(s *jobtree.State) bool { return asWanted(s) && s.LedByJava() })
		require.Equal(t, first, s.Leader.Instance)
		c.everyItemRuns(g, j)

		for _, ip := range []string{ipFirst, ipLast} {
			require.NoError(t, console.Disable(c.job, ip))
		}
		c.eventually("Go leads", func(s *jobtree.State) bool { return s.Leader.Instance == goID && !s.LedByJava() })
		for _, ip := range []string{ipFirst, ipLast} {
			require.NoError(t, console.Enable(c.job, ip))
		}
		s = c.eventually("all have items under Go", asWanted)
		require.Equal(t, goID, s.Leader.Instance)
		c.everyItemRuns(g, j)

		require.NoError(t, console.Disable(c.job, ipGo))
		c.eventually("Java leads again", func(s *jobtree.State) bool { return s.LedByJava() && settled(total, first, last)(s) })
		require.NoError(t, console.Enable(c.job, ipGo))
		s = c.eventually("all have items under Java", asWanted)
		require.True(t, s.LedByJava())
		c.everyItemRuns(g, j)
	}
}

// wanted is what the strategy says, which package sharding holds to real Java.
func wanted(t *testing.T, name, strategy string, total int, ids ...string) []string {
	t.Helper()
	s, err := sharding.Default().Lookup(strategy)
	require.NoError(t, err)
	assignment, err := sharding.Run(s, sharding.Request{Job: name, Instances: ids, Total: total})
	require.NoError(t, err)
	return assignment
}

// everyItemRuns waits until each item has run once more where it is assigned to by then: a leader may assign the same again
// meanwhile, and then items have no owner for a moment.
func (c *cluster) everyItemRuns(g *golang, j java) {
	c.t.Helper()
	runs, _ := g.look()
	first, last := begins(j.first.Events(c.job)), begins(j.last.Events(c.job))
	ranAgain := func(item int, owner string) bool {
		switch {
		case owner == "":
			return false
		case owner == goID:
			now, _ := g.look()
			return times(now, item) > times(runs, item)
		case jobtree.ServerOf(owner) == ipLast:
			return began(item, last[item])(j.last.Events(c.job))
		default:
			return began(item, first[item])(j.first.Events(c.job))
		}
	}
	all := func(s *jobtree.State) bool {
		for item, owner := range ownersOf(s) {
			if !ranAgain(item, owner) {
				return false
			}
		}
		return true
	}
	if !c.within(patience, all) {
		require.Fail(c.t, "waited in vain", "for every item to run; owners %v; threads of the first Java process:\n%s\nand of the last:\n%s",
			ownersOf(c.state()), j.first.Stacks(), j.last.Stacks())
	}
}

// While a Go leader has an item that runs and runs, Java instances go on, whoever joins.
func javaDoesNotWaitForGo(t *testing.T, j java) {
	c := j.newCluster(t, "java_does_not_wait")
	g := c.startGo(c.config(everySecond, 6))
	c.goLeads()
	spec := javapeer.NewJob(c.job, everySecond, 6)
	first := c.joinJava(j.first, spec)
	c.eventually("two instances", settled(6, first, goID))
	g.holdOne(0)
	last := c.joinJava(j.last, spec)
	before := begins(j.first.Events(c.job))
	for _, more := range []int{1, 2, 3} {
		j.first.WaitEvents(c.job, began(5, before[5]+more))
	}
	s := c.eventually("the request is answered", func(s *jobtree.State) bool { return s.Necessary == 0 })
	require.True(t, s.Item(0).Running.Exists())
	require.Equal(t, goID, s.Owner(0), "what runs stays")
	g.release()
	c.eventually("three instances", settled(6, first, goID, last))
	j.last.WaitEvents(c.job, began(0, 0))
}

// A latch that Go holds holds a Java instance up, and nothing else.
func javaWaitsInTheLatchForGo(t *testing.T, j java) {
	c := j.newCluster(t, "latch_of_go")
	other := c.open(c.address)
	release, done := make(chan struct{}), make(chan error, 1)
	held := make(chan struct{})
	go func() {
		done <- other.Latch(context.Background(), c.tree.ElectionLatch(), func(context.Context) error {
			close(held)
			<-release
			return nil
		})
	}()
	<-held
	joined := make(chan error, 1)
	go func() {
		_, err := j.last.Join(c.java(), javapeer.NewJob(c.job, never, 1))
		joined <- err
	}()
	c.contenders(2)
	require.Empty(t, joined)
	require.Zero(t, c.state().Leader.Created)
	close(release)
	require.NoError(t, <-done)
	require.NoError(t, <-joined)
	require.True(t, isJava(c.state().Leader.Instance))
	require.NoError(t, j.last.Console(c.java()).Shutdown(c.job, ""))
}

// And the other way round.
func goWaitsInTheLatchForJava(t *testing.T, j java) {
	c := j.newCluster(t, "latch_of_java")
	c.joinJava(j.first, javapeer.NewJob(c.job, never, 1))
	j.first.HoldLatch(c.job, "leader/election/latch")
	reached, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- c.registry.Latch(context.Background(), c.tree.ElectionLatch(), func(context.Context) error {
			close(reached)
			return nil
		})
	}()
	c.contenders(2)
	select {
	case <-reached:
		require.Fail(t, "Go got a latch that Java holds")
	default:
	}
	j.first.Last("latch", 0)
	require.NoError(t, <-done)
	<-reached
}

// contenders waits until so many contend for the leadership.
func (c *cluster) contenders(count int) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		children, err := c.registry.Children(c.t.Context(), c.tree.ElectionLatch())
		return err == nil && len(children) == count
	}, patience, tick)
}
