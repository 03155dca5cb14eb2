package scheduler_test

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"sync/atomic"
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

// A scheduler stops while the registry does not answer, and its handle stays open. Nobody else can take back
// what it holds under the session, so it goes with that.
func TestNothingRemainsOfAStopWithoutARegistry(t *testing.T) {
	t.Parallel()
	const long = 10 * time.Minute
	ghosts := func(c *cluster) []string {
		return append(c.nodes("/orders/instances"), append(c.nodes("/orders/leader/election/instance"), c.nodes("/orders/sharding/0/running")...)...)
	}
	for name, work := range map[string]job.HandlerFunc{"idle": nil, "running": took(8 * time.Second)} {
		t.Run("lost session, "+name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.start("a", work, jobOf(1))
				sleepUntil(6 * time.Second)
				c.server.Stop()
				sleepUntil(20 * time.Second)
				a.cancel()
				require.NoError(t, a.ended())
				c.server.Start() // it gives every session its full time again
				require.NotEmpty(t, ghosts(c))
				time.Sleep(time.Minute)
				require.Empty(t, ghosts(c))
			})
		})
		t.Run("long session, "+name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.launchOver(c.server.Open("test", memory.WithTTL(long)), "a", work, jobOf(1))
				<-a.Ready()
				sleepUntil(6 * time.Second)
				a.registry.Cut()
				a.cancel()
				require.NoError(t, a.ended())
				a.registry.Heal()
				require.NotEmpty(t, ghosts(c))
				time.Sleep(long + time.Minute)
				require.Empty(t, ghosts(c))
			})
		})
	}
	t.Run("join", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, c *cluster) {
			c.change(jobOf(1))
			reg := c.server.Open("test", memory.WithTTL(long))
			reg.HoldBack(math.MaxInt, 30*time.Second)
			a := c.launchOver(reg, "a", nil, jobOf(1))
			sleepUntil(time.Second)
			a.cancel()
			require.NoError(t, a.ended())
			require.Empty(t, ghosts(c))
			sleepUntil(32 * time.Second)
			require.NotEmpty(t, ghosts(c), "the join was carried out late")
			time.Sleep(long + time.Minute)
			require.Empty(t, ghosts(c))
		})
	})
}

// A stop that could say all leaves the session to whoever else uses the handle, though code did not return.
func TestAStopKeepsTheSession(t *testing.T) {
	t.Parallel()
	deaf := func(context.Context, job.ShardingContext) error { time.Sleep(time.Hour); return nil }
	for name, work := range map[string]job.HandlerFunc{"idle": nil, "running": took(8 * time.Second), "deaf": deaf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.start("a", work, jobOf(3))
				session, err := a.registry.Session(t.Context())
				require.NoError(t, err)
				sleepUntil(6 * time.Second)
				a.cancel()
				require.Equal(t, name == "deaf", a.ended() != nil)
				require.NoError(t, session.Err())
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// cutsAtLeave is a registry that is cut off when instance a asks it to take part no more, twice.
type cutsAtLeave struct {
	registry.Registry
	reg  *memory.Registry
	cuts atomic.Int32
}

func (c *cutsAtLeave) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if slices.ContainsFunc(txn.Then, func(w registry.Write) bool {
		return w.Kind == registry.WriteDelete && w.Path == jobtree.For("orders").Instance(fullID("a"))
	}) && c.cuts.Add(1) <= 2 {
		c.reg.Cut()
	}
	return c.Registry.Commit(ctx, txn)
}

// The session is lost while a job is being left, and its lease is taken up again with the nodes: no
// instance stays behind that nobody runs.
func TestALostSessionWhileAJobIsLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.store(ofClass("orders", "index", 2))
		reg := c.server.Open("test")
		_, stop := c.serveOver(&cutsAtLeave{Registry: reg, reg: reg}, c.record("a", nil))
		c.serveJobs("b", nil, "send")
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{fullID("a")}, c.members())
		c.store(ofClass("orders", "send", 2))
		synctest.Wait()
		session, err := reg.Session(t.Context())
		require.NoError(t, err)
		<-session.Done()
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		reg.Heal()
		sleepUntil(time.Minute)
		reg.Heal() // the second try was cut off, too
		sleepUntil(3 * time.Minute)
		require.Equal(t, map[string]int{fullID("b"): 2}, c.owners())
		require.NoError(t, stop())
		require.NoError(t, reg.Close(context.Background()))
	})
}

// The session is lost under begins, whose outcome nobody will know, and taken up again. Who leaves its job has settled that: no
// begin of an instance is carried out that is not there any more. So it does not take the session from another scheduler.
func TestAStopAfterBeginsOfUnknownOutcomeKeepsTheSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		reg := c.server.Open("test")
		stayed := c.serve("a", reg, nil)
		stop := c.serve("b", reg, nil, scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		sleepUntil(8 * time.Second)
		before, err := reg.Session(t.Context())
		require.NoError(t, err)
		reg.HoldBack(math.MaxInt, 40*time.Second)
		sleepUntil(11 * time.Second)
		c.server.Stop()
		sleepUntil(40 * time.Second)
		require.Error(t, before.Err())
		reg.Calm()
		c.server.Start()
		sleepUntil(2 * time.Minute)
		session, err := reg.Session(t.Context())
		require.NoError(t, err)
		require.Equal(t, before.ID(), session.ID())
		stop()
		require.NoError(t, session.Err())
		require.Empty(t, log.line("gave the session up"))
		stayed()
		require.NoError(t, reg.Close(context.Background()))
	})
}

// A join of unknown outcome may be carried out for a while after the session was taken up again, and nothing tells that it
// cannot: then a stop gives the session up. After that while it does not.
func TestAStopAfterAJoinOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stop  time.Duration
		keeps bool
	}{
		"soon": {time.Minute, false},
		"late": {12 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.change(jobOf(2))
				reg := c.server.Open("test")
				before, err := reg.Session(t.Context())
				require.NoError(t, err)
				reg.HoldBack(math.MaxInt, 40*time.Second)
				stop := c.serve("a", reg, nil)
				sleepUntil(time.Second)
				c.server.Stop()
				sleepUntil(20 * time.Second)
				require.Error(t, before.Err())
				reg.Calm()
				c.server.Start()
				sleepUntil(test.stop)
				session, err := reg.Session(t.Context())
				require.NoError(t, err)
				require.Equal(t, before.ID(), session.ID())
				require.Equal(t, []string{fullID("a")}, c.members())
				stop()
				require.Equal(t, test.keeps, session.Err() == nil)
				require.NoError(t, reg.Close(context.Background()))
			})
		})
	}
}

// refusesEnds is a registry that finds the ends of item 0 too large.
type refusesEnds struct {
	registry.Registry
	refuses atomic.Bool
}

func (r *refusesEnds) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := make([]registry.Outcome, len(txns))
	for i, txn := range txns {
		if r.refuses.Load() && slices.Contains(txn.Then, registry.Delete(ofOrders.ItemRunning(0))) {
			outcomes[i].Err = registry.ErrTooLarge
			continue
		}
		outcomes[i] = r.Registry.CommitAll(ctx, []registry.Txn{txn})[0]
	}
	return outcomes
}

// The registry refuses the end of an execution for good, so its mark stays, and a stop gives the session up; but not if the mark
// was taken away since.
func TestAStopAfterAnEndThatWasRefused(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"the mark is gone": true, "the mark stays": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				under := c.server.Open("test")
				reg := &refusesEnds{Registry: under}
				stop := c.serve("a", reg, took(2*time.Second))
				sleepUntil(6 * time.Second)
				session, err := reg.Session(t.Context())
				require.NoError(t, err)
				reg.refuses.Store(true)
				sleepUntil(8 * time.Second)
				require.NotEmpty(t, c.nodes("/orders/sharding/0/running"))
				if taken {
					reg.refuses.Store(false)
					sleepUntil(10 * time.Minute)
				}
				stop()
				require.Equal(t, taken, session.Err() == nil)
				require.NoError(t, reg.Close(context.Background()))
			})
		})
	}
}
