package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// rounds notes, in the order in which it hears of them, rounds and the items in them.
type rounds struct {
	mu    sync.Mutex
	lines []string
	names map[string]string // of rounds, by id
}

func (r *rounds) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.RoundEvent:
		if e.Over() {
			r.note(e.ID, "ended items %v after %s, failed %v", e.Items, e.Ended.Sub(e.Began), e.Failed)
			return
		}
		r.name(e.ID)
		r.note(e.ID, "began items %v at %s, failed %v, ended %t", e.Items, e.Began.Sub(bubbleStart), e.Failed, !e.Ended.IsZero())
	case scheduler.ItemEvent:
		if e.Over() {
			r.note(e.Round, "item %d ended", e.Context.Item)
		} else {
			r.note(e.Round, "item %d started", e.Context.Item)
		}
	}
}

// name gives a round a name that a test can tell in advance.
func (r *rounds) name(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[id] = fmt.Sprintf("round %d", len(r.names))
}

func (r *rounds) note(id, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, r.names[id]+" "+fmt.Sprintf(format, args...))
}

// A round is what begins together. It is over with its last item, and says which items failed.
func TestRoundsAreReported(t *testing.T) {
	t.Parallel()
	for _, monitored := range []bool{true, false} {
		t.Run(fmt.Sprintf("monitored=%t", monitored), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				reg := c.server.Open("test")
				heard := &rounds{names: make(map[string]string)}
				s, err := scheduler.New(reg, scheduler.WithObserver(heard))
				require.NoError(t, err)
				cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 2}
				cfg.Unmonitored = !monitored
				require.NoError(t, errOf(s.Add(t.Context(), cfg, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
					if sc.Item == 1 {
						return errors.New("out of stock")
					}
					time.Sleep(7 * time.Second)
					return nil
				}))))
				i := c.run(s, reg)
				sleepUntil(2 * time.Minute)
				i.stop(t)
				for i, began := range []string{"5s", "1m5s"} {
					name := fmt.Sprintf("round %d ", i)
					require.Equal(t, []string{
						name + "began items [0 1] at " + began + ", failed map[], ended false",
						name + "item 0 started",
						name + "item 1 started",
						name + "item 1 ended",
						name + "item 0 ended",
						name + "ended items [0 1] after 7s, failed map[1:out of stock]",
					}, heard.lines[6*i:6*i+6])
				}
				require.Len(t, heard.lines, 12)
			})
		})
	}
}

// What observers and listeners do with what they are given, others do not see.
func TestWhatIsToldIsNotShared(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var mu sync.Mutex
		var failed, results []int
		emptied := scheduler.ObserverFunc(func(event scheduler.Event) {
			if round, is := event.(scheduler.RoundEvent); is {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, len(round.Failed))
				clear(round.Failed)
			}
		})
		cleared := scheduler.WithListener(job.ListenerFuncs{After: func(_ context.Context, _ job.Round, all []job.ItemResult) error {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range all {
				if r.Err != nil {
					results = append(results, r.Context.Item)
				}
			}
			clear(all)
			return nil
		}})
		i := c.launchWith("a", func(context.Context, job.ShardingContext) error { return errors.New("out of stock") },
			[]scheduler.Option{scheduler.WithObserver(emptied), scheduler.WithObserver(emptied), scheduler.WithObserver(emptied)},
			[]scheduler.JobOption{cleared, cleared}, jobOf(2))
		sleepUntil(9 * time.Second)
		mu.Lock()
		require.ElementsMatch(t, []int{0, 0, 0, 2, 2, 2}, failed)
		require.Equal(t, []int{0, 1, 0, 1}, results)
		mu.Unlock()
		i.stop(t)
	})
}

func TestNobodyIsNoObserver(t *testing.T) {
	t.Parallel()
	for _, nobody := range []scheduler.Observer{nil, scheduler.ObserverFunc(nil)} {
		reg := memory.NewServer().Open("test")
		_, err := scheduler.New(reg, scheduler.WithObserver(nobody))
		require.ErrorIs(t, err, scheduler.ErrInvalidOption)
		require.NoError(t, reg.Close(t.Context()))
	}
}
