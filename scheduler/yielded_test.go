package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	"github.com/elasticron/elasticron/sharding"
)

// longWork counts up from its checkpoint to an end, a step a second, and makes room at any step. Of a stop that leaves no time
// it may hear by its context first.
type longWork struct {
	end int

	mu   sync.Mutex
	done []int // in the order in which they were done
}

func (w *longWork) code(ctx context.Context, _ job.ShardingContext) error {
	reached, _ := strconv.Atoi(job.Offset(ctx))
	for reached < w.end {
		select {
		case <-job.Yield(ctx):
			return errors.Join(fmt.Errorf("at step %d: %w", reached, job.ErrYielded), job.SetOffset(ctx, strconv.Itoa(reached)))
		case <-ctx.Done():
			why := context.Cause(ctx)
			if errors.Is(why, scheduler.ErrStopped) {
				why = job.ErrYielded
			}
			return errors.Join(why, job.SetOffset(ctx, strconv.Itoa(reached)))
		case <-time.After(time.Second):
			reached++
			w.mu.Lock()
			w.done = append(w.done, reached)
			w.mu.Unlock()
		}
	}
	return job.SetOffset(ctx, "")
}

func (w *longWork) steps() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]int(nil), w.done...)
}

// nightly fires at five past midnight, and not again in a test.
func nightly() job.Config {
	return job.Config{Name: "orders", Cron: "0 5 0 * * ?", ShardingTotalCount: 1, Failover: true}
}

// Work that makes room when it is told to goes on at once where its item is, from its checkpoint, under the same fire.
func TestWhatMakesRoomGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(c *cluster, w *longWork, a *instance){
		"the item moves":    func(c *cluster, w *longWork, _ *instance) { c.start("b", w.code, nightly()) },
		"the process stops": func(c *cluster, w *longWork, a *instance) { c.start("z", w.code, nightly()); a.cancel() },
		"the only process stops": func(c *cluster, w *longWork, a *instance) {
			a.cancel()
			require.NoError(c.t, a.ended())
			c.start("b", w.code, nightly())
		},
		"a stop that is over at once": func(c *cluster, w *longWork, a *instance) { c.start("z", w.code, nightly()); a.StopNow() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				w := &longWork{end: 300}
				a := c.start("a", w.code, nightly())
				sleepUntil(7 * time.Minute)
				event(c, w, a)
				sleepUntil(8 * time.Minute)
				require.NotEqual(t, "10.0.0.1@-@a", c.executed(0).Instance)
				require.Equal(t, job.Failover, c.executed(0).Source)
				require.Zero(t, c.state().Record(0).Value.Reruns, "that was no loss")
				sleepUntil(11 * time.Minute)
				require.Equal(t, upTo(300), w.steps(), "nothing is left out, and nothing is done twice")
				require.Equal(t, jobtree.Success, c.executed(0).Outcome)
				require.Equal(t, jobtree.Counts{Success: 1, Interrupted: 1}, c.state().Record(0).Value.Counts)
				require.Empty(t, c.state().Item(0).Offset)
			})
		})
	}
}

// Code that hears of a stop by its context alone has been told to make room, too. What ends by a timeout has not.
func TestAContextThatAStopEndsTellsToMakeRoom(t *testing.T) {
	t.Parallel()
	for name, stops := range map[string]bool{"stop": true, "timeout": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := nightly()
				cfg.Timeout = 2 * time.Minute
				a := c.start("a", func(ctx context.Context, _ job.ShardingContext) error {
					<-ctx.Done()
					return job.ErrYielded
				}, cfg)
				sleepUntil(6 * time.Minute)
				if stops {
					c.start("z", nil, cfg)
					a.StopNow()
				}
				sleepUntil(8 * time.Minute)
				counts := c.state().Record(0).Value.Counts
				if stops {
					require.Equal(t, jobtree.Counts{Success: 1, Interrupted: 1}, counts)
				} else {
					require.Equal(t, jobtree.Counts{Failure: 1}, counts)
					require.Contains(t, c.executed(0).Error, "nobody had told the code to make room")
				}
				require.Zero(t, c.state().Record(0).Value.Reruns)
			})
		})
	}
}

// A rolling update may move an item more often than it may be run again after a loss.
func TestMakingRoomCountsForNoLimit(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := nightly()
		cfg.FailoverLimit = 1
		w := &longWork{end: 600}
		last := c.start("p0", w.code, cfg)
		sleepUntil(5*time.Minute + 10*time.Second)
		for n := range 20 {
			next := c.start(fmt.Sprintf("p%d", n+1), w.code, cfg)
			last.cancel()
			require.NoError(t, last.ended())
			last = next
			time.Sleep(10 * time.Second)
		}
		require.Zero(t, c.state().Record(0).Value.Reruns)
		sleepUntil(16 * time.Minute)
		require.Equal(t, upTo(600), w.steps())
		require.Equal(t, int64(1), c.state().Record(0).Value.Counts.Success)
	})
}

// An item that is disabled, or whose only server is, keeps the rest of its work until it is enabled.
func TestWhatMadeRoomWaitsUntilItIsEnabled(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"the item": "/orders/sharding/0/disabled", "the server": orders.Server("10.0.0.1")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				w := &longWork{end: 300}
				c.start("a", w.code, nightly())
				sleepUntil(7 * time.Minute)
				put(t, c.server, path, "DISABLED")
				sleepUntil(20 * time.Minute)
				require.Less(t, len(w.steps()), 130)
				require.Equal(t, jobtree.ItemWaiting, c.state().Record(0).Value.State)
				if name == "the item" {
					remove(t, c.server, path)
				} else {
					put(t, c.server, path, "")
				}
				sleepUntil(30 * time.Minute)
				require.Equal(t, upTo(300), w.steps())
			})
		})
	}
}

// Without failover nobody runs the rest before the next fire, and that is neither kept quiet nor a failure.
func TestWhatMakesRoomWithoutFailover(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := nightly()
		cfg.Failover, cfg.Cron = false, "0 5 0/1 * * ?"
		cfg.Retries, cfg.RetryBackoff = 3, time.Second
		var log lines
		var heard []error
		var mu sync.Mutex
		w := &longWork{end: 300}
		c.startWith("a", w.code, []scheduler.Option{scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), scheduler.WithObserver(scheduler.ObserverFunc(func(event scheduler.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e, is := event.(scheduler.ItemEvent); is && e.Over() && e.CutShort {
				heard = append(heard, e.Err)
			}
			_, again := event.(scheduler.RetryEvent)
			require.False(t, again)
		}))}, cfg)
		sleepUntil(7 * time.Minute)
		c.start("b", w.code, cfg)
		sleepUntil(30 * time.Minute)
		require.Less(t, len(w.steps()), 130)
		e := c.executed(0)
		require.Equal(t, jobtree.Interrupted, e.Outcome)
		require.True(t, e.Yielded)
		require.Equal(t, jobtree.ItemInterrupted, c.state().Record(0).Value.State)
		require.Equal(t, 1, log.count("item made room, and what is left of it waits for the next fire"))
		require.Zero(t, log.count("item failed"))
		mu.Lock()
		require.Len(t, heard, 1)
		require.ErrorIs(t, heard[0], job.ErrYielded)
		mu.Unlock()
		sleepUntil(70 * time.Minute)
		require.Equal(t, upTo(300), w.steps(), "the next fire goes on from the checkpoint")
	})
}

// Code that says it made room though nobody told it to has failed.
func TestMakingRoomUnasked(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", func(context.Context, job.ShardingContext) error { return job.ErrYielded }, nightly())
		sleepUntil(7 * time.Minute)
		e := c.executed(0)
		require.Equal(t, jobtree.Failure, e.Outcome)
		require.Equal(t, "nobody had told the code to make room: made room, with work left", e.Error)
	})
}

// A process that dies between the return of its code and the recorded end has its execution run again, like any.
func TestAProcessDiesAsItMakesRoom(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		w := &longWork{end: 300}
		var a *instance
		a = c.start("a", func(ctx context.Context, sc job.ShardingContext) error {
			err := w.code(ctx, sc)
			a.Vanish()
			return err
		}, nightly())
		sleepUntil(7 * time.Minute)
		a.cancel()
		ended := a.ended()
		require.ErrorIs(t, ended, scheduler.ErrVanished)
		require.NoError(t, a.registry.Close(context.Background()))
		c.start("b", w.code, nightly())
		sleepUntil(20 * time.Minute)
		require.Equal(t, jobtree.Success, c.executed(0).Outcome)
		require.Equal(t, 300, w.steps()[len(w.steps())-1])
		require.Equal(t, jobtree.Counts{Success: 1, Lost: 1}, c.state().Record(0).Value.Counts)
	})
}

// While a resharding does not come for which streams make room, what has made room does not spin: it goes on when the
// resharding is over, or after a while.
func TestWhatMakesRoomForAReshardingThatIsLate(t *testing.T) {
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
		cfg := nightly()
		w := &longWork{end: 300}
		c.start("a", w.code, cfg)
		write(registry.Put("/orders/sharding/0/instance", fullID("a")), registry.Delete("/orders/leader/sharding/necessary"))
		sleepUntil(6*time.Minute + 500*time.Millisecond)
		write(registry.Put("/orders/leader/sharding/necessary", ""))
		sleepUntil(10 * time.Minute)
		ended := c.state().Record(0).Value.Counts.Interrupted
		require.Greater(t, ended, int64(1), "nobody reshards, and it goes on now and then")
		require.Less(t, ended, int64(12))
		write(registry.Delete("/orders/leader/sharding/necessary"))
		sleepUntil(20 * time.Minute)
		require.Equal(t, upTo(300), w.steps())
	})
}

// While nobody can reshard at all, as the job's strategy is broken, long work gets further all the same: what has begun since
// is not told to make room as soon as it runs.
func TestWorkGoesOnWhileNobodyCanReshard(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var broken atomic.Bool
		strategies := sharding.Default()
		require.NoError(t, strategies.Register("ours", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
			if broken.Load() {
				return nil, errors.New("no table of the items")
			}
			return sharding.AverageAllocation(r)
		})))
		cfg := nightly()
		cfg.ShardingStrategy = "ours"
		w, options := &longWork{end: 600}, []scheduler.Option{scheduler.WithStrategies(strategies)}
		c.startWith("a", w.code, options, cfg)
		sleepUntil(6 * time.Minute)
		broken.Store(true)
		c.startWith("b", w.code, options, cfg)
		sleepUntil(7 * time.Minute)
		before := len(w.steps())
		sleepUntil(12 * time.Minute)
		require.Greater(t, len(w.steps())-before, 120, "in five minutes")
		require.Greater(t, c.state().Record(0).Value.Counts.Interrupted, int64(3), "it makes room now and then")
		broken.Store(false)
		sleepUntil(30 * time.Minute)
		require.Equal(t, upTo(600), w.steps())
		require.Equal(t, jobtree.Success, c.executed(0).Outcome)
	})
}

// A stream goes on where its item is, without a word of its own.
func TestAStreamGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := flowOf(true)
		cfg.Cron, cfg.Failover = "0 5 0 * * ?", true
		n := counter{end: 400, pause: time.Second, keeps: true}
		a := c.startCode("a", n.flow(), cfg)
		sleepUntil(7 * time.Minute)
		c.startCode("b", n.flow(), cfg)
		sleepUntil(9 * time.Minute)
		c.startCode("z", n.flow(), cfg)
		a.cancel()
		sleepUntil(20 * time.Minute)
		require.Equal(t, upTo(400), n.done())
		require.Equal(t, jobtree.Success, c.executed(0).Outcome)
	})
}

// A stop that leaves no time ends the context of a stream as it tells it to make room, and the stream may see either first.
func TestAStreamMakesRoomForAStopThatIsOverAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := flowOf(true)
		cfg.Cron, cfg.Failover = "0 5 0 * * ?", true
		next := 0
		flow := job.Dataflow[int]{
			Fetch: func(_ context.Context, sc job.ShardingContext) ([]int, error) {
				if next, _ = strconv.Atoi(sc.Offset); next == 3 {
					return nil, nil
				}
				return []int{next + 1}, nil
			},
			Process: func(ctx context.Context, _ job.ShardingContext, batch []int) error {
				if batch[0] == 2 {
					<-ctx.Done()
				}
				return job.SetOffset(ctx, strconv.Itoa(batch[0]))
			},
		}
		rest := counter{end: 3, keeps: true}
		a := c.startCode("a", flow, cfg)
		sleepUntil(6 * time.Minute)
		c.startCode("z", rest.flow(), cfg)
		a.StopNow()
		sleepUntil(8 * time.Minute)
		require.Equal(t, []int{3}, rest.done(), "the rest, and no more")
		require.Equal(t, jobtree.Counts{Success: 1, Interrupted: 1}, c.state().Record(0).Value.Counts)
		require.Zero(t, c.state().Record(0).Value.Reruns, "that was no loss")
	})
}

// A stream that is switched off has done what one fire of it is by now.
func TestAStreamThatIsSwitchedOffIsOver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := flowOf(true)
		cfg.Cron, cfg.Failover = "0 5 0 * * ?", true
		n := counter{end: 400, pause: time.Second, keeps: true}
		c.startCode("a", n.flow(), cfg)
		sleepUntil(7 * time.Minute)
		cfg.StreamingProcess = false
		c.change(cfg)
		sleepUntil(20 * time.Minute)
		require.Equal(t, jobtree.Success, c.executed(0).Outcome)
		require.Less(t, len(n.done()), 130)
	})
}

// An error that comes with the end of a stream that was switched off is kept: not all of its last batch may be done.
func TestAStreamThatIsSwitchedOffWithAnError(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := flowOf(true)
		cfg.Cron, cfg.Failover = "0 5 0 * * ?", true
		code := job.Dataflow[int]{
			Fetch: func(context.Context, job.ShardingContext) ([]int, error) { return []int{1}, nil },
			Process: func(ctx context.Context, _ job.ShardingContext, _ []int) error {
				select {
				case <-job.Yield(ctx):
					return errors.Join(job.ErrYielded, errors.New("half of the batch is not written"))
				case <-time.After(time.Second):
					return nil
				}
			},
		}
		var log lines
		c.startCode("a", code, cfg, scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		sleepUntil(7 * time.Minute)
		cfg.StreamingProcess = false
		c.change(cfg)
		sleepUntil(20 * time.Minute)
		e := c.executed(0)
		require.Equal(t, jobtree.Interrupted, e.Outcome)
		require.Contains(t, e.Error, "half of the batch is not written")
		require.Equal(t, jobtree.ItemInterrupted, c.state().Record(0).Value.State, "nothing runs it before its next fire")
		require.Contains(t, log.line("item made room"), "the stream was switched off")
	})
}

// Of an execution without a record nobody could run a rest, and that is said.
func TestWhatMakesRoomWithoutARecord(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := nightly()
		cfg.Failover, cfg.Unmonitored = false, true
		var log lines
		c.startWith("a", untilTold(job.ErrYielded), []scheduler.Option{scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}, cfg)
		sleepUntil(7 * time.Minute)
		c.start("b", untilTold(nil), cfg)
		sleepUntil(8 * time.Minute)
		require.Equal(t, 1, log.count("item made room, and what is left of it waits for the next fire"))
		require.Contains(t, log.line("item made room"), "the job is not monitored")
		require.Len(t, c.take(), 1)
	})
}

// recordOf returns the record of an item.
func (c *cluster) recordOf(item int) jobtree.Record {
	c.t.Helper()
	record, err := jobtree.DecodeRecord(c.node(orders.ItemRecord(item)))
	require.NoError(c.t, err)
	return record
}

// untilTold returns code that goes on until it is told to come to an end, and returns an error then.
func untilTold(err error) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		<-job.Yield(ctx)
		return err
	}
}

// Whoever waits for a request by hand waits for the rest of what made room, too.
func TestARequestThatMakesRoomIsWaitedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := nightly()
		cfg.Cron = "@triggered"
		w := &longWork{end: 100}
		a := c.start("a", w.code, cfg)
		request, err := ordersOf(t, a).Trigger(t.Context())
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		c.start("b", w.code, cfg)
		runs, err := request.Wait(t.Context())
		require.NoError(t, err)
		require.Len(t, runs, 1)
		require.Equal(t, string(jobtree.Success), runs[0].Outcome)
		require.Equal(t, fullID("b"), runs[0].Instance)
		require.Equal(t, upTo(100), w.steps())
	})
}

// Beside Java, what makes room so that its item can move is left to the next fire: whoever claims it would run it at once.
func TestWhatMakesRoomBesideJavaWaits(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]scheduler.Option{"2.1.5": scheduler.WithJavaPeers(), "3.x": scheduler.WithElasticJob3Peers()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := busy(2, job.MisfireSkip)
				cfg.Failover = true
				options := []scheduler.Option{beside, knowing(t, average(t))}
				c.startBusy("c", 0, untilTold(job.ErrYielded), options, cfg)
				sleepUntil(10 * time.Second)
				c.startBusy("b", 0, untilTold(job.ErrYielded), options, cfg)
				sleepUntil(30 * time.Second)
				require.Equal(t, map[string]int{fullID("c"): 1, fullID("b"): 1}, c.owners())
				require.Len(t, c.take(), 1, "what stays is not told to end")
				for item := range 2 {
					require.NotEqual(t, job.Failover, c.recordOf(item).Current.Source, "nothing bounces")
				}
				require.Equal(t, int64(1), c.recordOf(0).Counts.Interrupted+c.recordOf(1).Counts.Interrupted)
			})
		})
	}
}
