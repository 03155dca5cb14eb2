package mixed

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// longSession outlasts what a test does to a frozen process whose session is to live.
const longSession = 60 * time.Second

func (p *child) freeze(t *testing.T) {
	t.Helper()
	require.NoError(t, javapeer.Freeze(p.cmd.Process))
}

func (p *child) thaw(t *testing.T) {
	t.Helper()
	require.NoError(t, javapeer.Thaw(p.cmd.Process))
}

// ended tells whether an item has ended in a Java process.
func ended(item int) func([]javapeer.Event) bool {
	return func(events []javapeer.Event) bool {
		return slices.ContainsFunc(events, func(e javapeer.Event) bool { return e.Kind == javapeer.EventEnd && e.Item == item })
	}
}

// freeze stops a Java process, and lets it go on when the test has failed.
func (c *cluster) freeze(p *javapeer.Peer) {
	c.t.Helper()
	require.NoError(c.t, p.Freeze())
	c.t.Cleanup(func() { _ = p.Thaw() })
}

// idle tells whether nothing runs, and nothing is left of what ran.
func idle(s *jobtree.State) bool {
	for item := range s.Total() {
		it := s.Item(item)
		if it.Running.Exists() || it.Remains.Exists() || it.Failover.Exists() || it.Claimed.Exists() || it.FailoverItem != 0 || it.Record.Value.State == jobtree.ItemRunning {
			return false
		}
	}
	return true
}

// A Java process stands still in the middle of an execution until its session is over. Go runs that again. The Java
// process goes on: its execution ends, which takes the mark of Go's away as it takes its own; nobody begins the item a
// third time, and Java takes part again.
func TestAJavaProcessIsFrozen(t *testing.T) {
	t.Parallel()
	ofEach(t, aJavaProcessIsFrozen)
}

func aJavaProcessIsFrozen(t *testing.T, j java) {
	c, p := j.newCluster(t, "java_is_frozen"), j.first
	cfg := c.config(never, 2)
	cfg.Failover = true
	g := c.startGo(cfg)
	c.goLeads()
	first := c.joinJava(p, javapeer.NewJob(c.job, never, 2))
	s := c.eventually("two instances", settled(2, goID, first))
	require.Equal(t, first, s.Owner(1))
	p.Last(c.job, javapeer.UntilTold)
	require.NoError(t, g.triggerJob(t.Context(), c.job))
	p.WaitEvents(c.job, began(1, 0))
	g.wait("its own item", ran(0, 0))
	c.eventually("Java runs alone", func(s *jobtree.State) bool { return s.Item(1).Running.Exists() && !s.Item(0).Running.Exists() })
	g.hold()

	c.freeze(p)
	g.wait("the rerun", func(runs []job.ShardingContext) bool { return countOf(runs, 1, job.Failover) > 0 })
	require.NoError(t, p.Thaw())
	c.eventually("Java takes part again", func(s *jobtree.State) bool { return s.Instance(first).Created != 0 })
	p.Last(c.job, 0)
	p.WaitEvents(c.job, ended(1))
	g.release()
	c.eventually("each has its item again", func(s *jobtree.State) bool { return settled(2, goID, first)(s) && idle(s) })
	runs, _ := g.look()
	require.Len(t, runs, 2, "%s", shown(runs))
	require.Equal(t, map[int]int{1: 1}, begins(p.Events(c.job)))

	require.NoError(t, g.triggerJob(t.Context(), c.job))
	g.wait("both take part", func(runs []job.ShardingContext) bool { return len(runs) > 2 })
	p.WaitEvents(c.job, func(events []javapeer.Event) bool { return begins(events)[0]+begins(events)[1] > 1 })
}

// A Java process stands still for less than its session lasts. Nothing moves, nothing is run again, and its item waits
// for it.
func TestAJavaProcessIsFrozenForLessThanItsSession(t *testing.T) {
	t.Parallel()
	ofEach(t, aJavaProcessIsFrozenForLessThanItsSession)
}

func aJavaProcessIsFrozenForLessThanItsSession(t *testing.T, j java) {
	c, p := j.newCluster(t, "java_is_frozen_a_while"), j.first
	c.session = longSession
	cfg := c.config(everySecond, 2)
	cfg.Failover = true
	g := c.startGo(cfg)
	c.goLeads()
	first := c.joinJava(p, javapeer.NewJob(c.job, never, 2))
	c.eventually("two instances", settled(2, goID, first))
	p.Last(c.job, javapeer.UntilTold)
	c.eventually("Java runs", func(s *jobtree.State) bool { return s.Item(1).Running.Exists() && s.Item(1).Running.Value != goID })
	before := c.state()
	runs, _ := g.look()

	c.freeze(p)
	g.wait("fires of its own item", ran(0, times(runs, 0)+3))
	require.NoError(t, p.Thaw())
	p.Last(c.job, 0)
	events := p.WaitEvents(c.job, ended(1))
	p.WaitEvents(c.job, began(1, begins(events)[1]))
	s := c.state()
	require.Equal(t, before.Instance(first), s.Instance(first), "its session lived")
	require.Equal(t, ownersOf(before), ownersOf(s))
	now, _ := g.look()
	require.Equal(t, times(runs, 1), times(now, 1), "Go began nothing of Java's")
}

// A Go process stands still in the middle of an execution until its session is over. Java runs that again. The Go
// process goes on: the context of its execution ends, it writes nothing of that session, and takes part under another.
func aGoProcessIsFrozen(t *testing.T, j java) {
	c := j.newCluster(t, "go_is_frozen")
	victim, last := c.childAndJava(j, sessionTimeout)
	require.NoError(t, j.last.Console(c.java()).Trigger(c.job))
	victim.await(t, "began 1")
	j.last.WaitEvents(c.job, ended(0))
	j.last.Last(c.job, javapeer.UntilTold)
	before := c.state().Instance(goID)
	victim.freeze(t)
	j.last.WaitEvents(c.job, began(1, 0))
	mark := c.eventually("Java's mark", func(s *jobtree.State) bool { return s.Item(1).Running.Value == last }).Item(1).Running
	victim.thaw(t)
	require.Equal(t, "cut 1", victim.next(t))
	s := c.eventually("Go takes part again", func(s *jobtree.State) bool {
		i := s.Instance(goID)
		return i.Created != 0 && i.Created != before.Created
	})
	require.Equal(t, mark, s.Item(1).Running, "Java's mark is as it was")
	j.last.Last(c.job, 0)
	c.eventually("nothing is left of it", idle)
	require.Equal(t, map[int]int{0: 1, 1: 1}, begins(j.last.Events(c.job)))

	require.NoError(t, j.last.Console(c.java()).Trigger(c.job)) // for which Java, which leads, spreads the items
	require.Equal(t, "began 1", victim.next(t), "it began nothing else meanwhile")
	victim.end(t)
	require.Equal(t, "ended 1", victim.next(t))
	j.last.WaitEvents(c.job, began(0, 1))
	c.eventually("each has its item again", func(s *jobtree.State) bool { return settled(2, goID, last)(s) && idle(s) })
}

// childAndJava has a Go process lead a job with failover, and a Java instance share it, which has item 0.
func (c *cluster) childAndJava(j java, session time.Duration) (*child, string) {
	c.t.Helper()
	cfg := c.config(never, 2)
	cfg.Failover = true
	victim := c.startChildWith(childSettings{Config: cfg, Session: session, Heeds: true})
	c.goLeads()
	last := c.joinJava(j.last, javapeer.NewJob(c.job, never, 1))
	s := c.eventually("two instances", settled(2, goID, last))
	require.Equal(c.t, []string{last, goID}, ownersOf(s))
	return victim, last
}

// A Go process stands still for less than its session lasts. Java runs nothing of it, and its execution goes on.
func aGoProcessIsFrozenForLessThanItsSession(t *testing.T, j java) {
	c := j.newCluster(t, "go_is_frozen_a_while")
	victim, last := c.childAndJava(j, longSession)
	c.change(func(cfg *job.Config) { cfg.Cron = everySecond })
	victim.await(t, "began 1")
	before := c.state()
	victim.freeze(t)
	j.last.WaitEvents(c.job, began(0, begins(j.last.Events(c.job))[0]+3))
	victim.thaw(t)
	victim.end(t)
	require.Equal(t, "ended 1", victim.next(t), "its context lived")
	require.Equal(t, "began 1", victim.next(t))
	victim.end(t)
	s := c.state()
	require.Equal(t, before.Instance(goID).Created, s.Instance(goID).Created, "its session lived")
	require.Equal(t, []string{last, goID}, ownersOf(s))
	require.Zero(t, begins(j.last.Events(c.job))[1])
}

// A Go process stands still, and Java gets its item meanwhile, and runs it: as its session is over, or because Java joins while
// that goes on. The Go process goes on: it does not run the item for what Java has run it for, nor does it note that as missed.
func javaRunsWhatAFrozenGoProcessHad(name string, itsSessionLives bool) func(*testing.T, java) {
	return func(t *testing.T, j java) {
		const cron, period, leads = "0/10 * * * * ?", 10 * time.Second, "10.0.0.0@-@go"
		c := j.newCluster(t, name)
		cfg := c.config(cron, 3)
		c.startGoOver(c.open(c.address), leads, cfg)
		c.eventually("Go leads", func(s *jobtree.State) bool { return s.Leader.Instance == leads })
		frozen := childSettings{Config: cfg, Session: sessionTimeout, Brief: true}
		p := j.first // whose items come after those of the one that freezes
		if itsSessionLives {
			frozen.Session, p = longSession, j.last // before
		}
		victim := c.startChildWith(frozen)
		everybody, there := []string{leads, goID}, ""
		join := func() { there = c.joinJava(p, javapeer.NewJob(c.job, cron, 3)) }
		if !itsSessionLives {
			join()
			everybody = append(everybody, there)
		}
		require.Equal(t, goID, c.eventually("all share", settled(3, everybody...)).Owner(0))
		runsIt := func() {
			for item, _ := victim.ran(t); item != 0; item, _ = victim.ran(t) {
			}
		}
		runsIt()
		c.eventually("it has ended", idle)
		noted := c.noted(0)
		victim.freeze(t)
		if itsSessionLives {
			join()
		}
		c.eventually("Java has the item", func(s *jobtree.State) bool { return s.Owner(0) == there })
		p.WaitEvents(c.job, began(0, begins(p.Events(c.job))[0]))
		victim.thaw(t)
		thawed := time.Now()

		theirs := func() (fires []time.Time) {
			for _, e := range p.Events(c.job) {
				if e.Kind == javapeer.EventBegin && e.Item == 0 {
					fires = append(fires, e.Time().Truncate(period))
				}
			}
			return fires
		}
		for {
			item, fire := victim.ran(t)
			if item == 0 {
				require.False(t, slices.ContainsFunc(theirs(), fire.Equal), "it runs item 0 for %s, as Java has", fire)
			}
			if fire.After(thawed) { // it takes part again, and has settled what was before
				break
			}
		}
		for _, fire := range noted() {
			require.False(t, slices.ContainsFunc(theirs(), fire.Equal), "it notes that item 0 has missed %s, and Java has run it", fire)
		}
	}
}

// noted follows for which fires it is noted from now on that an item has missed them.
func (c *cluster) noted(item int) func() []time.Time {
	c.t.Helper()
	view, err := c.registry.View(c.t.Context(), c.tree.ItemMisfire(item))
	require.NoError(c.t, err)
	c.t.Cleanup(view.Close)
	var mu sync.Mutex
	var fires []time.Time
	view.Subscribe(func(step registry.Step) {
		mu.Lock()
		defer mu.Unlock()
		for _, change := range step.Changes {
			note, _ := jobtree.DecodeMisfire(change.New) // Java's name none
			fires = append(fires, note.Fires...)
		}
	})
	return func() []time.Time {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(fires)
	}
}
