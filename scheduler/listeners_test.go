package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// roundNotes is a listener that notes what it is told.
func (d *diary) listener() job.ListenerFuncs {
	return job.ListenerFuncs{
		Before: func(_ context.Context, round job.Round) error {
			d.note("%s before %d items", time.Since(bubbleStart), len(round.Items))
			return nil
		},
		After: func(_ context.Context, round job.Round, results []job.ItemResult) error {
			for i, result := range results {
				d.note("%s after item %d, same %t: %v, refused %t", time.Since(bubbleStart), result.Context.Item,
					round.Items[i] == result.Context, result.Err, result.Refused != nil)
			}
			return nil
		},
	}
}

// A round's listeners are called before the first item and after the last end, once for each round,
// on every instance that runs items.
func TestListenersOfARound(t *testing.T) {
	t.Parallel()
	for _, monitored := range []bool{true, false} {
		inBubble(t, func(t *testing.T, c *cluster) {
			var heard diary
			cfg := jobOf(2)
			cfg.Unmonitored = !monitored
			work := func(_ context.Context, sc job.ShardingContext) error {
				heard.note("%s item %d", time.Since(bubbleStart), sc.Item)
				time.Sleep(time.Duration(1+sc.Item) * time.Second)
				return []error{nil, errors.New("out of stock")}[sc.Item]
			}
			slow := job.ListenerFuncs{Before: func(context.Context, job.Round) error { time.Sleep(500 * time.Millisecond); return nil }}
			i := c.launchWith("a", work, nil, []scheduler.JobOption{scheduler.WithListener(slow), scheduler.WithListener(heard.listener())}, cfg)
			sleepUntil(9 * time.Second)
			lines := heard.read()
			require.ElementsMatch(t, []string{"5.5s item 0", "5.5s item 1"}, lines[1:3])
			require.Equal(t, []string{
				"5.5s before 2 items", lines[1], lines[2],
				"7.5s after item 0, same true: <nil>, refused false",
				"7.5s after item 1, same true: out of stock, refused false",
			}, lines)
			i.stop(t)
		})
	}
}

// Listeners that fail, panic or never return are reported, and keep neither the items from running nor
// the round from ending, nor the next one from beginning, nor the scheduler from stopping.
func TestListenersThatFail(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var heard, observed diary
		forever := make(chan struct{})
		fails := job.ListenerFuncs{
			Before: func(context.Context, job.Round) error { return errors.New("no lock") },
			After:  func(context.Context, job.Round, []job.ItemResult) error { panic("oops") },
		}
		stuck := job.ListenerFuncs{
			Before: func(context.Context, job.Round) error { <-forever; return nil },
			After:  func(context.Context, job.Round, []job.ItemResult) error { <-forever; return nil },
		}
		i := c.launchWith("a", nil, []scheduler.Option{scheduler.WithObserver(&observed), scheduler.WithListenerTimeout(2 * time.Second)},
			[]scheduler.JobOption{scheduler.WithListener(fails), scheduler.WithListener(stuck), scheduler.WithListener(heard.listener())}, jobOf(1))
		sleepUntil(14 * time.Second)
		late := `did not return when its context had ended: ` + scheduler.ErrListenerTimeout.Error()
		require.Equal(t, []string{
			"elected for orders",
			`before run listener of "orders" failed: no lock`,
			`before run listener of "orders" failed: ` + late,
			`after run listener of "orders" failed: panic: oops`,
			`before run listener of "orders" failed: no lock`, // of second 10
			`after run listener of "orders" failed: ` + late,
			`before run listener of "orders" failed: ` + late,
			`after run listener of "orders" failed: panic: oops`,
		}, observed.read())
		require.Equal(t, []string{
			"8s before 1 items",
			"11s after item 0, same true: <nil>, refused false",
			"13s before 1 items",
		}, heard.read())
		record := c.state().Item(0).Record.Value
		require.Equal(t, int64(2), record.Counts.Success)

		began := time.Now()
		i.stop(t) // while a listener is told of the round
		require.Less(t, time.Since(began), 4*time.Second)
		close(forever)
	})
}

// An instance that stops tells its listeners of the rounds that end meanwhile, also of items that are
// given up.
func TestListenersAndAStop(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var heard diary
		forever := make(chan struct{})
		work := func(context.Context, job.ShardingContext) error { <-forever; return nil }
		i := c.launchWith("a", work, nil, []scheduler.JobOption{scheduler.WithListener(heard.listener())}, jobOf(1))
		sleepUntil(6 * time.Second)
		i.cancel()
		require.ErrorContains(t, i.ended(), "given up")
		require.Equal(t, []string{
			"5s before 1 items",
			"27s after item 0, same true: given up: its code did not return after its context was cancelled, refused false",
		}, heard.read())
		close(forever)
	})
}

// Items whose session is lost while they wait for a listener do not run any more.
func TestAListenerThatOutlivesTheSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := job.ListenerFuncs{Before: func(context.Context, job.Round) error { time.Sleep(10 * time.Second); return nil }}
		cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 1}
		i := c.launchWith("a", nil, nil, []scheduler.JobOption{scheduler.WithListener(slow)}, cfg)
		sleepUntil(6 * time.Second)
		i.registry.Cut()
		sleepUntil(20 * time.Second)
		i.registry.Heal()
		sleepUntil(50 * time.Second)
		require.Empty(t, c.take())
	})
}

func TestJobOptionsAreChecked(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer reg.Close(context.Background())
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	_, err = s.Add(t.Context(), jobOf(1), job.HandlerFunc(untilDone), scheduler.WithListener(nil))
	require.ErrorIs(t, err, scheduler.ErrInvalidOption)
}
