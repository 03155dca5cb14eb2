package scheduler_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// solo is what has begun since somebody looked.
type solo struct {
	mu      sync.Mutex
	running map[int]bool
	seen    []string // task ids
}

// alone is code that fails a test if an item runs twice at once, in whichever processes.
func (b *solo) alone(t *testing.T, long time.Duration) job.HandlerFunc {
	b.running = make(map[int]bool)
	return func(ctx context.Context, sc job.ShardingContext) error {
		b.mu.Lock()
		assert.False(t, b.running[sc.Item], "item %d begins at %s and runs already", sc.Item, time.Since(bubbleStart))
		b.running[sc.Item] = true
		b.seen = append(b.seen, sc.TaskID)
		b.mu.Unlock()
		select {
		case <-time.After(long):
		case <-ctx.Done():
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.running[sc.Item] = false
		return nil
	}
}

func (b *solo) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := b.seen
	b.seen = nil
	return seen
}

// Somebody deletes all of a job while it runs, and it is stored again while its items still run, by a process that
// declares it or by hand: no item runs twice at once, what ran comes to its end, and the job goes on.
func TestNoItemRunsTwiceAfterTheWholeTreeWasDeleted(t *testing.T) {
	t.Parallel()
	for _, data := range []bool{false, true} {
		for _, after := range []time.Duration{0, time.Millisecond, 3 * time.Second, 26 * time.Second} {
			t.Run(fmt.Sprintf("data=%t/stored again after %s", data, after), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := jobOf(4)
					var begun solo
					work := begun.alone(t, 33*time.Second)
					if data {
						cfg.Class = "Data"
						c.store(cfg)
						c.serveJobs("a", work, "Data")
						c.serveJobs("b", work, "Data")
					} else {
						c.start("a", work, cfg)
						c.start("b", work, cfg)
					}
					sleepUntil(7 * time.Second)
					require.Len(t, begun.take(), 4)
					c.removeJob("orders")
					if after > 0 {
						time.Sleep(after)
					}
					if data {
						c.store(cfg)
						c.serveJobs("c", work, "Data")
					} else {
						c.start("c", work, cfg)
					}
					sleepUntil(37 * time.Second)
					require.Empty(t, begun.take(), "nothing begins while the former executions run")
					sleepUntil(62 * time.Second)
					again := begun.take()
					require.Len(t, again, 4, "the job goes on")
					slices.Sort(again)
					if !data { // whose first processes come back when what they ran has ended
						require.Greater(t, len(slices.Compact(again)), 1, "and is shared again")
					}
				})
			})
		}
	}
}

// Nothing is left of a job that was deleted by hand, when what ran of it has ended.
func TestNothingIsLeftOfADeletedTree(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", took(13*time.Second), jobOf(2))
		sleepUntil(7 * time.Second)
		c.removeJob("orders")
		synctest.Wait()
		require.Equal(t, []string{"/orders/sharding/0/running", "/orders/sharding/1/running"}, c.nodes("/orders"))
		sleepUntil(20 * time.Second)
		require.Empty(t, c.nodes("/orders"))
	})
}

// A process that stops meanwhile waits for what it runs, as ever, and leaves nothing behind.
func TestAStopAfterTheTreeWasDeleted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", took(13*time.Second), jobOf(2))
		sleepUntil(7 * time.Second)
		a.cancel()
		c.removeJob("orders")
		synctest.Wait()
		require.Len(t, c.nodes("/orders"), 2)
		require.NoError(t, a.ended())
		require.Equal(t, 18*time.Second, time.Since(bubbleStart))
		require.Empty(t, c.nodes("/orders"))
	})
}

// Who looks at a process can tell a job that was deleted by hand from one that an operator removed, which disables it
// first. But a process whose watch was interrupted sees both steps of a removal as one, so it says what it has seen, and calls
// nobody's doing by a name.
func TestADeletionByHandIsToldFromARemoval(t *testing.T) {
	t.Parallel()
	for _, disabled := range []bool{false, true} {
		t.Run(fmt.Sprintf("disabled=%t", disabled), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var log bytes.Buffer
				logger := slog.New(slog.NewTextHandler(&log, nil))
				i := c.startWith("a", nil, []scheduler.Option{scheduler.WithLogger(logger)}, jobOf(1))
				sleepUntil(6 * time.Second)
				if disabled {
					cfg := jobOf(1)
					cfg.Disabled = true
					c.change(cfg)
					synctest.Wait()
				}
				c.removeJob("orders")
				synctest.Wait()
				report := i.Health(t.Context())
				const unseen, removed = "job is gone from the registry and was not seen disabled first, it pauses", "job was removed from the registry, it pauses"
				if disabled {
					require.Contains(t, log.String(), removed)
					require.Equal(t, "the job is not in the registry", report.Jobs[0].Config)
					return
				}
				require.Contains(t, log.String(), unseen)
				require.NotContains(t, log.String(), "deleted")
				require.NotContains(t, log.String(), removed)
				require.Contains(t, report.Jobs[0].Config, "not seen disabled first")
			})
		})
	}
}

// The removal of a job that is data is what an operator wants of it, and no warning.
func TestTheRemovalOfAJobThatIsDataIsNoWarning(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log bytes.Buffer
		cfg := ofClass("orders", "index", 1)
		c.store(cfg)
		c.launchWith("a", nil, append(handlers(c, "a", nil, "index"), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))), nil)
		sleepUntil(6 * time.Second)
		cfg.Disabled = true
		c.store(cfg)
		synctest.Wait()
		c.removeJob("orders")
		sleepUntil(9 * time.Second)
		require.Contains(t, log.String(), `level=INFO msg="job was removed from the registry"`)
		require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), "that it is disabled")
	})
}

// A job that was removed from the registry pauses, and goes on when it is declared anew.
func TestAJobIsRemovedAndComesBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", took(time.Second), jobOf(1))
		sleepUntil(5500 * time.Millisecond)
		j := ordersOf(t, a)
		request, err := j.Trigger(t.Context())
		require.NoError(t, err)
		reg := c.server.Open("test")
		_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.DeleteTree("/orders")}})
		require.NoError(t, err)
		require.NoError(t, reg.Close(context.Background()))
		sleepUntil(8 * time.Second)
		c.take() // what ran then
		sleepUntil(21 * time.Second)
		require.Empty(t, c.take())
		_, err = request.Wait(t.Context())
		require.ErrorIs(t, err, scheduler.ErrNotStored)
		_, _, err = j.Config()
		require.ErrorIs(t, err, scheduler.ErrNotStored)
		_, err = j.Trigger(t.Context())
		require.ErrorIs(t, err, scheduler.ErrNotStored)
		require.ErrorIs(t, j.Update(t.Context(), func(*job.Config) error { return nil }), scheduler.ErrNotStored)
		c.change(jobOf(1))
		sleepUntil(31 * time.Second)
		require.Len(t, c.take(), 2)
	})
}

// Who declares a job only to follow it does not bring it back.
func TestAJobThatIsNotToBeCreated(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.launch("a", nil)
		began := time.Now()
		j, err := a.Add(t.Context(), jobOf(1), c.record("a", nil), scheduler.WithoutCreating())
		require.NoError(t, err)
		require.Zero(t, time.Since(began), "nobody knows when it is stored")
		sleepUntil(21 * time.Second)
		require.NotContains(t, stored(t, c.server), "/orders/config")
		require.Empty(t, c.take())
		require.ErrorContains(t, errOf(j.Trigger(t.Context())), "the job is not in the registry")
		c.change(jobOf(1))
		sleepUntil(31 * time.Second)
		require.Len(t, c.take(), 2)
		require.NoError(t, j.Leave(t.Context()))
		require.NoError(t, errOf(a.Add(t.Context(), jobOf(1), c.record("a", nil), scheduler.WithoutCreating())), "it is there")
		sleepUntil(41 * time.Second)
		require.Len(t, c.take(), 2)
	})
}

// A job that is not there, and is not to be created, keeps nobody waiting: neither who waits until all has begun, nor a stop.
func TestNobodyWaitsForAJobThatIsNotToBeCreated(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"declared before Run": true, "declared later": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var declared []scheduler.JobOption
				var configs []job.Config
				if before {
					declared, configs = append(declared, scheduler.WithoutCreating()), append(configs, jobOf(1))
				}
				a := c.launchWith("a", nil, nil, declared, configs...)
				<-a.Ready()
				if !before {
					require.NoError(t, errOf(a.Add(context.Background(), jobOf(1), c.record("a", nil), scheduler.WithoutCreating())))
				}
				sleepUntil(time.Second)
				began := time.Now()
				a.stop(t)
				require.Less(t, time.Since(began), time.Second)
			})
		})
	}
}

// If somebody stores such a job before Run begins, Ready waits until it has joined, like any other.
func TestAJobThatWasNotCreatedIsStoredBeforeRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test", memory.WithLatency(100*time.Millisecond))
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("a", nil), scheduler.WithoutCreating())))
		c.change(jobOf(1))
		a := c.run(s, reg)
		<-a.Ready()
		require.Contains(t, stored(t, c.server), ofOrders.Instance(fullID("a")))
	})
}
