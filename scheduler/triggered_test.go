package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

var ofOrders = jobtree.For("orders")

// triggeredText is a request as an operator's tool writes it.
func triggeredText(t *testing.T, request jobtree.Triggered) string {
	t.Helper()
	text, err := jobtree.EncodeTriggered(request)
	require.NoError(t, err)
	return text
}

// triggerByValue asks one instance as the Java console does, and as operators did before there was a node for it.
func triggerByValue(t *testing.T, c *cluster, id string) {
	t.Helper()
	operator := c.server.Open("test")
	_, err := operator.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Update(ofOrders.Instance(fullID(id)), "TRIGGER")}})
	require.NoError(t, err)
	require.NoError(t, operator.Close(t.Context()))
}

func TestATriggerOfItemsWithAParameterAndAFire(t *testing.T) {
	t.Parallel()
	for _, monitored := range []bool{true, false} {
		inBubble(t, func(t *testing.T, c *cluster) {
			cfg := jobOf(4)
			cfg.Unmonitored = !monitored
			a := c.start("a", nil, cfg)
			c.start("b", nil, cfg)
			sleepUntil(6 * time.Second)
			c.take()
			before := c.state().Item(1).Record.Value.LastFire
			fire := midnight().Add(-time.Hour)
			request, err := ordersOf(t, a).Trigger(t.Context(), scheduler.TriggerItems(3, 1, 3), scheduler.TriggerParameter("k=1"), scheduler.TriggerFire(fire))
			require.NoError(t, err)
			sleepUntil(7 * time.Second)
			runs := c.take()
			require.Len(t, runs, 2)
			for i, r := range runs {
				require.Equal(t, []int{1, 3}[i], r.sc.Item)
				require.Equal(t, job.Manual, r.sc.Source)
				require.Equal(t, "k=1", r.sc.TriggerParameter)
				require.Equal(t, request.Number(), r.sc.Trigger)
				require.True(t, fire.Equal(r.sc.Fire))
			}
			if monitored {
				done, err := request.Wait(t.Context())
				require.NoError(t, err)
				require.Len(t, done, 2)
				require.Equal(t, []int{1, 3}, []int{done[0].Item, done[1].Item})
				require.Equal(t, before, c.state().Item(1).Record.Value.LastFire, "the schedule is left alone")
			}
			sleepUntil(11 * time.Second)
			for _, r := range c.take() {
				require.Equal(t, job.Scheduled, r.sc.Source)
				require.Empty(t, r.sc.TriggerParameter)
				require.Zero(t, r.sc.Trigger)
			}
		})
	}
}

func TestATriggerThatTheJobCannotDo(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(2))
		put(t, c.server, ofOrders.ItemDisabled(1), "")
		sleepUntil(time.Second)
		for want, option := range map[string]scheduler.TriggerOption{
			`Items "2" must be from 0 to 1`:  scheduler.TriggerItems(2),
			`Items "-1" must be from 0 to 1`: scheduler.TriggerItems(-1),
			`Items "1" must be enabled`:      scheduler.TriggerItems(0, 1),
		} {
			_, err := ordersOf(t, a).Trigger(t.Context(), option)
			require.ErrorContains(t, err, want)
		}
		for want, option := range map[string]scheduler.TriggerOption{
			`no items are named`:                               scheduler.TriggerItems(),
			`within 0s must be positive`:                       scheduler.TriggerWithin(0),
			`a parameter of 2049 bytes must have at most 2048`: scheduler.TriggerParameter(string(make([]byte, 2_049))),
		} {
			_, err := ordersOf(t, a).Trigger(t.Context(), option)
			require.ErrorContains(t, err, want)
			require.ErrorIs(t, err, scheduler.ErrInvalidOption)
		}
		put(t, c.server, ofOrders.Server("10.0.0.1"), "DISABLED")
		sleepUntil(2 * time.Second)
		_, err := ordersOf(t, a).Trigger(t.Context())
		require.ErrorIs(t, err, scheduler.ErrNoInstance, "all servers are disabled")
		sleepUntil(time.Minute)
		require.Empty(t, c.take())
	})
}

// An instance dies between a request and its begin: whoever has the item next runs it, once.
func TestATriggerWhoseRunnerDiesFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(2))
		b := c.start("b", nil, yearly(2))
		sleepUntil(time.Second)
		b.registry.Cut() // it does not see the request
		request, err := ordersOf(t, a).Trigger(t.Context(), scheduler.TriggerParameter("x"))
		require.NoError(t, err)
		b.crash(t)
		runs, err := request.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{fullID("a"), fullID("a")}, []string{runs[0].Instance, runs[1].Instance})
		for _, r := range c.take() {
			require.Equal(t, "x", r.sc.TriggerParameter)
		}
		c.start("c", nil, yearly(2))
		sleepUntil(10 * time.Minute)
		require.Empty(t, c.take(), "once, wherever the items go")
	})
}

// The rerun of a run by hand has its parameter and its fire.
func TestFailoverOfATriggeredRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := yearly(1)
		cfg.Failover = true
		both := map[string]*instance{"a": c.start("a", took(time.Minute), cfg), "b": c.start("b", took(time.Minute), cfg)}
		sleepUntil(time.Second)
		runner, other := "a", "b"
		if c.state().Owner(0) == fullID("b") {
			runner, other = "b", "a"
		}
		fire := midnight().Add(-24 * time.Hour)
		request, err := ordersOf(t, both[other]).Trigger(t.Context(), scheduler.TriggerParameter("x"), scheduler.TriggerFire(fire))
		require.NoError(t, err)
		sleepUntil(2 * time.Second)
		// By the time of the rerun there is another request; all comes from the record.
		_, err = ordersOf(t, both[other]).Trigger(t.Context(), scheduler.TriggerParameter("later"))
		require.NoError(t, err)
		both[runner].crash(t)
		runs, err := request.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, fullID(other), runs[0].Instance)
		sleepUntil(10 * time.Minute)
		var told []string
		for _, r := range c.take() {
			if r.instance == other {
				told = append(told, fmt.Sprint(r.sc.Source, " ", r.sc.TriggerParameter, " ", r.sc.Fire.Equal(fire), " ", r.sc.Trigger == request.Number()))
			}
		}
		require.Equal(t, []string{"failover x true true", "manual later false false"}, told)
	})
}

// Two requests at once: one is made, the other one sees it.
func TestTwoTriggersAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(10 * time.Second); return nil }
		a, b := c.start("a", slow, yearly(1)), c.start("b", slow, yearly(1))
		sleepUntil(time.Second)
		trigger(t, a)
		sleepUntil(2 * time.Second) // it runs, so what comes now is pending
		errs := make(chan error, 2)
		for _, i := range []*instance{a, b} {
			go func() {
				_, err := ordersOf(t, i).Trigger(t.Context())
				errs <- err
			}()
		}
		first, second := <-errs, <-errs
		if first != nil {
			first, second = second, first
		}
		require.NoError(t, first)
		require.ErrorIs(t, second, scheduler.ErrTriggerPending)
		sleepUntil(time.Minute)
		require.Len(t, c.take(), 2)
	})
}

// A request whose answer is lost is repeated, and a late copy of it comes to nothing.
func TestATriggerThatIsCarriedOutTwice(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(1))
		sleepUntil(time.Second)
		for range 2 { // the first creates the node, the second replaces it
			a.registry.LoseAnswers(1)
			trigger(t, a)
			time.Sleep(time.Minute)
			require.Len(t, c.take(), 1)
		}
	})
}

// What has not begun before a request ends does not run for it.
func TestATriggerThatIsOver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(10 * time.Minute); return nil }
		a := c.start("a", slow, yearly(3))
		trigger(t, a) // all of them run
		sleepUntil(time.Second)
		request, err := ordersOf(t, a).Trigger(t.Context(), scheduler.TriggerWithin(time.Minute))
		require.NoError(t, err)
		put(t, c.server, ofOrders.ItemDisabled(2), "")
		runs, err := request.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, []scheduler.ItemRun{
			{Item: 0, Skipped: scheduler.SkipOver}, {Item: 1, Skipped: scheduler.SkipOver}, {Item: 2, Skipped: scheduler.SkipDisabled},
		}, runs)
		require.Equal(t, 91*time.Second, time.Since(midnight()).Round(time.Second), "when no clock in order lets it begin")
		_, err = ordersOf(t, a).Trigger(t.Context(), scheduler.TriggerWithin(time.Second))
		require.NoError(t, err, "it is not pending any more")
		sleepUntil(time.Hour)
		require.Len(t, c.take(), 3)
	})
}

// An item that waits for a begin which the registry does not take in time does not run after the end of the request.
func TestATriggerThatEndsWhileTheRegistryIsAway(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(1))
		sleepUntil(time.Second)
		a.registry.Cut()
		put(t, c.server, ofOrders.Triggered(), triggeredText(t, jobtree.Triggered{Until: time.Now().Add(2 * time.Second)}))
		sleepUntil(10 * time.Second)
		a.registry.Heal()
		sleepUntil(2 * time.Minute)
		require.Empty(t, c.take())
	})
}

// Items that the job loses or gets do not run for a request; those that come back do not run for it twice.
func TestATriggerAndTheNumberOfItems(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(10 * time.Second); return nil }
		a := c.start("a", slow, yearly(2))
		trigger(t, a)
		sleepUntil(time.Second)
		request, err := ordersOf(t, a).Trigger(t.Context())
		require.NoError(t, err)
		c.change(yearly(1))
		runs, err := request.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "success", runs[0].Outcome)
		require.Equal(t, scheduler.SkipSurplus, runs[1].Skipped)
		sleepUntil(25 * time.Minute) // what is left of item 1 is removed
		c.take()
		c.change(yearly(3))
		sleepUntil(40 * time.Minute)
		require.Empty(t, c.take())
	})
}

// What is said of an item is what it does: of a job that has never run, a request outlives a change of its settings, and
// does not if that may have brought the items.
func TestATriggerOfAJobThatIsChangedBeforeItRuns(t *testing.T) {
	t.Parallel()
	ran := []string{"item 0 fire by hand manual on a", "item 1 fire by hand manual on a"}
	scheduled := []string{"item 0 fire 5s scheduled on a", "item 1 fire 5s scheduled on a"}
	for name, test := range map[string]struct {
		change func(*job.Config)
		undone bool // a second later
		want   []string
	}{
		"its description":      {change: func(c *job.Config) { c.Description = "all orders of a day" }, want: append(ran, scheduled...)},
		"disabled for a while": {change: func(c *job.Config) { c.Disabled = true }, undone: true, want: append(ran, scheduled...)},
		"its items":            {change: func(c *job.Config) { c.ShardingTotalCount = 3 }, want: append(scheduled, "item 2 fire 5s scheduled on a")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(2)
				a := c.start("a", nil, cfg)
				sleepUntil(time.Second)
				a.registry.SetLatency(50 * time.Millisecond)
				go func() {
					time.Sleep(60 * time.Millisecond) // the request is there, and nobody has heard of it
					changed := cfg
					test.change(&changed)
					c.change(changed)
					if test.undone {
						time.Sleep(time.Second)
						c.change(cfg)
					}
				}()
				request, err := ordersOf(t, a).Trigger(t.Context())
				require.NoError(t, err)
				runs, err := request.Wait(t.Context())
				require.NoError(t, err)
				sleepUntil(9 * time.Second)
				for _, run := range runs {
					require.Equal(t, slices.Contains(test.want, ran[run.Item]), run.Skipped == "", "item %d is %s", run.Item, run.Skipped)
				}
				require.ElementsMatch(t, test.want, c.shown())
			})
		})
	}
}

// A request that cannot be read is a pause of requests, and of nothing else.
func TestATriggerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		sleepUntil(time.Second)
		put(t, c.server, ofOrders.Triggered(), "TRIGER")
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on a"}, c.shown())
		trigger(t, a)
		sleepUntil(7 * time.Second)
		require.Equal(t, []string{"item 0 fire by hand manual on a"}, c.shown())
	})
}

// Without records each instance answers for what it has: an item that moves does not run again.
func TestATriggerThatLeavesNoRecord(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := yearly(2)
		cfg.Unmonitored = true
		a := c.start("a", nil, cfg)
		b := c.start("b", nil, cfg)
		sleepUntil(time.Second)
		trigger(t, a)
		sleepUntil(2 * time.Second)
		require.Len(t, c.take(), 2)
		b.stop(t)
		c.start("c", nil, cfg)
		sleepUntil(5 * time.Minute)
		require.Empty(t, c.take())
		trigger(t, a)
		sleepUntil(6 * time.Minute)
		require.Len(t, c.take(), 2)
	})
}

// The values of instances are still understood, and run in their order with the requests of the job.
func TestBothKindsOfTriggers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(10 * time.Second); return nil }
		a := c.start("a", slow, yearly(1))
		trigger(t, a)
		sleepUntil(time.Second)
		_, err := ordersOf(t, a).Trigger(t.Context(), scheduler.TriggerParameter("x"))
		require.NoError(t, err)
		triggerByValue(t, c, "a")
		sleepUntil(time.Minute)
		var parameters []string
		for _, r := range c.take() {
			parameters = append(parameters, r.sc.TriggerParameter)
		}
		require.Equal(t, []string{"", "x", ""}, parameters)
		require.False(t, c.state().Instance(fullID("a")).Triggered)
	})
}

// A whole round by hand is that of the items that are asked for.
func TestAWholeRoundOfSomeItems(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var rounds []job.WholeRound
		done := make(chan job.WholeRound, 10)
		once := job.WholeRoundListener{
			AllCompleted:    func(_ context.Context, r job.WholeRound) error { done <- r; return errors.New("heard") },
			CompletedWithin: time.Minute,
		}
		a := c.startDeclared("a", c.record("a", nil), yearly(4), nil, scheduler.WithWholeRoundListener(once))
		sleepUntil(time.Second)
		request, err := ordersOf(t, a).Trigger(t.Context(), scheduler.TriggerItems(1, 2), scheduler.TriggerFire(midnight().Add(-time.Hour)))
		require.NoError(t, err)
		sleepUntil(2 * time.Second)
		synctest.Wait()
		close(done)
		for r := range done {
			rounds = append(rounds, r)
		}
		require.Len(t, rounds, 1)
		require.Equal(t, request.Number(), rounds[0].Trigger)
		require.Zero(t, rounds[0].Fire)
	})
}

// Where Java instances share the job, they are asked by their own nodes, and each of ours answers for itself.
func TestATriggerAmongJavaInstances(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(4)
		cfg.Cron = "0 0 0 1 7 ?"
		a := c.startShared("a", nil, cfg)
		c.javaJoins(javaID)
		sleepUntil(time.Second)
		_, err := ordersOf(t, a).Trigger(t.Context(), scheduler.TriggerItems(2))
		require.ErrorContains(t, err, "Java instances take part")
		request, err := ordersOf(t, a).Trigger(t.Context())
		require.NoError(t, err)
		sleepUntil(2 * time.Second)
		require.Equal(t, []string{"item 2 fire by hand manual on a", "item 3 fire by hand manual on a"}, c.shown())
		require.Equal(t, registry.Revision(request.Number()), c.state().Instance(javaID).Revision)
		require.True(t, c.state().Instance(javaID).Triggered)
		require.False(t, c.state().Instance(fullID("a")).Triggered)
	})
}
