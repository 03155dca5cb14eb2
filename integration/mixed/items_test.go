package mixed

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// A Go leader takes an item from Java when it has ended and not before, and nobody begins it meanwhile.
func goLeavesAloneWhatJavaRuns(t *testing.T, j java) {
	c := j.newCluster(t, "java_runs")
	j.last.Last(c.job, javapeer.UntilTold) // before it joins, so that its first mark is of an execution that goes on
	g, last := c.pair(j, everySecond)
	mark := c.eventually("Java runs", func(s *jobtree.State) bool { return s.Item(0).Running.Exists() }).Item(0).Running
	require.NoError(t, j.first.Console(c.java()).Disable(c.job, ipLast))
	before, _ := g.look() // it was alone at first
	g.wait("fires of its own item", ran(1, times(before, 1)+3))
	runs, _ := g.look()
	require.Equal(t, times(before, 0), times(runs, 0))
	s := c.state()
	require.Equal(t, mark, s.Item(0).Running)
	require.Equal(t, last, s.Owner(0))
	j.last.Last(c.job, 0)
	g.wait("the item that was Java's", ran(0, times(before, 0)))
}

// Java gets an item that Go runs, as no leader of ours would have it, and does not begin it.
func javaLeavesAloneWhatGoRuns(t *testing.T, j java) {
	c := j.newCluster(t, "go_runs")
	g, last := c.pair(j, everySecond)
	g.holdOne(1)
	mark := c.state().Item(1).Running
	require.Equal(t, goID, mark.Value)
	c.do(registry.Put(c.tree.ItemInstance(1), last))
	j.last.WaitEvents(c.job, began(0, begins(j.last.Events(c.job))[0]+3))
	require.Zero(t, begins(j.last.Events(c.job))[1])
	s := c.state()
	require.Equal(t, mark, s.Item(1).Running, "the mark was not taken")
	require.Equal(t, last, s.Owner(1), "a leader moves nothing that runs")
	g.release()
	c.eventually("it is Go's again", settled(2, goID, last))
}

// What Java notes of missed fires says that there were some. Go, which gets the item, runs once for the
// newest.
func goMakesUpWhatJavaMissed(t *testing.T, j java) {
	c := j.newCluster(t, "go_makes_up")
	g, _ := c.pair(j, never)
	hour := (time.Now().UTC().Hour() + 12) % 24
	c.change(func(cfg *job.Config) { cfg.Cron = fmt.Sprintf("0 0 %d * * ?", hour) }) // has fired, and does not fire now
	c.do(registry.Put(c.tree.ItemMisfire(0), ""))
	c.do(registry.Put(c.tree.Server(ipLast), c.layout.EncodeServer(true)))
	runs := g.wait("a catch-up", ran(0, 0))
	require.Equal(t, job.Misfire, runs[0].Source)
	require.Equal(t, hour, runs[0].Fire.Hour())
	require.Zero(t, runs[0].Fire.Minute()+runs[0].Fire.Second())
	c.eventually("the note is gone", func(s *jobtree.State) bool { return !s.Item(0).Misfire.Exists() })
}

// What Go notes of missed fires has Java run once more. If a fire comes while Java waits for what Go runs, there is nothing
// to be noted: Java runs the item for that fire when it gets it, and so makes up for all that came before. On a busy machine
// that may happen, so the item goes to Java up to three times.
func javaMakesUpWhatGoMissed(t *testing.T, j java) {
	c := j.newCluster(t, "java_makes_up")
	const between = 5 * time.Second
	g, last := c.pair(j, "0/5 * * * * ?")
	for range 3 {
		item := slices.Index(ownersOf(c.state()), goID)
		g.holdOne(item)
		missed := time.Now().Truncate(between).Add(between) // the next fire
		j.last.WaitEvents(c.job, func(events []javapeer.Event) bool {
			return len(events) > 0 && !events[len(events)-1].Time().Before(missed)
		})
		j.last.LastOf(c.job, item, javapeer.UntilTold) // of Go's item alone: a leader waits for its own as well
		require.NoError(t, j.first.Console(c.java()).Disable(c.job, ipGo))
		c.eventually("Java leads", func(s *jobtree.State) bool { return s.Leader.Instance == last })
		g.release()
		s := c.eventually("Java runs Go's item", func(s *jobtree.State) bool {
			return s.Owner(item) == last && s.Item(item).Running.Exists()
		})
		if note := s.Item(item).Misfire; note.Exists() {
			require.NotEmpty(t, note.Value.Fires)
			j.last.LastOf(c.job, item, 0)
			c.eventually("Java has made it up", func(s *jobtree.State) bool { return !s.Item(item).Misfire.Exists() })
			return
		}
		ended := s.Item(item).Record.Value.Current.End
		require.GreaterOrEqual(t, ended, missed.Add(between), "what Go missed is noted, as no fire came while Java waited")
		t.Log("a fire came while Java waited")
		j.last.LastOf(c.job, item, 0)
		require.NoError(t, j.first.Console(c.java()).Enable(c.job, ipGo))
		c.eventually("two instances", settled(2, goID, last))
	}
}

// Java reads, lists and assigns a tree that has all that Go leaves behind.
func javaReadsAUsedTree(t *testing.T, j java) {
	c := j.newCluster(t, "a_used_tree")
	cfg := c.config(everySecond, 6)
	cfg.Failover = true
	if c.layout == jobtree.Lite {
		cfg.FailoverScope = job.FailoverAssigned
	}
	g := c.startGo(cfg)
	c.goLeads()
	other := c.startGoOver(c.open(c.address), "10.0.0.4@-@go", cfg)
	for _, total := range []int{6, 2, 5} {
		c.change(func(cfg *job.Config) { cfg.ShardingTotalCount = total })
		c.eventually("so many items", settled(total, goID, other.id))
		runs, _ := g.look()
		g.wait("a fire", func(now []job.ShardingContext) bool { return len(now) > len(runs)+1 })
	}
	other.stop()
	c.do(registry.Put(c.tree.FailoverItem(1), ""), registry.Put(c.tree.ItemMisfire(2), `{"fires":"2026-01-02T12:00:00Z +1s*2"}`))
	first := c.joinJava(j.first, javapeer.NewJob(c.job, never, 1))
	c.eventually("two instances", settled(5, goID, first))
	g.stop()
	s := c.eventually("Java alone", settled(5, first))
	require.Equal(t, first, s.Leader.Instance)
	for item := range 5 {
		j.first.WaitEvents(c.job, began(item, 0))
	}
	items, err := j.last.Console(c.java()).Items(c.job)
	require.NoError(t, err)
	require.Len(t, items, 5)
	children, err := c.registry.Children(t.Context(), c.tree.Sharding())
	require.NoError(t, err)
	for _, child := range children {
		_, err := strconv.Atoi(child)
		require.NoError(t, err, "Java reads every child of sharding as a number")
	}
}
