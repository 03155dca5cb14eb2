package scheduler_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

// logbook counts log records by their messages.
type logbook struct {
	mu    sync.Mutex
	count map[string]int
}

func (l *logbook) Enabled(context.Context, slog.Level) bool { return true }
func (l *logbook) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logbook) WithGroup(string) slog.Handler            { return l }

func (l *logbook) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == nil {
		l.count = make(map[string]int)
	}
	l.count[r.Message]++
	return nil
}

func (l *logbook) of(message string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count[message]
}

// endless is a registry that takes no ends, for a reason of its own.
type endless struct {
	*memory.Registry
	reason error
	asked  atomic.Int64
}

func (r *endless) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	if len(txns) != 1 || !slices.ContainsFunc(txns[0].Then, isEnd) {
		return r.Registry.CommitAll(ctx, txns)
	}
	r.asked.Add(1)
	return []registry.Outcome{{Err: &registry.OpError{Op: "commit", Err: r.reason}}}
}

func isEnd(w registry.Write) bool {
	name, ok := jobtree.Parse(w.Path)
	return ok && name.Kind == jobtree.KindItemRunning && w.Kind == registry.WriteDelete
}

// ends keeps why ends were refused.
type ends struct {
	mu      sync.Mutex
	refused []error
}

func (e *ends) Observe(event scheduler.Event) {
	if end, is := event.(scheduler.ItemEvent); is && end.Over() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.refused = append(e.refused, end.Refused)
	}
}

// An end that the registry will never take is reported and given up, and so is the attempt to clear up
// after it. The item is free again when the session has ended.
func TestAnEndThatTheRegistryNeverTakes(t *testing.T) {
	t.Parallel()
	for _, reason := range []error{registry.ErrInvalid, registry.ErrTooLarge} {
		t.Run(reason.Error(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				reg := &endless{Registry: c.server.Open("test"), reason: reason}
				var heard ends
				s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithObserver(&heard))
				require.NoError(t, err)
				require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("a", nil))))
				done := make(chan error, 1)
				go func() { done <- s.Run(t.Context()) }()
				<-s.Ready()
				sleepUntil(59 * time.Second)
				require.Equal(t, []string{"item 0 fire 5s scheduled on a"}, c.shown())
				require.Len(t, heard.refused, 1)
				require.ErrorIs(t, heard.refused[0], reason)
				require.LessOrEqual(t, reg.asked.Load(), int64(3), "it is not asked again and again")
				reg.Expire()
				sleepUntil(66 * time.Second)
				require.NotEmpty(t, c.take())
				s.Vanish()
				require.ErrorIs(t, <-done, scheduler.ErrVanished)
				reg.Vanish()
			})
		})
	}
}

// What stays wrong is reported when it begins, and not whenever somebody looks.
func TestWhatStaysWrongIsReportedOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var mu sync.Mutex
		reason := errors.New("no moon")
		strategies := sharding.Default()
		require.NoError(t, strategies.Register("moon", sharding.StrategyFunc(func(sharding.Request) (sharding.Assignment, error) {
			mu.Lock()
			defer mu.Unlock()
			return nil, reason
		})))
		a := c.start("a", nil, yearly(2)) // gives the items an owner
		sleepUntil(time.Second)
		var logs logbook
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("b")), scheduler.WithStrategies(strategies), scheduler.WithLogger(slog.New(&logs)))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), yearly(2), nothing)))
		done := make(chan error, 1)
		go func() { done <- s.Run(t.Context()) }()
		<-s.Ready()
		a.stop(t)
		sleepUntil(2 * time.Second)
		broken := jobtree.Record{State: jobtree.ItemIdle, LastFire: bubbleStart.Add(time.Hour)}
		put(t, c.server, "/orders/sharding/1/record", jobtree.EncodeRecord(broken))
		cfg := yearly(2)
		cfg.ShardingStrategy = "moon"
		c.change(cfg)
		look := func() {
			for range 5 {
				time.Sleep(time.Second)
				put(t, c.server, "/orders/servers/10.0.0.9", "")
			}
			time.Sleep(time.Second)
		}
		look()
		const ignoring, noPlan = "ignoring the last fire of an item: a broken clock wrote it", "items stay where they are: the sharding strategy gave no assignment"
		require.Equal(t, 1, logs.of(ignoring))
		require.Equal(t, 1, logs.of(noPlan))
		mu.Lock()
		reason = errors.New("no stars")
		mu.Unlock()
		broken.LastFire = broken.LastFire.Add(time.Hour)
		put(t, c.server, "/orders/sharding/1/record", jobtree.EncodeRecord(broken))
		look()
		require.Equal(t, 2, logs.of(ignoring), "another one")
		require.Equal(t, 2, logs.of(noPlan), "another cause")
		s.StopNow()
		require.NoError(t, <-done)
		require.NoError(t, reg.Close(context.Background()))
	})
}
