package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/job"
)

// notes is a sink that keeps what it gets, and does what a test tells it.
type notes struct {
	answer func(ctx context.Context, events []history.Event) error // nil = takes all

	mu      sync.Mutex
	batches [][]history.Event
}

func (n *notes) Write(ctx context.Context, events []history.Event) error {
	if n.answer != nil {
		if err := n.answer(ctx, events); err != nil {
			return err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.batches = append(n.batches, append([]history.Event(nil), events...))
	return nil
}

// ids lists what the sink has, in order.
func (n *notes) ids() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var ids []string
	for _, batch := range n.batches {
		for _, e := range batch {
			ids = append(ids, e.(history.Execution).ID)
		}
	}
	return ids
}

func (n *notes) sizes() []int {
	n.mu.Lock()
	defer n.mu.Unlock()
	sizes := make([]int, len(n.batches))
	for i, batch := range n.batches {
		sizes[i] = len(batch)
	}
	return sizes
}

func newBus(t *testing.T, opts ...history.Option) *history.Bus {
	t.Helper()
	bus, err := history.NewBus(opts...)
	require.NoError(t, err)
	return bus
}

// post posts events with the ids from up to before until, and returns them.
func post(bus *history.Bus, from, until int) []string {
	var ids []string
	for n := from; n < until; n++ {
		ids = append(ids, strconv.Itoa(n))
		bus.Post(history.Execution{ID: strconv.Itoa(n)})
	}
	return ids
}

// A batch may be larger than all that ever waits.
func TestALargeBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sink notes
		bus := newBus(t, history.WithSink("a", &sink, history.WithBatch(math.MaxInt)))
		bus.Start()
		want := post(bus, 0, 2000)
		time.Sleep(time.Second)
		require.Equal(t, []int{2000}, sink.sizes())
		require.Equal(t, want, sink.ids())
		require.NoError(t, bus.Close(t.Context()))
	})
}

func TestEventsArriveInOrderAndInBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sink notes
		bus := newBus(t, history.WithSink("a", &sink, history.WithBatch(4)))
		want := post(bus, 0, 3) // they wait for the start
		bus.Start()
		bus.Start()
		time.Sleep(99 * time.Millisecond)
		require.Empty(t, sink.sizes(), "others may join")
		want = append(want, post(bus, 3, 6)...)
		synctest.Wait()
		require.Equal(t, []int{4}, sink.sizes(), "a full batch does not wait")
		time.Sleep(time.Second)
		require.Equal(t, []int{4, 2}, sink.sizes())
		want = append(want, post(bus, 6, 7)...)
		closing := time.Now()
		require.NoError(t, bus.Close(t.Context()))
		require.Equal(t, closing, time.Now(), "nobody lingers at the end")
		require.Equal(t, want, sink.ids())
		require.Equal(t, []history.Stats{{Sink: "a", Posted: 7, Delivered: 7}}, bus.Stats())
		require.NoError(t, bus.Close(t.Context()))
	})
}

// A minute's outage of a sink under 10,000 executions a minute loses nothing and doubles nothing.
func TestAnOutageOfAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		var log bytes.Buffer
		sink := notes{answer: func(context.Context, []history.Event) error {
			if down.Load() {
				return errors.New("connection refused")
			}
			return nil
		}}
		bus := newBus(t, history.WithSink("a", &sink), history.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		bus.Start()
		var want []string
		second := func() {
			want = append(want, post(bus, len(want), len(want)+334)...)
			time.Sleep(time.Second)
		}
		for range 5 {
			second()
		}
		down.Store(true)
		for range 60 {
			second()
		}
		stats := bus.Stats()[0]
		require.Greater(t, stats.Waiting, uint64(59*334))
		require.EqualError(t, stats.Err, "connection refused")
		down.Store(false)
		for range 3 {
			second() // the longest pause is three seconds
		}
		require.NoError(t, bus.Close(t.Context()))
		require.Equal(t, want, sink.ids())
		stats = bus.Stats()[0]
		require.Equal(t, uint64(len(want)), stats.Delivered)
		require.NoError(t, stats.Err)
		require.Greater(t, stats.Failures, uint64(20))
		require.Equal(t, 1, strings.Count(log.String(), "the sink fails"), "once an outage:\n%s", &log)
		require.Equal(t, 1, strings.Count(log.String(), "takes events again"))
	})
}

func TestAFullBufferIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		blocked := make(chan struct{})
		sink := notes{answer: func(context.Context, []history.Event) error { <-blocked; return nil }}
		bus := newBus(t, history.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			history.WithSink("a", &sink, history.WithBuffer(10), history.WithBatch(2)))
		bus.Start()
		want := post(bus, 0, 2)
		synctest.Wait() // the sink has these
		require.Equal(t, []history.Stats{{Sink: "a", Posted: 2, Waiting: 2, Room: 10}}, bus.Stats())
		want = append(want, post(bus, 2, 12)...)
		post(bus, 12, 17)
		require.Equal(t, []history.Stats{{Sink: "a", Posted: 17, Waiting: 12, Dropped: 5}}, bus.Stats())
		close(blocked)
		require.NoError(t, bus.Close(t.Context()), "what was dropped was told")
		require.Equal(t, want, sink.ids())
		require.Contains(t, log.String(), "its buffer was full\" sink=a events=5")
		post(bus, 0, 1)
		require.Equal(t, []history.Stats{{Sink: "a", Posted: 18, Delivered: 12, Dropped: 6}}, bus.Stats())
	})
}

func TestASlowSinkHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs := notes{answer: func(ctx context.Context, _ []history.Event) error { <-ctx.Done(); return context.Cause(ctx) }}
		var quick notes
		bus := newBus(t, history.WithSink("hangs", &hangs, history.WithTimeout(time.Second)), history.WithSink("quick", &quick))
		bus.Start()
		want := post(bus, 0, 1000)
		time.Sleep(time.Second)
		require.Equal(t, want, quick.ids())
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		require.EqualError(t, bus.Close(ctx), `sink "hangs" did not get 1000 events before the bus was closed`)
		require.Equal(t, 10*time.Second, time.Since(began))
		stats := bus.Stats()
		require.Equal(t, uint64(1000), stats[0].Lost)
		require.Equal(t, uint64(1000), stats[1].Delivered)
		require.Error(t, stats[0].Err)
	})
}

func TestASinkThatNeverReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		sink := notes{answer: func(context.Context, []history.Event) error { <-release; return nil }}
		bus := newBus(t, history.WithSink("a", &sink, history.WithBatch(3)))
		bus.Start()
		post(bus, 0, 5)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.EqualError(t, bus.Close(ctx), `sink "a" did not get 5 events before the bus was closed`)
		close(release)
		synctest.Wait()
		require.Equal(t, []string{"0", "1", "2"}, sink.ids(), "no new batch after the end")
		require.Equal(t, []history.Stats{{Sink: "a", Posted: 5, Delivered: 3, Lost: 2}}, bus.Stats())
	})
}

func TestRejectedEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		refusal := errors.New("row is too wide")
		sink := notes{answer: func(_ context.Context, events []history.Event) error {
			switch events[0].(history.Execution).ID {
			case "0":
				return &history.RejectedError{Count: 2, Err: refusal}
			case "3":
				panic("boom")
			case "6":
				runtime.Goexit()
			}
			return nil
		}}
		bus := newBus(t, history.WithSink("a", &sink, history.WithBatch(3)), history.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		bus.Start()
		post(bus, 0, 12)
		require.NoError(t, bus.Close(t.Context()))
		require.Equal(t, []string{"9", "10", "11"}, sink.ids(), "what is rejected does not come again")
		require.Equal(t, []history.Stats{{Sink: "a", Posted: 12, Delivered: 4, Rejected: 8, Failures: 3}}, bus.Stats())
		require.Contains(t, log.String(), `sink=a events=2 error="row is too wide"`)
		require.Contains(t, log.String(), `sink=a events=3 error="panic: boom"`)
		require.Contains(t, log.String(), "runtime.Goexit")
		require.ErrorIs(t, &history.RejectedError{Err: refusal}, refusal)
	})
}

// What a sink counts wrongly does not upset the bus.
func TestImpossibleCountsOfRejectedEvents(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]history.Stats{
		-1: {Sink: "a", Posted: 3, Delivered: 3, Failures: 1},
		7:  {Sink: "a", Posted: 3, Rejected: 3, Failures: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			rejected := &history.RejectedError{Count: count, Err: errors.New("no")}
			sink := notes{answer: func(context.Context, []history.Event) error { return rejected }}
			bus := newBus(t, history.WithSink("a", &sink))
			bus.Start()
			post(bus, 0, 3)
			require.NoError(t, bus.Close(t.Context()))
			stats := bus.Stats()
			require.Len(t, stats, 1)
			require.ErrorIs(t, stats[0].Err, rejected)
			want.Err = stats[0].Err
			require.Equal(t, want, stats[0])
		})
	}
}

// Pointers to events are events to the compiler, too.
func TestPointersToEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sink notes
		bus := newBus(t, history.WithSink("a", &sink))
		bus.Start()
		execution, status := history.Execution{ID: "1"}, history.Status{ID: "2"}
		bus.Post(&execution)
		bus.Post(&status)
		execution.ID = "later"
		require.NoError(t, bus.Close(t.Context()))
		require.Equal(t, [][]history.Event{{history.Execution{ID: "1"}, status}}, sink.batches)
	})
}

// A sink may use the same retry library as the bus; its orders are not for the bus.
func TestErrorsOfASinkDoNotSteerTheBus(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"permanent": backoff.Permanent(errors.New("no route")),
		"later":     backoff.RetryAfter(3600),
		"nil":       (*history.RejectedError)(nil),
		"wraps nil": fmt.Errorf("write: %w: %w", (*history.RejectedError)(nil), (*job.PanicError)(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls, start := 0, time.Now()
				sink := notes{answer: func(context.Context, []history.Event) error {
					if calls++; calls < 3 {
						return failure
					}
					return nil
				}}
				bus := newBus(t, history.WithSink("a", &sink))
				bus.Start()
				post(bus, 0, 3)
				require.NoError(t, bus.Close(t.Context()))
				require.Len(t, sink.ids(), 3)
				require.Less(t, time.Since(start), time.Minute)
			})
		})
	}
}

func TestABusThatNeverStarted(t *testing.T) {
	t.Parallel()
	var sink notes
	bus := newBus(t, history.WithSink("a", &sink))
	post(bus, 0, 3)
	require.EqualError(t, bus.Close(t.Context()), `sink "a" did not get 3 events before the bus was closed`)
	bus.Start()
	require.Empty(t, sink.ids())
	require.NoError(t, newBus(t).Close(t.Context()), "no sink, no trouble")
}

func TestOptionsOfABus(t *testing.T) {
	t.Parallel()
	var sink notes
	_, err := history.NewBus(
		history.WithSink("", &sink), history.WithSink("b", nil), history.WithSink("a", &sink), history.WithSink("a", &sink),
		history.WithSink("c", &sink, history.WithBatch(0), history.WithBuffer(-1), history.WithLinger(-1), history.WithTimeout(0)),
		history.WithLogger(nil),
	)
	require.ErrorIs(t, err, history.ErrInvalidOption)
	require.Equal(t, []string{
		`invalid option: sink "" needs a name and must not be nil`,
		`invalid option: sink "b" needs a name and must not be nil`,
		`invalid option: sink name "a" is used twice`,
		`sink "c": invalid option: batch of 0 events is not at least 1`,
		`sink "c": invalid option: buffer of -1 events is not at least 1`,
		`sink "c": invalid option: linger -1ns is negative`,
		`sink "c": invalid option: timeout 0s is not positive`,
		`invalid option: logger is nil`,
	}, strings.Split(err.Error(), "\n"))
}

// Many post at once, over a sink that fails now and then: each poster's events arrive once, in order.
func TestManyPost(t *testing.T) {
	t.Parallel()
	const posters, each = 8, 500
	calls := 0
	sink := notes{answer: func(context.Context, []history.Event) error {
		if calls++; calls%3 == 0 {
			return errors.New("busy")
		}
		return nil
	}}
	bus := newBus(t, history.WithSink("a", &sink, history.WithLinger(0), history.WithBatch(200)))
	bus.Start()
	var wg sync.WaitGroup
	for p := range posters {
		wg.Go(func() { post(bus, p*each, p*each+each) })
	}
	wg.Wait()
	require.NoError(t, bus.Close(t.Context()))
	next := map[int]int{}
	for _, id := range sink.ids() {
		n, err := strconv.Atoi(id)
		require.NoError(t, err)
		require.Equal(t, next[n/each], n%each, "poster %d", n/each)
		next[n/each]++
	}
	for p := range posters {
		require.Equal(t, each, next[p])
	}
}
