package scheduler_test

import (
	"context"
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

// serveOver runs an instance with a handler of class "index" over a registry of the test's making, until
// it is told to stop. It returns what Run did.
func (c *cluster) serveOver(reg registry.Registry, code job.HandlerFunc) (s *scheduler.Scheduler, stop func() error) {
	c.t.Helper()
	s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithHandler("index", code))
	require.NoError(c.t, err)
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return s, func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(time.Hour):
			require.Fail(c.t, "Run hangs")
			return nil
		}
	}
}

// A job is being left when the process is stopped, and code of another one does not listen: Run
// returns, and names what it gave up.
func TestAStopWhileAJobIsLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.store(ofClass("bills", "index", 1))
		reg := c.server.Open("test")
		bills := took(10 * time.Second)
		s, stop := c.serveOver(reg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.JobName == "bills" {
				return bills(ctx, sc)
			}
			time.Sleep(3 * time.Minute)
			return nil
		})
		deaf := job.HandlerFunc(func(context.Context, job.ShardingContext) error { time.Sleep(3 * time.Minute); return nil })
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), deaf)))
		sleepUntil(6 * time.Second)
		c.store(ofClass("bills", "other", 1))
		sleepUntil(8 * time.Second)
		require.ErrorContains(t, stop(), `job "orders": items [0] did not return`)
		time.Sleep(10 * time.Minute)
		require.NoError(t, reg.Close(context.Background()))
	})
}

// answersLate is a registry whose answers come after what they tell of.
type answersLate struct{ registry.Registry }

func (s answersLate) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := s.Registry.Commit(ctx, txn)
	time.Sleep(time.Millisecond)
	return revision, err
}

// A job that is declared while there is a handler for its class is the declaration's.
func TestADeclarationGoesBeforeAHandler(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		s, stop := c.serveOver(answersLate{reg}, c.record("handler", nil))
		<-s.Ready()
		require.NoError(t, errOf(s.Add(t.Context(), ofClass("orders", "index", 1), c.record("declared", nil))))
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on declared"}, c.shown())
		require.NoError(t, stop())
		require.NoError(t, reg.Close(context.Background()))
	})
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

// A claim among Java peers comes back when its item had nothing else to be remembered for.
func TestAClaimOfABlankItem(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(1)
		cfg.Cron = "0 0/5 * * * ?"
		cfg.Failover = true
		b := c.startShared("b", took(time.Hour), cfg)
		c.startShared("a", took(time.Minute), cfg)
		sleepUntil(5*time.Minute + time.Second)
		b.crash(t)
		c.take()
		sleepUntil(8 * time.Minute)
		require.Equal(t, []string{"item 0 fire 5m0s failover on a"}, c.shown()[:1])
	})
}

// A job with a fixed delay goes on when the clock that it did not run by is right again.
func TestAFixedDelayAfterAClockThatWasRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := delayed(1)
		cfg.MaxTimeDiff, cfg.ClockPolicy, cfg.ReconcileInterval = 5*time.Second, job.ClockRefuse, -1
		set := c.skewed(cfg)
		sleepUntil(90 * time.Second)
		require.Len(t, c.take(), 2)
		set(10 * time.Second)
		sleepUntil(10 * time.Minute)
		c.take()
		set(0)
		sleepUntil(15 * time.Minute)
		require.GreaterOrEqual(t, len(c.take()), 3)
	})
}

// An end that a clock recorded which is far ahead does not keep a job with a fixed delay waiting for it.
func TestAFixedDelayAfterABrokenClock(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		set := c.skewed(delayed(1))
		sleepUntil(30 * time.Second)
		set(20 * time.Minute)
		sleepUntil(61 * time.Second)
		set(0)
		c.take()
		sleepUntil(10 * time.Minute)
		require.GreaterOrEqual(t, len(c.take()), 7)
	})
}
