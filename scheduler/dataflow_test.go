package scheduler_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// flowOf returns a configuration of a dataflow "orders" that fires every five minutes.
func flowOf(streaming bool) job.Config {
	cfg := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1}
	cfg.Type, cfg.StreamingProcess = job.TypeDataflow, streaming
	return cfg
}

// counter is a dataflow that counts up from its checkpoint to an end, one number a batch.
type counter struct {
	end   int
	pause time.Duration // a batch takes
	keeps bool          // sets the checkpoint

	mu        sync.Mutex
	processed []int
}

func (n *counter) done() []int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.processed)
}

func (n *counter) flow() job.Dataflow[int] {
	next := 0
	return job.Dataflow[int]{
		Fetch: func(_ context.Context, sc job.ShardingContext) ([]int, error) {
			if n.keeps {
				next, _ = strconv.Atoi(sc.Offset)
			}
			if next++; next > n.end {
				return nil, nil
			}
			return []int{next}, nil
		},
		Process: func(ctx context.Context, _ job.ShardingContext, batch []int) error {
			time.Sleep(n.pause)
			n.mu.Lock()
			n.processed = append(n.processed, batch...)
			n.mu.Unlock()
			if !n.keeps {
				return nil
			}
			return job.SetOffset(ctx, strconv.Itoa(batch[0]))
		},
	}
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

func TestADataflowWithoutStreamFetchesOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		n := counter{end: 10, keeps: true}
		c.startCode("a", n.flow(), flowOf(false))
		sleepUntil(6 * time.Minute)
		require.Equal(t, upTo(1), n.done())
		sleepUntil(11 * time.Minute)
		require.Equal(t, upTo(2), n.done(), "the next run goes on from the checkpoint")
		require.Equal(t, "2", c.state().Item(0).Offset)
	})
}

// A stream costs what any round costs, and one request for each checkpoint between batches.
func TestCostOfAStream(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flow     *counter
		stream   bool
		requests int
	}{
		"a stream without checkpoints":   {&counter{end: 5}, true, 2},
		"a stream with checkpoints":      {&counter{end: 5, keeps: true}, true, 2 + 5},
		"a checkpoint at the end":        {&counter{end: 5, keeps: true}, false, 2},
		"nothing to be done, no request": {&counter{}, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				i := c.startCode("a", test.flow.flow(), flowOf(test.stream))
				sleepUntil(4 * time.Minute)
				before := i.registry.Stats()
				sleepUntil(6 * time.Minute)
				after := i.registry.Stats()
				require.Equal(t, test.requests, after.CommitRequests-before.CommitRequests, "commit requests")
				require.Zero(t, after.ReadRequests-before.ReadRequests, "read requests")
				if test.stream {
					require.Equal(t, upTo(test.flow.end), test.flow.done())
				}
			})
		})
	}
}

// A stream ends between two batches when its item has to go elsewhere or should not go on. That is a success only if it was
// switched off. The next one goes on from its checkpoint.
func TestAStreamMakesRoom(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(t *testing.T, c *cluster, a *instance){
		"the item moves": func(_ *testing.T, c *cluster, _ *instance) {
			c.startCode("b", (&counter{}).flow(), flowOf(true)) // 10.0.0.1@-@b goes before @-@a
		},
		"the stream is switched off": func(_ *testing.T, c *cluster, _ *instance) { c.change(flowOf(false)) },
		"the item is disabled": func(t *testing.T, c *cluster, _ *instance) {
			put(t, c.server, "/orders/sharding/0/disabled", "")
		},
		"the job is disabled": func(_ *testing.T, c *cluster, _ *instance) {
			cfg := flowOf(true)
			cfg.Disabled = true
			c.change(cfg)
		},
		"the only server is disabled": func(t *testing.T, c *cluster, _ *instance) {
			put(t, c.server, orders.Server("10.0.0.1"), "DISABLED")
		},
		"the instance stops, and cannot follow the job": func(_ *testing.T, _ *cluster, a *instance) {
			a.registry.Deny("/orders", false)
			time.Sleep(100 * time.Millisecond)
			a.cancel()
		},
		"the instance stops": func(_ *testing.T, _ *cluster, a *instance) { a.cancel() },
		"the job is removed": func(t *testing.T, c *cluster, _ *instance) { remove(t, c.server, "/orders/config") },
		"the code is told to stop": func(_ *testing.T, _ *cluster, a *instance) {
			a.StopNow()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				n := counter{end: 1_000_000, pause: 300 * time.Millisecond, keeps: true}
				a := c.startCode("a", n.flow(), flowOf(true))
				sleepUntil(6*time.Minute + 100*time.Millisecond)
				require.Equal(t, upTo(200), n.done())
				event(t, c, a)
				sleepUntil(6*time.Minute + 10*time.Second)
				require.Equal(t, upTo(201), n.done(), "the batch under way is the last")
				require.Equal(t, "201", c.state().Item(0).Offset)
				switch name {
				case "the job is removed":
				case "the stream is switched off":
					require.Equal(t, jobtree.Success, c.executed(0).Outcome)
				default:
					require.Equal(t, jobtree.Interrupted, c.executed(0).Outcome, "more may be left")
				}
			})
		})
	}
}

// An instance that cannot follow its job for so long that it hands it over lets the stream go, too.
func TestAStreamMakesRoomWithoutAView(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := flowOf(true)
		cfg.ShardingTotalCount = 2
		var ours, others counter
		for id, n := range map[string]*counter{"a": &ours, "b": &others} {
			*n = counter{end: 1_000_000, pause: 300 * time.Millisecond}
			i := c.startCode(id, n.flow(), cfg)
			if id == "a" {
				defer i.registry.Allow()
				time.AfterFunc(6*time.Minute+100*time.Millisecond, func() { i.registry.Deny("/orders", false) })
				time.AfterFunc(8*time.Minute, i.registry.Allow)
			}
		}
		sleepUntil(7 * time.Minute)
		require.Equal(t, map[string]int{fullID("b"): 2}, c.owners())
		stopped := len(ours.done())
		require.NotZero(t, stopped)
		sleepUntil(9*time.Minute + 59*time.Second)
		require.Len(t, ours.done(), stopped)
		require.NotEmpty(t, others.done())
	})
}

// A leader that waits until nothing runs, as Java's does, gets what it waits for.
func TestAStreamMakesRoomForALeaderThatWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		other := c.server.Open("test")
		defer func() { require.NoError(t, other.Close(context.Background())) }()
		session, err := other.Session(t.Context())
		require.NoError(t, err)
		write := func(writes ...registry.Write) {
			_, err := other.Commit(t.Context(), registry.Txn{Then: writes})
			require.NoError(t, err)
		}
		write(registry.PutOwned("/orders/leader/election/instance", "10.0.0.9@-@1", session),
			registry.PutOwned("/orders/instances/10.0.0.9@-@1", "", session))
		n := counter{end: 1_000_000, pause: 300 * time.Millisecond}
		c.startCode("a", n.flow(), flowOf(true))
		write(registry.Put("/orders/sharding/0/instance", fullID("a")), registry.Delete("/orders/leader/sharding/necessary"))

		sleepUntil(6*time.Minute + 100*time.Millisecond)
		require.Equal(t, upTo(200), n.done())
		write(registry.Put("/orders/leader/sharding/necessary", ""))
		sleepUntil(6*time.Minute + 800*time.Millisecond)
		require.Equal(t, upTo(202), n.done(), "it goes on for a while")
		sleepUntil(6*time.Minute + 10*time.Second)
		require.Equal(t, upTo(204), n.done())
		require.Equal(t, jobtree.Interrupted, c.executed(0).Outcome)
	})
}

// What a stream saved is where its rerun goes on after a crash: at least once, from there.
func TestARerunGoesOnFromTheCheckpoint(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := flowOf(true)
		cfg.Failover = true
		first := counter{end: 1_000_000, pause: time.Second, keeps: true}
		a := c.startCode("a", first.flow(), cfg)
		sleepUntil(5*time.Minute + 10*time.Second + 500*time.Millisecond)
		second := counter{end: 13, keeps: true}
		var mu sync.Mutex
		var seen job.ShardingContext
		flow := second.flow()
		fetch := flow.Fetch
		flow.Fetch = func(ctx context.Context, sc job.ShardingContext) ([]int, error) {
			mu.Lock()
			defer mu.Unlock()
			if seen.JobName == "" {
				seen = sc
			}
			return fetch(ctx, sc)
		}
		a.Vanish()
		require.ErrorIs(t, a.ended(), scheduler.ErrVanished)
		require.NoError(t, a.registry.Close(context.Background()))
		c.startCode("b", flow, cfg)
		sleepUntil(7 * time.Minute)
		require.Equal(t, job.Failover, seen.Source)
		require.Equal(t, "10", seen.Offset)
		require.Equal(t, []int{11, 12, 13}, second.done())
	})
}

// A checkpoint is kept whatever the outcome is, and reaches the next attempt of the same execution.
func TestACheckpointOfAFailure(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1}
		cfg.Retries = 2
		var offsets []string
		c.start("a", func(ctx context.Context, sc job.ShardingContext) error {
			offsets = append(offsets, sc.Offset)
			require.Equal(t, sc.Offset, job.Offset(ctx))
			require.NoError(t, job.SetOffset(ctx, sc.Offset+"x"))
			return errSpoiled
		}, cfg)
		sleepUntil(6 * time.Minute)
		require.Equal(t, []string{"", "x", "xx"}, offsets)
		require.Equal(t, "xxx", c.state().Item(0).Offset)
		require.Equal(t, jobtree.Failure, c.executed(0).Outcome)
	})
}

func TestACheckpointIsRemoved(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		put(t, c.server, "/orders/offset/0", "17")
		var found string
		c.start("a", func(ctx context.Context, sc job.ShardingContext) error {
			found = sc.Offset
			return job.SetOffset(ctx, "")
		}, jobOf(1))
		sleepUntil(6 * time.Second)
		require.Equal(t, "17", found)
		require.NotContains(t, stored(t, c.server), "/orders/offset/0")
	})
}

// An execution that was taken away moves no checkpoint: neither now nor with its end.
func TestAFencedExecutionCannotSave(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var saved error
		c.start("a", func(ctx context.Context, _ job.ShardingContext) error {
			require.NoError(t, job.SaveOffset(ctx, "mine"))
			time.Sleep(2 * time.Second)
			saved = job.SaveOffset(context.WithoutCancel(ctx), "late")
			return nil
		}, job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1})
		sleepUntil(5*time.Minute + time.Second)
		require.Equal(t, "mine", c.state().Item(0).Offset)
		lost, err := c.state().Item(0).Record.Value.DeclareLost(1, time.Now(), 0)
		require.NoError(t, err)
		remove(t, c.server, "/orders/sharding/0/running")
		put(t, c.server, "/orders/sharding/0/record", jobtree.EncodeRecord(lost))
		sleepUntil(6 * time.Minute)
		require.ErrorIs(t, saved, job.ErrTakenAway)
		require.ErrorIs(t, saved, registry.ErrConflict)
		require.Equal(t, "mine", c.state().Item(0).Offset)
	})
}

// A save that got no answer is carried out later than another one, and comes to nothing, wherever the
// checkpoint began and whatever it was meanwhile.
func TestALateSaveDoesNotTakeACheckpointBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before string
		saves  []string // the first one times out
		want   string
	}{
		"the first checkpoint of all":    {"", []string{"1", "2"}, "2"},
		"one after another":              {"0", []string{"1", "2"}, "2"},
		"it is taken back":               {"0", []string{"1", ""}, ""},
		"the first of all is taken back": {"", []string{"1", ""}, ""},
		"there and back again":           {"0", []string{"1", "2", "", "3"}, "3"},
		"set as it was":                  {"0", []string{"1", "0"}, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				if test.before != "" {
					put(t, c.server, "/orders/offset/0", test.before)
				}
				var found []string
				var self atomic.Pointer[instance]
				self.Store(c.start("a", func(ctx context.Context, sc job.ShardingContext) error {
					found = append(found, sc.Offset)
					if len(found) > 1 {
						return nil
					}
					self.Load().registry.HoldBack(1, 3*time.Second)
					impatient, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
					defer cancel()
					require.ErrorIs(t, job.SaveOffset(impatient, test.saves[0]), registry.ErrUnknownOutcome)
					for _, offset := range test.saves[1:] {
						require.NoError(t, job.SaveOffset(ctx, offset))
						require.Equal(t, offset, c.state().Item(0).Offset) //nolint:contextcheck // it looks from outside
					}
					time.Sleep(10 * time.Second)
					require.Equal(t, test.want, c.state().Item(0).Offset, "a late copy was carried out") //nolint:contextcheck // it looks from outside
					return nil
				}, job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1}))
				sleepUntil(11 * time.Minute)
				require.Equal(t, []string{test.before, test.want}, found)
				require.Equal(t, test.want == "", stored(t, c.server)["/orders/offset/0"] == "")
			})
		})
	}
}

// After a save without an answer nothing counts as written: the end writes what the code set last, also
// if that is what the registry had before.
func TestTheEndWritesWhatASaveLeftOpen(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{time.Millisecond, time.Minute} { // before the end and after it
		inBubble(t, func(t *testing.T, c *cluster) {
			put(t, c.server, "/orders/offset/0", "0")
			var found []string
			var self atomic.Pointer[instance]
			self.Store(c.start("a", func(ctx context.Context, sc job.ShardingContext) error {
				found = append(found, sc.Offset)
				if len(found) > 1 {
					return nil
				}
				self.Load().registry.HoldBack(1, late)
				impatient, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
				require.ErrorIs(t, job.SaveOffset(impatient, "1"), registry.ErrUnknownOutcome)
				return job.SetOffset(ctx, "0")
			}, job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1}))
			sleepUntil(11 * time.Minute)
			require.Equal(t, []string{"0", "0"}, found)
		})
	}
}

// A checkpoint that a hand wrote in mid-run is overwritten by the next save, not taken for a loss of the
// execution.
func TestASaveAfterAHandWroteTheCheckpoint(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", func(ctx context.Context, _ job.ShardingContext) error {
			require.NoError(t, job.SaveOffset(ctx, "1"))
			put(t, c.server, "/orders/offset/0", "by hand") //nolint:contextcheck // it looks from outside
			require.NoError(t, job.SaveOffset(ctx, "2"))
			remove(t, c.server, "/orders/offset/0") //nolint:contextcheck // it looks from outside
			return job.SaveOffset(ctx, "3")
		}, job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1})
		sleepUntil(6 * time.Minute)
		require.Equal(t, "3", c.state().Item(0).Offset)
		require.Equal(t, jobtree.Success, c.executed(0).Outcome)
	})
}

// Code that ignores its context still cannot save once its session is lost, however it asks. What it set
// is written with its end, if that is still in time.
func TestACheckpointAfterTheSessionIsLost(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var saved error
		a := c.start("a", func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			saved = job.SaveOffset(context.WithoutCancel(ctx), "late")
			return job.SetOffset(ctx, "later")
		}, job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1})
		sleepUntil(5*time.Minute + time.Second)
		a.registry.Expire()
		sleepUntil(6 * time.Minute)
		require.Error(t, saved)
		require.Equal(t, "later", c.state().Item(0).Offset)
	})
}

func TestWithoutMarksThereIsNoCheckpoint(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		cfg.Unmonitored = true
		var set, save error
		c.start("a", func(ctx context.Context, _ job.ShardingContext) error {
			set, save = job.SetOffset(ctx, "x"), job.SaveOffset(ctx, "x")
			return nil
		}, cfg)
		sleepUntil(6 * time.Second)
		require.ErrorIs(t, set, job.ErrNoCheckpoint)
		require.ErrorIs(t, save, job.ErrNoCheckpoint)
		require.NotContains(t, stored(t, c.server), "/orders/offset/0")
	})
}

// Code that saves from many goroutines leaves what it set last.
func TestSavesOfManyGoroutines(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", func(ctx context.Context, _ job.ShardingContext) error {
			var left atomic.Int32
			left.Store(20)
			done := make(chan struct{})
			for i := range 20 {
				go func() {
					if job.SaveOffset(ctx, strconv.Itoa(i)) == nil && left.Add(-1) == 0 {
						close(done)
					}
				}()
			}
			<-done
			return job.SaveOffset(ctx, "last")
		}, jobOf(1))
		sleepUntil(6 * time.Second)
		require.Equal(t, "last", c.state().Item(0).Offset)
		require.Equal(t, jobtree.Success, c.executed(0).Outcome)
	})
}

func TestADataflowIsDeclaredAsOne(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		s, err := scheduler.New(reg)
		require.NoError(t, err)
		require.ErrorContains(t, errOf(s.Add(t.Context(), jobOf(1), (&counter{}).flow())), `Type "SIMPLE" must be DATAFLOW`)
		require.ErrorContains(t, errOf(s.Add(t.Context(), flowOf(false), job.Dataflow[int]{})), "Fetch and Process must be set")
		require.Empty(t, stored(t, c.server))
		require.NoError(t, reg.Close(context.Background()))
	})
}
