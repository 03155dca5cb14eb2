package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// guarded is a registry that denies transactions, as one does of which somebody has taken a permission away: that to read what
// they compare, or to write.
type guarded struct {
	*memory.Registry
	mu     sync.Mutex
	denies func(registry.Txn) bool // nil = nothing
	tries  map[string]int          // of what was denied, by the path that is written first
	times  []time.Time             // when
}

func (g *guarded) deny(what func(registry.Txn) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.denies, g.tries, g.times = what, make(map[string]int), nil
}

func (g *guarded) denied(txn registry.Txn) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.denies == nil || !g.denies(txn) {
		return nil
	}
	g.tries[txn.Then[0].Path]++
	g.times = append(g.times, time.Now())
	return &registry.OpError{Op: registry.OpCommit, Path: txn.Then[0].Path, Err: registry.ErrDenied}
}

func (g *guarded) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if err := g.denied(txn); err != nil {
		return 0, err
	}
	return g.Registry.Commit(ctx, txn)
}

func (g *guarded) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := make([]registry.Outcome, len(txns))
	var asked []registry.Txn
	var at []int
	for i, txn := range txns {
		if outcomes[i].Err = g.denied(txn); outcomes[i].Err == nil {
			asked, at = append(asked, txn), append(at, i)
		}
	}
	for i, o := range g.Registry.CommitAll(ctx, asked) {
		outcomes[at[i]] = o
	}
	return outcomes
}

// triesBetween is how many transactions were denied between two times of the bubble.
func (g *guarded) triesBetween(from, to time.Duration) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, at := range g.times {
		if d := at.Sub(bubbleStart); d >= from && d < to {
			n++
		}
	}
	return n
}

// tried is how often what writes a path first was denied.
func (g *guarded) tried(path string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tries[path]
}

// serveGuarded runs an instance over a registry that denies nothing yet.
func (c *cluster) serveGuarded(t *testing.T, cfg job.Config) *guarded {
	t.Helper()
	g := &guarded{Registry: c.server.Open("test")}
	s, err := scheduler.New(g, scheduler.WithInstanceID(fullID("a")))
	require.NoError(t, err)
	require.NoError(t, errOf(s.Add(t.Context(), cfg, c.record("a", nil))))
	c.run(s, g.Registry)
	<-s.Ready()
	return g
}

// compares tells whether a begin compares a job's configuration.
func compares(txn registry.Txn) bool {
	return slices.ContainsFunc(txn.If, func(c registry.Condition) bool { return c.Path == "/orders/config" }) && isBegin(txn)
}

func isBegin(txn registry.Txn) bool {
	name, ok := jobtree.Parse(txn.Then[0].Path)
	return ok && name.Kind == jobtree.KindItemRunning && txn.Then[0].Kind != registry.WriteDelete
}

// endsItem tells whether a transaction records the end of an execution.
func endsItem(txn registry.Txn) bool { return slices.ContainsFunc(txn.Then, isEnd) }

// What every begin compares is denied: nobody is told when that is over, so it is tried, but with so many items not each of
// them each second for ever. Once one is let through, so are all.
func TestWhatIsDeniedIsNotAskedForAgainAndAgain(t *testing.T) {
	t.Parallel()
	for _, items := range []int{1, 600} {
		for what, denies := range map[string]func(registry.Txn) bool{"begins": compares, "ends": endsItem} {
			t.Run(fmt.Sprintf("%s/items=%d", what, items), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					g := c.serveGuarded(t, jobOf(items))
					sleepUntil(12 * time.Second)
					require.NotEmpty(t, c.take())
					g.deny(denies)
					sleepUntil(4 * time.Minute)
					c.take()
					require.LessOrEqual(t, g.triesBetween(0, 30*time.Second), items+6*4, "each item once, and then a few")
					require.LessOrEqual(t, g.triesBetween(2*time.Minute, 4*time.Minute), 8*4, "the longer it lasts, the more seldom")
					require.NotZero(t, g.triesBetween(3*time.Minute, 4*time.Minute))
					g.deny(nil)
					sleepUntil(4*time.Minute + 36*time.Second)
					c.take()
					sleepUntil(4*time.Minute + 41*time.Second)
					require.Len(t, c.take(), items, "all items run again")
				})
			})
		}
	}
}

// An item that is denied keeps no other one from running, and others' runs do not have it tried more often.
func TestADeniedItemKeepsNoOtherFromRunning(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := c.serveGuarded(t, jobOf(3))
		sleepUntil(12 * time.Second)
		c.take()
		g.deny(func(txn registry.Txn) bool { return isBegin(txn) && txn.Then[0].Path == "/orders/sharding/1/running" })
		sleepUntil(132 * time.Second)
		require.Len(t, c.take(), 2*24)
		require.LessOrEqual(t, g.tried("/orders/sharding/1/running"), 10)
		g.deny(nil)
		sleepUntil(168 * time.Second)
		c.take()
		sleepUntil(173 * time.Second)
		require.Len(t, c.take(), 3)
	})
}

// A change of the configuration tells that something may be otherwise now.
func TestAChangedConfigurationHasWhatWasDeniedTried(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := c.serveGuarded(t, jobOf(2))
		sleepUntil(12 * time.Second)
		g.deny(compares)
		sleepUntil(2*time.Minute + time.Second)
		c.take()
		g.deny(nil)
		cfg := jobOf(2)
		cfg.JobParameter = "new"
		c.change(cfg)
		sleepUntil(2*time.Minute + 6*time.Second)
		require.NotEmpty(t, c.take())
	})
}

// elects tells whether a transaction makes an instance the leader.
func elects(txn registry.Txn) bool {
	return slices.ContainsFunc(txn.Then, func(w registry.Write) bool {
		return w.Path == "/orders/leader/election/instance" && w.Kind == registry.WritePutOwned
	})
}

// dismissLeader leaves the job without a leader.
func (c *cluster) dismissLeader(t *testing.T) {
	t.Helper()
	other := c.server.Open("test")
	require.NoError(t, errOf(other.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/orders/leader/election/instance")}})))
	require.NoError(t, other.Close(t.Context()))
}

// An election that is denied is tried more and more seldom.
func TestADeniedElectionIsTriedMoreAndMoreSeldom(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := c.serveGuarded(t, jobOf(2))
		sleepUntil(12 * time.Second)
		g.deny(elects)
		c.dismissLeader(t)
		sleepUntil(4 * time.Minute)
		require.NotZero(t, g.triesBetween(0, time.Minute))
		require.LessOrEqual(t, g.triesBetween(0, time.Minute), 8)
		require.LessOrEqual(t, g.triesBetween(2*time.Minute, 4*time.Minute), 8)
		g.deny(nil)
		sleepUntil(4*time.Minute + 36*time.Second)
		require.Equal(t, fullID("a"), c.stateOf("orders").Leader.Instance)
	})
}

// Nor does an election wait that was denied, when the configuration changes.
func TestAChangedConfigurationHasADeniedElectionTried(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := c.serveGuarded(t, jobOf(2))
		c.untilElectionRests(t, g)
		g.deny(nil)
		cfg := jobOf(2)
		cfg.JobParameter = "new"
		c.change(cfg)
		time.Sleep(2 * time.Second)
		require.Equal(t, fullID("a"), c.stateOf("orders").Leader.Instance)
	})
}

// untilElectionRests denies all elections and waits until the pauses between them are long and one has just begun.
func (c *cluster) untilElectionRests(t *testing.T, g *guarded) {
	t.Helper()
	sleepUntil(12 * time.Second)
	g.deny(elects)
	c.dismissLeader(t)
	sleepUntil(4 * time.Minute)
	for g.triesBetween(0, time.Hour) == g.triesBetween(0, time.Since(bubbleStart)-500*time.Millisecond) {
		time.Sleep(100 * time.Millisecond)
	}
}

// Nobody who leaves waits for the next election.
func TestNoLeaveWaitsForADeniedElection(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, i *instance, j *scheduler.Job){
		"a stop": func(t *testing.T, i *instance, _ *scheduler.Job) { t.Helper(); i.stop(t) },
		"a leave": func(t *testing.T, _ *instance, j *scheduler.Job) {
			t.Helper()
			require.NoError(t, j.Leave(t.Context()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				g := &guarded{Registry: c.server.Open("test")}
				s, err := scheduler.New(g, scheduler.WithInstanceID(fullID("a")))
				require.NoError(t, err)
				j, err := s.Add(t.Context(), jobOf(2), c.record("a", nil))
				require.NoError(t, err)
				i := c.run(s, g.Registry)
				<-s.Ready()
				c.untilElectionRests(t, g)
				began := time.Now()
				leave(t, i, j)
				require.Less(t, time.Since(began), time.Second)
				require.Empty(t, c.members())
			})
		})
	}
}

// Another one that was elected shows that elections are not denied any more.
func TestADeniedElectionDoesNotRestWhenTheLeaderChanges(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := c.serveGuarded(t, jobOf(2))
		c.untilElectionRests(t, g)
		g.deny(nil)
		b := c.start("b", nil, jobOf(2))
		time.Sleep(time.Second)
		require.Equal(t, fullID("b"), c.stateOf("orders").Leader.Instance)
		b.stop(t)
		time.Sleep(time.Second)
		require.Equal(t, fullID("a"), c.stateOf("orders").Leader.Instance)
		require.Equal(t, map[string]int{fullID("a"): 2}, c.owners())
	})
}

// A denial that is long over is not told of when the next begins come, which nobody denies.
func TestADenialThatIsOverIsNotToldOf(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		g := &guarded{Registry: c.server.Open("test")}
		s, err := scheduler.New(g, scheduler.WithInstanceID(fullID("a")), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		cfg := jobOf(20)
		cfg.Cron, cfg.Misfire = "0 * * * * ?", job.MisfireSkip
		require.NoError(t, errOf(s.Add(t.Context(), cfg, c.record("a", nil))))
		c.run(s, g.Registry)
		<-s.Ready()
		sleepUntil(59 * time.Second)
		g.deny(isBegin)
		sleepUntil(66 * time.Second) // the fire is over by now: it is skipped
		g.deny(nil)
		sleepUntil(119 * time.Second) // by now it is told how often that was
		told := log.count("level=WARN")
		require.NotZero(t, told)
		c.take()
		sleepUntil(179 * time.Second)
		require.Len(t, c.take(), 20)
		require.Equal(t, told, log.count("level=WARN"))
	})
}
