package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// refusing is a registry that counts the transactions that were refused because the store is full.
type refusing struct {
	*memory.Registry
	txns atomic.Int64
}

func (r *refusing) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := r.Registry.Commit(ctx, txn)
	r.count(err)
	return revision, err
}

func (r *refusing) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := r.Registry.CommitAll(ctx, txns)
	for _, o := range outcomes {
		r.count(o.Err)
	}
	return outcomes
}

func (r *refusing) count(err error) {
	if errors.Is(err, registry.ErrNoSpace) {
		r.txns.Add(1)
	}
}

// ledger keeps the records of a log.
type ledger struct {
	slog.Handler
	mu      *sync.Mutex
	records *[]slog.Record
}

func newLedger() ledger {
	return ledger{Handler: slog.DiscardHandler, mu: new(sync.Mutex), records: new([]slog.Record)}
}

func (l ledger) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (l ledger) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l ledger) WithGroup(string) slog.Handler                    { return l }

func (l ledger) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.records = append(*l.records, r)
	return nil
}

// take returns the records since the last time.
func (l ledger) take() []slog.Record {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	records := *l.records
	*l.records = nil
	return records
}

// timesOf returns how often the thing of a record happened.
func timesOf(r slog.Record) int64 {
	times := int64(1)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == repeats.Times {
			times = a.Value.Int64()
		}
		return true
	})
	return times
}

// A store that is full for ten seconds refuses a thousand transactions for one cause. Each kind of refusal is
// told at once, then as a count, and its end; and the counts add up.
func TestAFullStoreIsOneCause(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const jobs = 100
		log := newLedger()
		reg := &refusing{Registry: c.server.Open("test")}
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithLogger(slog.New(log)))
		require.NoError(t, err)
		brief := func(context.Context, job.ShardingContext) error { time.Sleep(200 * time.Millisecond); return nil }
		for n := range jobs {
			require.NoError(t, errOf(s.Add(t.Context(), job.Config{Name: fmt.Sprintf("job-%d", n), Cron: "0-17 0 0 * * ?", ShardingTotalCount: 1}, job.HandlerFunc(brief))))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		<-s.Ready()
		time.Sleep(5100 * time.Millisecond) // in the midst of the executions of a second
		log.take()
		c.server.SetFull(true)
		time.Sleep(10 * time.Second)
		during := log.take()
		require.Greater(t, reg.txns.Load(), int64(jobs*5))
		require.Less(t, len(during), 20, "lines while the store is full")

		c.server.SetFull(false)
		time.Sleep(2*repeats.Every + time.Second)
		after := log.take()
		require.Less(t, len(after), 40)
		told, over := make(map[string]int64), make(map[string]int64)
		for _, r := range append(during, after...) {
			if r.Message != repeats.Over {
				told[r.Message] += timesOf(r)
				continue
			}
			r.Attrs(func(a slog.Attr) bool {
				if a.Key == repeats.What {
					over[a.Value.String()] = timesOf(r)
				}
				return true
			})
		}
		refused := int64(0)
		for message, times := range told {
			if strings.Contains(message, "try again") {
				refused += times
				require.Equal(t, times, over[message], message)
			}
		}
		require.Equal(t, reg.txns.Load(), refused, "%v", told)
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, reg.Close(context.Background()))
	})
}

// Over a slow link a doubt follows the other: they are one cause.
func TestDoubtsOfASessionAreCounted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const doubt = "session in doubt, nothing new starts"
		log := &lines{}
		var changes atomic.Int64
		a := c.startWith("a", nil, []scheduler.Option{
			scheduler.WithLogger(slog.New(slog.NewTextHandler(log, nil))),
			scheduler.WithConnectionListener(func(_ context.Context, e scheduler.ConnectionEvent) error {
				if e.Change == scheduler.ConnectionSuspended {
					changes.Add(1)
				}
				return nil
			}),
		}, jobOf(1))
		for range 4 {
			a.registry.Cut()
			time.Sleep(3500 * time.Millisecond)
			a.registry.Heal()
			time.Sleep(2 * time.Second)
		}
		require.Zero(t, log.count("session lost"))
		require.Equal(t, int64(4), changes.Load())
		require.Equal(t, 1, log.count(doubt))
		time.Sleep(repeats.Every)
		require.Equal(t, 2, log.count(doubt))
		require.Equal(t, 1, log.count("times=3"))
	})
}
