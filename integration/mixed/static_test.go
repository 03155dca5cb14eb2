package mixed

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// With static sharding the items stay where they are, whoever comes or goes, and whoever leads, until their number changes
// or somebody asks for a resharding.
func staticSharding(t *testing.T, j java) {
	c := j.newCluster(t, "static_sharding")
	spec := javapeer.NewJob(c.job, everySecond, 4)
	spec.StaticSharding = true
	first := c.joinJava(j.first, spec)
	c.eventually("the first instance has all items", settled(4, first))
	stored := mustGet(t, c, c.tree.Config())
	require.Contains(t, stored, "staticSharding: true")

	g := c.startGo(c.config(everySecond, 4))
	before := ownersOf(c.state())
	c.goesOn(j.first, 0, 5)
	c.stays(before, "a Go instance has joined a job that Java leads")
	require.Equal(t, stored, mustGet(t, c, c.tree.Config()))
	runs, _ := g.look()
	require.Empty(t, runs)
	op, err := operate.New(c.registry, operate.By("anna", "test"))
	require.NoError(t, err)
	_, err = op.Reshard(t.Context(), c.job, operate.Options{})
	require.NoError(t, err)
	c.eventually("Java has resharded, as it was asked to", settled(4, first, goID))

	console := j.first.Console(c.java())
	require.NoError(t, console.Disable(c.job, ipFirst))
	c.eventually("Go leads", func(s *jobtree.State) bool { return s.Leader.Instance == goID && !s.LedByJava() })
	before = ownersOf(c.state())
	last := c.joinJava(j.last, spec)
	own := slices.Index(before, goID)
	g.wait("some fires", ran(own, times(g.runsNow(), own)+4))
	c.stays(before, "a Java instance has joined a job that Go leads, and another is disabled")
	require.NoError(t, console.Enable(c.job, ipFirst))
	c.goesOn(j.first, slices.Index(before, first), 3)
	c.stays(before, "it is enabled again")

	c.change(func(cfg *job.Config) { cfg.ShardingTotalCount = 6 })
	c.eventually("all share more items", settled(6, first, goID, last))
	require.Contains(t, mustGet(t, c, c.tree.Config()), "staticSharding: true")
	c.everyItemRuns(g, j)
	require.NoError(t, j.last.Console(c.java()).Shutdown(c.job, ipLast))
	c.eventually("one has left", func(s *jobtree.State) bool { return s.Instance(last).Created == 0 })
	before = ownersOf(c.state())
	c.goesOn(j.first, slices.Index(before, first), 4)
	c.stays(before, "the items of who has left are left to it")
	c.change(func(cfg *job.Config) { cfg.ShardingTotalCount = 4 })
	c.eventually("those who are there share fewer", settled(4, first, goID))

	before = ownersOf(c.state())
	c.goesOn(j.first, slices.Index(before, first), 4) // an event that is late must not come to Java when it leads
	g.stop()
	c.eventually("Java leads", func(s *jobtree.State) bool { return s.Leader.Instance == first })
	c.goesOn(j.first, slices.Index(before, first), 4)
	c.stays(before, "Go has left a job that it led")
	g = c.startGo(c.config(everySecond, 4))
	g.wait("its items", func(runs []job.ShardingContext) bool { return len(runs) > 0 })
	c.stays(before, "and is back")
	c.do(registry.Put(c.tree.Necessary(), ""))
	c.eventually("who asks is answered", settled(4, first, goID))
}

// goesOn waits until an item of a Java process has begun so many times more.
func (c *cluster) goesOn(p *javapeer.Peer, item, more int) {
	c.t.Helper()
	p.WaitEvents(c.job, began(item, begins(p.Events(c.job))[item]+more-1))
}

// stays requires that nothing has moved, and that nobody is asked to.
func (c *cluster) stays(owners []string, what string) {
	c.t.Helper()
	s := c.state()
	require.Equal(c.t, owners, ownersOf(s), what)
	require.Zero(c.t, s.Necessary, what)
}

func (g *golang) runsNow() []job.ShardingContext {
	runs, _ := g.look()
	return runs
}
