package scheduler_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

// When settings change more often than the job's code can be made for them, nothing begins. After ten seconds the job
// pauses and says why, and its items go to a process that is quick enough; when the changes cease, all is as it was.
func TestSettingsChangeFasterThanTheirCodeIsMade(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]bool{"alone": false, "beside one that is quick": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var heard pauses
				var logs logbook
				cfg, slow := jobOf(2), &slowToConfigure{HandlerFunc: c.record("slow", nil)}
				i := c.startCode("slow", slow, cfg, scheduler.WithObserver(&heard), scheduler.WithLogger(slog.New(&logs)))
				if beside {
					c.start("quick", nil, cfg)
				}
				slow.takes.Store(int64(3 * time.Second))
				sleepUntil(6 * time.Second)
				require.Len(t, c.take(), 2)
				change := func(from, until time.Duration) {
					for at := from; at < until; at += 2 * time.Second {
						sleepUntil(at)
						cfg.Description = at.String()
						c.change(cfg)
					}
				}
				change(6*time.Second, 15*time.Second)
				sleepUntil(15900 * time.Millisecond)
				calls, _ := heard.last()
				require.Zero(t, calls, "the code may still come in time")
				require.False(t, jobHealth(t, i, "orders").LeftToOthers)
				change(16*time.Second, 45*time.Second)
				sleepUntil(45 * time.Second)
				calls, why := heard.last()
				require.Equal(t, 1, calls)
				require.ErrorIs(t, why, scheduler.ErrNotReturned)
				const says = "Configure has not returned in time: 10s, in which it was asked anew"
				require.Contains(t, jobHealth(t, i, "orders").Config, says)
				require.Equal(t, 1, logs.of("job pauses: its configuration cannot be used"))
				require.Equal(t, beside, jobHealth(t, i, "orders").LeftToOthers)
				runs := c.take()
				if !beside {
					require.Empty(t, runs)
				} else {
					require.Len(t, runs, 7+8, "every fire, those of 10 s and 15 s of the item that moved as one")
				}

				sleepUntil(48 * time.Second)
				require.Empty(t, jobHealth(t, i, "orders").Config)
				calls, why = heard.last()
				require.Equal(t, 2, calls)
				require.NoError(t, why)
				c.take()
				sleepUntil(51 * time.Second)
				require.Len(t, c.take(), 2)
				require.False(t, jobHealth(t, i, "orders").LeftToOthers)
			})
		})
	}
}

// slowStrategy is the option of a strategy "SLOW" that answers as the default one does, and takes its time.
func slowStrategy(t *testing.T, takes func(sharding.Request) time.Duration) scheduler.Option {
	t.Helper()
	average, err := sharding.Default().Lookup("")
	require.NoError(t, err)
	strategies := sharding.Default()
	require.NoError(t, strategies.Register("SLOW", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
		select {
		case <-time.After(takes(r)):
		case <-t.Context().Done():
		}
		return average.Assign(r)
	})))
	return scheduler.WithStrategies(strategies)
}

func twoSeconds(sharding.Request) time.Duration { return 2 * time.Second }

// slowlySpread is a job whose strategy is slow.
func slowlySpread(total int) job.Config {
	cfg := jobOf(total)
	cfg.ShardingStrategy = "SLOW"
	return cfg
}

// However often instances come and go while a slow strategy is asked, the items of one that has gone get an owner by
// its first answer whose instances all live.
func TestInstancesComeAndGoFasterThanAStrategyAnswers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg, option := slowlySpread(6), []scheduler.Option{slowStrategy(t, twoSeconds)}
		a := c.startWith("a", nil, option, cfg)
		c.startWith("b", nil, option, cfg)
		gone := c.startWith("c", nil, option, cfg)
		sleepUntil(10 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 2, fullID("b"): 2, fullID("c"): 2}, c.owners())
		gone.stop(t)
		begun := time.Now()
		for n := range 10 { // each of which comes for a second and a half
			time.Sleep(1500 * time.Millisecond)
			d := c.startWith(fmt.Sprint("d", n), nil, option, cfg)
			time.Sleep(1500 * time.Millisecond)
			if n > 0 {
				owners := c.owners()
				require.Equal(t, 6, owners[fullID("a")]+owners[fullID("b")], "%s after c has gone: %v", time.Since(begun), owners)
			}
			d.stop(t)
		}
		time.Sleep(5 * time.Second)
		require.Empty(t, jobHealth(t, a, "orders").Sharding)
		require.Equal(t, map[string]int{fullID("a"): 3, fullID("b"): 3}, c.owners())
	})
}

// An instance that joins while a strategy is asked for the items of one that has gone does not wait longer than it is
// asked.
func TestOneJoinsWhileAStrategyIsAskedForTheItemsOfAnother(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg, option := slowlySpread(6), []scheduler.Option{slowStrategy(t, twoSeconds)}
		c.startWith("a", nil, option, cfg)
		b := c.startWith("b", nil, option, cfg)
		sleepUntil(10 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 3, fullID("b"): 3}, c.owners())
		b.stop(t)
		sleepUntil(11 * time.Second)
		c.startWith("c", nil, option, cfg)
		sleepUntil(12500 * time.Millisecond)
		require.Equal(t, map[string]int{fullID("a"): 6}, c.owners())
		sleepUntil(14500 * time.Millisecond)
		require.Equal(t, map[string]int{fullID("a"): 3, fullID("c"): 3}, c.owners())
	})
}

// Where each answer of a slow strategy comes too late, as one of its instances has gone by then, the leader says so after ten
// seconds.
func TestNoAnswerOfAStrategyComesInTime(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var logs logbook
		cfg, option := slowlySpread(6), slowStrategy(t, twoSeconds)
		a := c.startWith("a", nil, []scheduler.Option{option, scheduler.WithLogger(slog.New(&logs))}, cfg)
		last := c.startWith("b", nil, []scheduler.Option{option}, cfg)
		sleepUntil(10 * time.Second)
		for n := range 20 {
			next := c.startWith(fmt.Sprint("c", n), nil, []scheduler.Option{option}, cfg)
			last.stop(t)
			last = next
			time.Sleep(1500 * time.Millisecond)
		}
		require.Contains(t, jobHealth(t, a, "orders").Sharding, "the strategy has not returned in time: 10s, in which it was asked anew")
		require.Equal(t, 1, logs.of("items stay where they are: the sharding strategy gave no assignment"))
		time.Sleep(5 * time.Second)
		require.Empty(t, jobHealth(t, a, "orders").Sharding)
		require.Equal(t, map[string]int{fullID("a"): 3, fullID("c19"): 3}, c.owners())
	})
}

// That several instances come within moments, each of which has the strategy asked anew, is no sign that it never answers.
func TestManyInstancesComeWhileAStrategyIsAsked(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var logs logbook
		cfg, option := slowlySpread(8), slowStrategy(t, twoSeconds)
		a := c.startWith("a", nil, []scheduler.Option{option, scheduler.WithLogger(slog.New(&logs))}, cfg)
		sleepUntil(10 * time.Second)
		for n := range 7 {
			c.startWith(fmt.Sprint("c", n), nil, []scheduler.Option{option}, cfg)
			time.Sleep(200 * time.Millisecond)
			require.Empty(t, jobHealth(t, a, "orders").Sharding, "instance %d", n)
		}
		time.Sleep(8 * time.Second)
		require.Empty(t, jobHealth(t, a, "orders").Sharding)
		require.Zero(t, logs.of("items stay where they are: the sharding strategy gave no assignment"))
		require.Len(t, c.owners(), 8)
	})
}
