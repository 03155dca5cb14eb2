package mixed

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// pair starts a Go instance, which leads, and a Java instance that shares the items with it: of two,
// item 0 is Java's and item 1 is Go's.
func (c *cluster) pair(j java, cron string) (*golang, string) {
	c.t.Helper()
	g := c.startGo(c.config(cron, 2))
	c.goLeads()
	last := c.joinJava(j.last, javapeer.NewJob(c.job, never, 1))
	s := c.eventually("two instances", settled(2, goID, last))
	require.Equal(c.t, goID, s.Leader.Instance)
	require.Equal(c.t, []string{last, goID}, ownersOf(s))
	return g, last
}

func theConsoleTriggers(t *testing.T, j java) {
	c := j.newCluster(t, "console_triggers")
	g, _ := c.pair(j, never)
	c.triggered(g, j, func() error { return j.first.Console(c.java()).Trigger(c.job) })
}

func goTriggers(t *testing.T, j java) {
	c := j.newCluster(t, "go_triggers")
	g, _ := c.pair(j, never)
	c.triggered(g, j, func() error { return g.triggerJob(t.Context(), c.job) })
}

// triggered triggers twice, and each runs its item for it and takes its request back.
func (c *cluster) triggered(g *golang, j java, trigger func() error) {
	c.t.Helper()
	for n := range 2 {
		require.NoError(c.t, trigger())
		runs := g.wait("by hand", ran(1, n))
		require.Equal(c.t, job.Manual, runs[n].Source)
		j.last.WaitEvents(c.job, func(events []javapeer.Event) bool { return len(events) >= 2*(n+1) })
		c.eventually("the requests are taken back", func(s *jobtree.State) bool {
			return !slices.ContainsFunc(s.Instances, func(i jobtree.Instance) bool { return i.Triggered })
		})
	}
	runs, _ := g.look()
	require.Len(c.t, runs, 2)
	require.Equal(c.t, map[int]int{0: 2}, begins(j.last.Events(c.job)))
}

func theConsoleDisablesAndEnablesGo(t *testing.T, j java) {
	c := j.newCluster(t, "console_disables")
	g, last := c.pair(j, everySecond)
	g.wait("a fire", ran(1, 0))
	console := j.first.Console(c.java())
	require.NoError(t, console.Disable(c.job, ipGo))
	s := c.eventually("Java alone", settled(2, last))
	require.Equal(t, last, s.Leader.Instance, "a disabled server does not lead")
	c.staysIdle(g, j)
	require.NoError(t, console.Enable(c.job, ipGo))
	c.eventually("two instances", settled(2, goID, last))
	runs, _ := g.look()
	g.wait("a fire", ran(1, times(runs, 1)))
}

// staysIdle makes sure that a Go instance runs nothing for as long as Java runs for three fires.
func (c *cluster) staysIdle(g *golang, j java) {
	c.t.Helper()
	before, _ := g.look()
	j.last.WaitEvents(c.job, began(0, begins(j.last.Events(c.job))[0]+2))
	after, _ := g.look()
	require.Len(c.t, after, len(before))
}

// What an operator said of a server outlives the process, which writes nothing over it.
func disabledSurvivesARestartOfGo(t *testing.T, j java) {
	c := j.newCluster(t, "disabled_survives")
	g, last := c.pair(j, everySecond)
	console := j.first.Console(c.java())
	require.NoError(t, console.Disable(c.job, ipGo))
	c.eventually("Java alone", settled(2, last))
	g.stop()
	c.eventually("Go is gone", func(s *jobtree.State) bool { return s.Instance(goID).Created == 0 })
	g = c.startGo(c.config(everySecond, 2))
	c.staysIdle(g, j)
	s := c.state()
	require.NotZero(t, s.Instance(goID).Created)
	require.True(t, s.Server(ipGo).Disabled)
	require.Equal(t, []string{last, last}, ownersOf(s))
	require.NoError(t, console.Enable(c.job, ipGo))
	c.eventually("two instances", settled(2, goID, last))
}

func theConsoleShutsGoDown(t *testing.T, j java) {
	c := j.newCluster(t, "console_shuts_down")
	g, last := c.pair(j, everySecond)
	require.NoError(t, j.first.Console(c.java()).Shutdown(c.job, ipGo))
	c.eventually("Java alone", settled(2, last))
	j.last.WaitEvents(c.job, began(1, 0))
	c.staysIdle(g, j)
	s := c.state()
	require.Zero(t, s.Instance(goID).Created, "it does not come back")
	require.Equal(t, last, s.Leader.Instance)
	require.Empty(t, g.done, "its process goes on")
}

// Go disables, enables and shuts down as the console does, and Java follows.
func goShutsJavaDown(t *testing.T, j java) {
	c := j.newCluster(t, "go_shuts_down")
	g, last := c.pair(j, everySecond)
	j.last.WaitEvents(c.job, began(0, 0))
	c.do(registry.Put(c.tree.Server(ipLast), c.layout.EncodeServer(true)))
	c.eventually("Go alone", settled(2, goID))
	runs, _ := g.look()
	g.wait("Java's item", ran(0, times(runs, 0)))
	c.do(registry.Put(c.tree.Server(ipLast), c.layout.EncodeServer(false)))
	c.eventually("two instances", settled(2, goID, last))
	j.last.WaitEvents(c.job, began(0, begins(j.last.Events(c.job))[0]))
	c.do(registry.Delete(c.tree.Instance(last)))
	c.eventually("Go alone", settled(2, goID))
	require.Eventually(t, func() bool {
		belief, err := j.last.Belief(c.job)
		return err == nil && belief.Shutdown
	}, patience, tick)
}

// The console drops what only Go knows of the settings, and both follow what it wrote.
func theConsoleChangesSettings(t *testing.T, j java) {
	c := j.newCluster(t, "console_settings")
	g, last := c.pair(j, never)
	console := j.first.Console(c.java())
	settings, err := console.Settings(c.job)
	require.NoError(t, err)
	settings["shardingTotalCount"], settings["cron"] = 4, everySecond
	settings["jobParameter"], settings["shardingItemParameters"] = "console", "0=a,3=d"
	require.NoError(t, console.UpdateSettings(settings))
	c.eventually("four items", settled(4, goID, last))
	runs := g.wait("a fire", ran(3, 0))
	sc := runs[slices.IndexFunc(runs, func(sc job.ShardingContext) bool { return sc.Item == 3 })]
	require.Equal(t, "d", sc.ItemParameter)
	require.Equal(t, "console", sc.JobParameter)
	require.Equal(t, 4, sc.TotalCount)
	e := j.last.WaitEvents(c.job, began(0, 0))[0]
	require.Equal(t, "console", e.JobParameter)

	limit := 5 // which only Go knows
	if c.layout == jobtree.ElasticJob3 {
		limit = 0 // which would refuse it
	}
	c.change(func(cfg *job.Config) { cfg.ShardingTotalCount, cfg.JobParameter, cfg.FailoverLimit = 3, "go", limit })
	c.eventually("three items", settled(3, goID, last))
	j.last.WaitEvents(c.job, func(events []javapeer.Event) bool {
		newest := events[len(events)-1]
		return newest.Total == 3 && newest.JobParameter == "go"
	})
	require.Equal(t, limit, c.state().Config.Value.FailoverLimit)
}

func theConsoleDisablesItems(t *testing.T, j java) {
	c := j.newCluster(t, "console_items")
	g, _ := c.pair(j, everySecond)
	g.wait("a fire", ran(1, 0))
	console := j.first.Console(c.java())
	require.NoError(t, console.DisableItem(c.job, 1))
	// A run that began before that is one too many at most.
	before, _ := g.look()
	j.last.WaitEvents(c.job, began(0, begins(j.last.Events(c.job))[0]+3))
	after, _ := g.look()
	require.LessOrEqual(t, len(after)-len(before), 1)
	items, err := console.Items(c.job)
	require.NoError(t, err)
	require.Equal(t, "DISABLED", items[1].Status)
	require.NoError(t, console.EnableItem(c.job, 1))
	g.wait("a fire", ran(1, len(after)))
}

// A Go process that is not told of the Java instances of a job does not take part in it.
func aProcessThatIsNotToldOfJava(t *testing.T, j java) {
	c := j.newCluster(t, "not_told_of_java")
	first := c.joinJava(j.first, javapeer.NewJob(c.job, never, 2))
	s, err := scheduler.New(c.open(c.address))
	require.NoError(t, err)
	_, err = s.Add(t.Context(), c.config(never, 2), job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
	require.ErrorIs(t, err, scheduler.ErrJavaPeers)
	require.ErrorContains(t, err, first)
}
