package operate_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// everyFive are fires of the job.
func everyFive(n int) (fires []time.Time) {
	for i := range n {
		fires = append(fires, time.Date(1999, 12, 31, 20, 5*i, 0, 0, time.UTC))
	}
	return fires
}

// answering runs the items of each trigger that comes, until the test ends, and tells the fires.
func (g *ground) answering(outcome func(fire time.Time) jobtree.Outcome) func() []time.Time {
	var mu sync.Mutex
	var fires []time.Time
	ctx, cancel := context.WithCancel(context.Background())
	view, err := g.registry.View(ctx, nodes.Root())
	require.NoError(g, err)
	last := view.Snapshot().Get(nodes.Triggered()).Revision
	lasting := *g // what has begun is written to its end, also as the test ends
	lasting.life = context.Background()
	ended := make(chan struct{})
	g.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		for {
			now, err := view.WaitFor(ctx, func(s registry.Snapshot) bool { return s.Get(nodes.Triggered()).Revision > last })
			if err != nil {
				return
			}
			n := now.Get(nodes.Triggered())
			last = n.Revision
			asked, _ := jobtree.DecodeTriggered(n)
			mu.Lock()
			fires = append(fires, asked.Fire)
			mu.Unlock()
			time.Sleep(time.Second)
			items, outcomes := asked.Items, make(map[int]jobtree.Outcome)
			if len(items) == 0 {
				items = []int{0, 1, 2, 3}
			}
			for _, item := range items { // and no others: nobody waits for these
				outcomes[item] = outcome(asked.Fire)
			}
			lasting.runs(outcomes) //nolint:contextcheck // see above
		}
	}()
	return func() []time.Time { mu.Lock(); defer mu.Unlock(); return append([]time.Time(nil), fires...) }
}

func succeed(time.Time) jobtree.Outcome { return jobtree.Success }

// A fire whose items fail stops the backfill that asked for it, also if the answer to that was lost.
func TestAFailedFireWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ran := g.answering(func(time.Time) jobtree.Outcome { return jobtree.Failure })
		g.overtaken(func() {})
		r, err := g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, silent())
		var failed *operate.ItemsFailedError
		require.ErrorAs(t, err, &failed)
		require.Len(t, failed.Items, 4)
		require.Equal(t, everyFive(1), ran())
		require.Len(t, r.Done, 1)
		require.Len(t, r.Left, 2)
	})
}

func TestFiresAreBackfilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ran := g.answering(succeed)
		fires, err := g.op.Fires(ctx, theJob, everyFive(1)[0], everyFive(20)[19])
		require.NoError(t, err)
		require.Equal(t, everyFive(20), fires)
		settings, err := g.op.ChangeSettings(ctx, theJob, change(func(c *job.Config) { c.Description = "x" }), silent())
		require.NoError(t, err)
		fires[0], fires[7] = fires[7], fires[0]
		r, err := g.op.Backfill(ctx, theJob, fires, operate.Trigger{Parameter: "again"}, because("outage"))
		require.NoError(t, err)
		require.Len(t, r.Done, 20)
		require.Empty(t, r.Left)
		require.Equal(t, everyFive(20), ran(), "in order")
		operations := g.operated().Operations
		require.Len(t, operations, 2, "a backfill is one operation, however many fires it has")
		require.Equal(t, settings.ID, operations[0].ID)
		require.Equal(t, "fire 1999-12-31T21:35:00Z", operations[1].Target)

		require.Zero(t, r.MayHaveRun)

		dry := operate.Options{DryRun: true}
		plan, err := g.op.Backfill(ctx, theJob, append(fires, everyFive(21)[20]), operate.Trigger{}, dry)
		require.NoError(t, err)
		require.Equal(t, operate.MayHaveRun{Fires: 20, Last: everyFive(20)[19]}, plan.MayHaveRun, "what has run is run again")
		plan, err = g.op.Backfill(ctx, theJob, fires, operate.Trigger{Parameter: "again"}, operate.Options{DryRun: true, ID: r.ID})
		require.NoError(t, err)
		require.Zero(t, plan.MayHaveRun, "not under the same id")

		again, err := g.op.Backfill(ctx, theJob, append(fires, everyFive(21)[20]), operate.Trigger{Parameter: "again"}, operate.Options{ID: r.ID})
		require.NoError(t, err)
		require.Empty(t, again.Left)
		require.Equal(t, everyFive(21), ran(), "what was done is not done again")
	})
}

// The caller dies in the middle, and another goes on with the id.
func TestABackfillIsGoneOnWith(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ran := g.answering(succeed)
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		r, err := g.op.Backfill(ctx, theJob, everyFive(6), operate.Trigger{}, operate.Options{ID: "night"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, everyFive(6)[3:], r.Left, "the fourth is under way")
		r, err = g.operator("bert").Backfill(t.Context(), theJob, everyFive(6), operate.Trigger{}, operate.Options{ID: "night"})
		require.NoError(t, err)
		require.Empty(t, r.Left)
		require.Equal(t, everyFive(6), ran(), "each once")
	})
}

func TestABackfillStopsWhereAnItemFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ran := g.answering(func(fire time.Time) jobtree.Outcome {
			return map[bool]jobtree.Outcome{true: jobtree.Failure, false: jobtree.Success}[fire.Equal(everyFive(2)[1])]
		})
		r, err := g.op.Backfill(t.Context(), theJob, everyFive(4), operate.Trigger{}, silent())
		var failed *operate.ItemsFailedError
		require.ErrorAs(t, err, &failed)
		require.Len(t, failed.Items, 4)
		require.Contains(t, err.Error(), "fire 1999-12-31T20:05:00Z: item 0 failed (exit 3), item 1 failed (exit 3)")
		require.Equal(t, everyFive(4)[2:], r.Left)
		require.Equal(t, everyFive(2), ran())
	})
}

// An item that failed does not keep a backfill from being gone on with.
func TestABackfillIsGoneOnWithBehindAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ran := g.answering(func(fire time.Time) jobtree.Outcome {
			return map[bool]jobtree.Outcome{true: jobtree.Failure, false: jobtree.Success}[fire.Equal(everyFive(2)[1])]
		})
		var failed *operate.ItemsFailedError
		_, err := g.op.Backfill(t.Context(), theJob, everyFive(4), operate.Trigger{}, operate.Options{ID: "night"})
		require.ErrorAs(t, err, &failed)
		r, err := g.op.Backfill(t.Context(), theJob, everyFive(4), operate.Trigger{}, operate.Options{ID: "night"})
		require.ErrorAs(t, err, &failed, "it is told once more")
		require.Empty(t, r.Left)
		require.Equal(t, everyFive(4), ran(), "each once")
		r, err = g.op.Backfill(t.Context(), theJob, everyFive(4), operate.Trigger{}, operate.Options{ID: "night"})
		require.NoError(t, err)
		require.Empty(t, r.Left)
	})
}

// A fire that another trigger has taken the place of is not said to have run, however the next one ends.
func TestABackfillThatWasReplaced(t *testing.T) {
	t.Parallel()
	byOperator := func(g *ground) {
		require.NoError(g, errOf(g.operator("bert").Trigger(g.Context(), theJob, operate.Trigger{Replace: true}, waiting())))
	}
	for name, row := range map[string]struct {
		next    jobtree.Outcome
		replace func(*ground)
	}{
		"the next one succeeds": {jobtree.Success, byOperator},
		"the next one fails":    {jobtree.Failure, byOperator},
		"by none that is written down": {jobtree.Success, func(g *ground) {
			g.do(registry.Put(nodes.Triggered(), `{"until":"2000-01-01T01:00:00Z"}`))
			time.Sleep(2 * time.Second) // until it has run
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newGround(t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := g.op.Backfill(ctx, theJob, everyFive(2), operate.Trigger{}, operate.Options{ID: "night"})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				ran := g.answering(func(fire time.Time) jobtree.Outcome {
					if fire.Equal(everyFive(2)[1]) {
						return row.next
					}
					return jobtree.Success
				})
				row.replace(g)
				r, err := g.op.Backfill(t.Context(), theJob, everyFive(2), operate.Trigger{}, operate.Options{ID: "night"})
				require.ErrorIs(t, err, operate.ErrReplaced)
				require.ErrorContains(t, err, "fire 1999-12-31T20:00:00Z: another trigger has taken its place")
				var failed *operate.ItemsFailedError
				require.Equal(t, row.next == jobtree.Failure, errors.As(err, &failed))
				require.Empty(t, r.Left)
				require.Equal(t, everyFive(2)[1], ran()[1], "and the next one has run")
			})
		})
	}
}

// An id is that of one backfill: with an earlier fire or other items it is not gone on with, which would say of them that
// they have run.
func TestTheIDOfAnotherBackfill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ran := g.answering(succeed)
		night := operate.Options{ID: "night"}
		fires, items := everyFive(6), []int{0, 1}
		require.NoError(t, errOf(g.op.Backfill(t.Context(), theJob, fires[2:4], operate.Trigger{Items: items}, night)))
		for i, row := range []struct {
			fires []time.Time
			items []int
		}{
			{fires[:2], items}, {fires[:4], items}, {fires[1:], items}, {fires[2:4], nil}, {fires[2:4], []int{1}},
		} {
			for _, dry := range []bool{true, false} {
				r, err := g.op.Backfill(t.Context(), theJob, row.fires, operate.Trigger{Items: row.items}, operate.Options{ID: "night", DryRun: dry})
				g.refused(operate.CauseUsed, err)
				require.Len(t, r.Left, len(row.fires), "row %d", i)
			}
		}
		require.Len(t, ran(), 2)
		slices.Reverse(items)
		require.NoError(t, errOf(g.op.Backfill(t.Context(), theJob, fires[3:5], operate.Trigger{Items: items}, night)), "with what is left")
		require.NoError(t, errOf(g.op.Backfill(t.Context(), theJob, fires[2:6], operate.Trigger{Items: items}, night)), "with all of it, and more")
		require.Equal(t, fires[2:6], ran())
	})
}

// Whoever corrects the parameter and asks again with the id is not told that fires have run which ran with the former one.
func TestTheIDOfABackfillWithAnotherParameter(t *testing.T) {
	t.Parallel()
	for _, fires := range [][]time.Time{everyFive(1), everyFive(3)} {
		synctest.Test(t, func(t *testing.T) {
			g := newGround(t)
			outcome := jobtree.Failure
			ran := g.answering(func(time.Time) jobtree.Outcome { return outcome })
			with := func(parameter string, opts operate.Options) (operate.BackfillResult, error) {
				opts.ID = "night"
				return g.op.Backfill(t.Context(), theJob, fires, operate.Trigger{Parameter: parameter}, opts)
			}
			failed := (*operate.ItemsFailedError)(nil)
			require.ErrorAs(t, errOf(with("target=old", operate.Options{})), &failed)
			outcome = jobtree.Success
			for _, other := range []string{"target=new", ""} {
				for _, dry := range []bool{false, true} {
					r, err := with(other, operate.Options{DryRun: dry})
					require.Contains(t, g.refused(operate.CauseUsed, err).Error(), "was done, with another parameter")
					require.NotContains(t, err.Error(), "target")
					require.Len(t, r.Left, len(fires))
				}
			}
			require.Len(t, ran(), 1)
			r, err := with("target=old", operate.Options{})
			require.ErrorAs(t, err, &failed, "it says once more what failed before")
			require.Empty(t, r.Left)
			require.Equal(t, fires, ran())
		})
	}
}

func TestBackfillsThatAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		fire := everyFive(1)[0]
		for says, fires := range map[string][]time.Time{
			"there are no fires":            nil,
			"is named twice":                {fire, fire},
			"lies in the future":            {time.Date(2000, 1, 1, 0, 5, 0, 0, time.UTC)},
			"is no fire of the schedule":    {fire.Add(time.Second)},
			"1001 fires are more than 1000": everyFive(1001)[:1001],
		} {
			_, err := g.op.Backfill(t.Context(), theJob, fires, operate.Trigger{}, silent())
			require.Contains(t, g.refused(operate.CauseInvalid, err).Error(), says)
		}
		for cron, says := range map[string]string{"@triggered": "only when it is triggered; trigger it", "@delay 1m": "a while after its last run"} {
			other := "other" + cron[:2]
			require.NoError(t, errOf(g.op.Create(t.Context(), job.Config{Name: other, Cron: cron, ShardingTotalCount: 1}, silent())))
			_, err := g.op.Backfill(t.Context(), other, nil, operate.Trigger{}, silent())
			require.Contains(t, g.refused(operate.CauseInvalid, err).Error(), says)
		}
		g.refused(operate.CauseUnknownJob, errOf(g.op.Backfill(t.Context(), "nobody", everyFive(1), operate.Trigger{}, silent())))
		require.NoError(t, errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())))
		g.refused(operate.CausePending, errOf(g.op.Backfill(t.Context(), theJob, everyFive(1), operate.Trigger{}, silent())))
		g.refused(operate.CauseInvalid, errOf(g.op.Fires(t.Context(), theJob, fire, fire.Add(24*365*time.Hour))))
		r, err := g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{Replace: true}, operate.Options{DryRun: true})
		pending := g.refused(operate.CausePending, err)
		require.False(t, pending.Replaceable)
		require.Equal(t, "wait for it", pending.Do)
		require.Len(t, r.Left, 3)
	})
}

// Two operators see the same gap. The second one has agreed to run what nobody has run, and runs nothing that the first one
// has run meanwhile, be it all at once or while the second one goes on.
func TestTwoBackfillsOfOneGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ran := g.answering(succeed)
		bert := g.operator("bert")
		shown, err := bert.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{DryRun: true})
		require.NoError(t, err)
		require.Zero(t, shown.MayHaveRun)
		agreed := operate.Options{ShownRuns: &shown.MayHaveRun}
		_, err = g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, agreed)
		require.NoError(t, err)

		r, err := bert.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, agreed)
		refusal := g.refused(operate.CauseStale, err)
		require.Contains(t, refusal.Error(), "which of 3 fires may have run none -> 3, those up to 1999-12-31T20:10:00Z")
		require.Len(t, r.Left, 3)
		require.Equal(t, everyFive(3), ran())

		shown, err = bert.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{DryRun: true})
		require.NoError(t, err)
		again := operate.Options{ShownRuns: &shown.MayHaveRun}
		_, err = bert.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, again)
		require.NoError(t, err, "who has agreed to that runs them")
		require.Len(t, ran(), 6)
	})
}

// The schedule goes on during a backfill: that it is past a fire is no sign that this ran. Another backfill is.
func TestABackfillGoesOnBesideTheSchedule(t *testing.T) {
	t.Parallel()
	for _, another := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := newGround(t)
			ran := g.answering(succeed)
			third := attempt{after: 2}
			third.ahead(g, func(txn registry.Txn) registry.Txn {
				if another {
					_, err := g.operator("bert").Backfill(t.Context(), theJob, everyFive(4)[3:], operate.Trigger{}, silent())
					require.NoError(t, err)
					return txn
				}
				record := g.tree().Item(0).Record.Value
				record.LastFire = everyFive(5)[4]
				g.do(registry.Put(nodes.ItemRecord(0), jobtree.EncodeRecord(record)))
				return txn
			})
			r, err := g.op.Backfill(t.Context(), theJob, everyFive(4), operate.Trigger{}, operate.Options{ShownRuns: &operate.MayHaveRun{}})
			require.Len(t, ran(), 4)
			if !another {
				require.NoError(t, err)
				return
			}
			g.refused(operate.CauseStale, err)
			require.Equal(t, everyFive(4)[3:], r.Left)
		})
	}
}

// A backfill whose job somebody disables ends at once, and goes on under its id when the job is enabled.
func TestABackfillOfAJobThatIsDisabledMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			_, err := g.operator("bert").DisableJob(g.Context(), theJob, silent())
			require.NoError(t, err)
		}()
		r, err := g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{ID: "fill"})
		require.ErrorContains(t, err, "the job was disabled (by bert")
		require.Len(t, r.Left, 3)
		require.Equal(t, time.Second, time.Since(began))
		require.NoError(t, errOf(g.op.EnableJob(t.Context(), theJob, silent())))
		g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 1: jobtree.Success, 2: jobtree.Success, 3: jobtree.Success})
		ran := g.answering(succeed)
		_, err = g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{ID: "fill"})
		require.NoError(t, err)
		require.Equal(t, everyFive(3)[1:], ran())
	})
}

// unrecorded makes the job one whose executions are not recorded.
func (g *ground) unrecorded() {
	g.Helper()
	g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Failover, c.Unmonitored = false, true })))
}

// Where executions are not recorded nobody sees when a fire has run, so the next one would take its place before it has begun.
func TestABackfillWhoseEndNobodySees(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.unrecorded()
		for _, opts := range []operate.Options{{}, {DryRun: true}} {
			r, err := g.op.Backfill(t.Context(), theJob, everyFive(2), operate.Trigger{}, opts)
			refusal := g.refused(operate.CauseInvalid, err)
			require.Contains(t, refusal.Why, "executions are not recorded")
			require.Contains(t, refusal.Do, "one by one")
			require.Equal(t, everyFive(2), r.Left)
		}
		require.False(t, g.node(nodes.Triggered()).Exists())

		// One is asked for alone. Another under its id, as whoever drives fire by fire asks for it, is not.
		fill := operate.Options{ID: "fill"}
		r, err := g.op.Backfill(t.Context(), theJob, everyFive(1), operate.Trigger{}, fill)
		require.NoError(t, err)
		require.Equal(t, 1, r.Unseen())
		r, err = g.op.Backfill(t.Context(), theJob, everyFive(2)[1:], operate.Trigger{}, fill)
		g.refused(operate.CauseInvalid, err)
		require.Empty(t, r.Done)
	})
}

// The executions of a job are not recorded any more while a fire is under way, or between two: what is left is not said to have
// run.
func TestABackfillOfAJobThatBecomesUnrecorded(t *testing.T) {
	t.Parallel()
	t.Run("while a fire is under way", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newGround(t)
			go func() {
				time.Sleep(time.Second)
				g.unrecorded()
			}()
			r, err := g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{ID: "fill"})
			var unconfirmed *operate.UnconfirmedError
			require.ErrorAs(t, err, &unconfirmed)
			require.ErrorContains(t, err, "not recorded any more")
			require.Empty(t, r.Done)
			require.Equal(t, everyFive(3), r.Left)
			_, err = g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{ID: "fill"})
			g.refused(operate.CauseInvalid, err)

			g.do(registry.Put(nodes.Config(), g.text(nil)))
			g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 1: jobtree.Success, 2: jobtree.Success, 3: jobtree.Success})
			ran := g.answering(succeed)
			r, err = g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{ID: "fill"})
			require.NoError(t, err)
			require.Empty(t, r.Left)
			require.Equal(t, everyFive(3)[1:], ran())
		})
	})
	t.Run("between two fires", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newGround(t)
			ran := g.answering(succeed)
			second := attempt{after: 1}
			second.ahead(g, func(txn registry.Txn) registry.Txn { g.unrecorded(); return txn })
			r, err := g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, silent())
			g.refused(operate.CauseInvalid, err)
			require.Len(t, r.Done, 1)
			require.Equal(t, everyFive(3)[1:], r.Left)
			require.Equal(t, everyFive(1), ran())
		})
	})
	t.Run("before the last fire", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newGround(t)
			ran := g.answering(succeed)
			_, err := g.op.Backfill(t.Context(), theJob, everyFive(1), operate.Trigger{}, operate.Options{ID: "fill"})
			require.NoError(t, err)
			g.unrecorded()
			for _, dry := range []bool{true, false} {
				r, err := g.op.Backfill(t.Context(), theJob, everyFive(2), operate.Trigger{}, operate.Options{ID: "fill", DryRun: dry})
				g.refused(operate.CauseInvalid, err)
				require.Equal(t, everyFive(2), r.Left)
			}
			_, err = g.op.Backfill(t.Context(), theJob, everyFive(1), operate.Trigger{}, operate.Options{ID: "fill"})
			var unconfirmed *operate.UnconfirmedError
			require.ErrorAs(t, err, &unconfirmed, "what was asked for before is not refused")
			require.Equal(t, everyFive(1), ran())
		})
	})
}

// A disabled item does not run for the fires of a backfill, which says so before and after, and promises no run that the next
// fire takes away.
func TestABackfillBesideADisabledItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.do(registry.Put(nodes.ItemDisabled(1), ""))
		dry, err := g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{DryRun: true})
		require.NoError(t, err)
		require.Equal(t, []string{"item 1 is disabled, and runs for none of the fires until it is enabled"}, dry.Warnings)
		run := func(outcome jobtree.Outcome) { g.runs(map[int]jobtree.Outcome{0: outcome, 2: outcome, 3: outcome}) }
		last := make(chan struct{})
		go func() {
			defer close(last)
			for range 3 {
				time.Sleep(time.Second) // until the next is asked for
				run(jobtree.Success)
			}
		}()
		r, err := g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{})
		<-last
		require.NoError(t, err)
		disabled, always := r.Disabled()
		require.Equal(t, []int{1}, disabled)
		require.True(t, always)
		require.Equal(t, "3 of 3 fires have run, but for item 1, which is disabled", r.Summary())
	})
}

// An item that is enabled between two fires runs for the one before, and the next is asked for when it has, whoever asks for
// the next: the same call, or another one with the same id.
func TestAnItemIsEnabledBetweenTwoFires(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]bool{"in one call": true, "fire by fire": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newGround(t)
				g.do(registry.Put(nodes.ItemDisabled(1), ""))
				run := func(items ...int) {
					outcomes := make(map[int]jobtree.Outcome)
					for _, n := range items {
						outcomes[n] = jobtree.Success
					}
					g.runs(outcomes)
				}
				enabled := make(chan struct{})
				enable := func() {
					g.do(registry.Delete(nodes.ItemDisabled(1)))
					close(enabled)
				}
				if one { // as the next fire is about to be asked for
					second := attempt{after: 1}
					second.ahead(g, func(txn registry.Txn) registry.Txn {
						enable()
						txn.If = append(txn.If, registry.Absent(nodes.Config())) // and it is decided anew
						return txn
					})
				}
				last := make(chan struct{})
				go func() {
					defer close(last)
					time.Sleep(time.Second)
					run(0, 2, 3)
					<-enabled
					time.Sleep(time.Minute)
					run(1)
					time.Sleep(time.Second)
					run(0, 1, 2, 3)
				}()
				opts, began := operate.Options{ID: "fill"}, time.Now()
				done := func(fires []time.Time) operate.BackfillResult {
					r, err := g.op.Backfill(t.Context(), theJob, fires, operate.Trigger{}, opts)
					require.NoError(t, err)
					return r
				}
				if one {
					r := done(everyFive(2))
					require.Equal(t, "2 of 2 fires have run", r.Summary())
				} else {
					done(everyFive(2)[:1])
					enable()
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					r, err := g.op.Backfill(ctx, theJob, everyFive(2)[1:], operate.Trigger{}, opts)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.Equal(t, everyFive(2)[1:], r.Left)
					dry, err := g.op.Backfill(t.Context(), theJob, everyFive(2)[1:], operate.Trigger{}, operate.Options{ID: "fill", DryRun: true})
					require.NoError(t, err)
					require.Equal(t, []string{"fire 1999-12-31T20:00:00Z goes on, and is waited for"}, dry.Warnings)
					opts.Again = true // as a client asks that was told what is under way
					require.Equal(t, "1 of 1 fires have run", done(everyFive(2)[1:]).Summary())
				}
				<-last
				require.GreaterOrEqual(t, time.Since(began), time.Minute)
			})
		})
	}
}

// A backfill whose job is to be removed, or moved, between two fires is refused, though an item has still to run for the first:
// nobody knows whether it ever does. A dry run that is refused does not wait either.
func TestABackfillOfAJobThatGoesBetweenTwoFires(t *testing.T) {
	t.Parallel()
	begun := func(t *testing.T, g *ground) {
		t.Helper()
		g.do(registry.Put(nodes.ItemDisabled(1), ""))
		go func() {
			time.Sleep(time.Second)
			g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 2: jobtree.Success, 3: jobtree.Success})
		}()
		_, err := g.op.Backfill(t.Context(), theJob, everyFive(1), operate.Trigger{}, operate.Options{ID: "fill"})
		require.NoError(t, err)
		g.do(registry.Delete(nodes.ItemDisabled(1)))
	}
	for name, row := range map[string]struct {
		goes  func(t *testing.T, g *ground)
		asks  operate.Trigger
		cause operate.Cause
		why   string
		real  bool // only a dry run is refused at once
	}{
		"it is being removed": {
			goes: func(t *testing.T, g *ground) {
				t.Helper()
				g.begin()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				require.ErrorIs(t, errOf(g.op.Remove(ctx, theJob, forced())), context.DeadlineExceeded)
			},
			cause: operate.CausePending, why: "the job is being removed", real: true,
		},
		"it is stopped to be moved": {
			goes: func(t *testing.T, g *ground) {
				t.Helper()
				operated := g.operated()
				operated.Moving = &jobtree.Moving{To: "b", Move: "X", Since: time.Now()}
				stopped := g.text(func(c *job.Config) { c.Disabled = true })
				g.do(registry.Put(nodes.Config(), stopped), registry.Put(nodes.Operated(), jobtree.EncodeOperated(operated)))
			},
			cause: operate.CausePending, why: `to be moved to registry "b"`, real: true,
		},
		"it is asked for with another parameter": {asks: operate.Trigger{Parameter: "x"}, cause: operate.CauseUsed, why: "with another parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newGround(t)
				begun(t, g)
				if row.goes != nil {
					row.goes(t, g)
				}
				began, asked := time.Now(), []operate.Options{{ID: "fill", DryRun: true}}
				if row.real {
					asked = append(asked, operate.Options{ID: "fill"})
				}
				for _, opts := range asked {
					r, err := g.op.Backfill(t.Context(), theJob, everyFive(2)[1:], row.asks, opts)
					require.ErrorContains(t, err, row.why)
					g.refused(row.cause, err)
					require.Equal(t, everyFive(2)[1:], r.Left)
				}
				require.Zero(t, time.Since(began))
			})
		})
	}
}

// An item that is enabled between two fires fails for the first while nobody waits, as between two requests to a server: whoever
// asks again for the second learns it.
func TestAnItemFailsForTheFireBeforeMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.do(registry.Put(nodes.ItemDisabled(1), ""))
		go func() {
			time.Sleep(time.Second)
			g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 2: jobtree.Success, 3: jobtree.Success})
		}()
		require.NoError(t, errOf(g.op.Backfill(t.Context(), theJob, everyFive(1), operate.Trigger{}, operate.Options{ID: "fill"})))
		g.do(registry.Delete(nodes.ItemDisabled(1)))
		second := func(opts operate.Options) (operate.BackfillResult, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			opts.ID = "fill"
			return g.op.Backfill(ctx, theJob, everyFive(2)[1:], operate.Trigger{}, opts)
		}
		require.ErrorIs(t, errOf(second(silent())), context.DeadlineExceeded)
		g.runs(map[int]jobtree.Outcome{1: jobtree.Failure})
		r, err := second(operate.Options{Again: true})
		var failed *operate.ItemsFailedError
		require.ErrorAs(t, err, &failed)
		require.ErrorContains(t, err, "fire 1999-12-31T20:00:00Z: item 1 failed")
		require.Equal(t, everyFive(2)[1:], r.Left)

		ran := g.answering(succeed)
		require.NoError(t, errOf(second(silent())), "whoever goes on knows of it")
		require.Equal(t, everyFive(2)[1:], ran())
	})
}

// A dry run of a backfill that goes on plans the first fire that nobody has asked for.
func TestADryRunOfABackfillThatGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ran := g.answering(succeed)
		_, err := g.op.Backfill(t.Context(), theJob, everyFive(2), operate.Trigger{}, operate.Options{ID: "fill"})
		require.NoError(t, err)
		g.do(registry.Put(nodes.ItemDisabled(1), ""))
		dry, err := g.op.Backfill(t.Context(), theJob, everyFive(3), operate.Trigger{}, operate.Options{ID: "fill", DryRun: true})
		require.NoError(t, err)
		require.Equal(t, []string{"item 1 is disabled, and runs for none of the fires until it is enabled"}, dry.Warnings)
		require.Equal(t, everyFive(3)[2:], dry.Left)
		dry, err = g.op.Backfill(t.Context(), theJob, everyFive(2), operate.Trigger{}, operate.Options{ID: "fill", DryRun: true})
		require.NoError(t, err)
		require.Empty(t, dry.Warnings)
		require.Empty(t, dry.Left)
		require.Equal(t, everyFive(2), ran())
	})
}

// A fire for which no item has run does not count as one that has.
func TestAFireForWhichNothingRan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		go func() {
			time.Sleep(time.Second)
			for item := range 4 {
				g.do(registry.Put(nodes.ItemDisabled(item), ""))
			}
		}()
		r, err := g.op.Backfill(t.Context(), theJob, everyFive(1), operate.Trigger{}, operate.Options{})
		require.NoError(t, err)
		require.Equal(t, 1, r.Idle())
		require.Equal(t, "0 of 1 fires have run; 1 more was asked for and ran nothing, as all items were disabled: ask for it with another id", r.Summary())
	})
}

func TestWhatABackfillSaysAtItsEnd(t *testing.T) {
	t.Parallel()
	fire := func(states ...operate.TriggerState) operate.Result {
		p := operate.Progress{Done: true, Of: len(states)}
		for item, state := range states {
			p.Items = append(p.Items, operate.ItemProgress{Item: item, State: state})
		}
		return operate.Result{Progress: p}
	}
	const ok, disabled = operate.ItemSucceeded, operate.ItemDisabled
	unseen := operate.Result{Progress: operate.Progress{Done: true, Text: "executions are not recorded"}}
	for want, r := range map[string]operate.BackfillResult{
		"1 of 3 fires have run": {Done: []operate.Result{fire(ok, ok)}, Left: everyFive(2)},
		"2 of 2 fires have run, but for items 1-2, which are disabled": {
			Done: []operate.Result{fire(ok, disabled, disabled), fire(ok, disabled, disabled)},
		},
		"3 of 3 fires have run, some of them but for item 0, which was disabled then": {
			Done: []operate.Result{fire(ok, ok), fire(disabled, ok), fire(ok, ok)},
		},
		"1 of 2 fires have run; 1 more was asked for and ran nothing, as all items were disabled: ask for it with another id": {
			Done: []operate.Result{fire(ok, ok), fire(disabled, disabled)},
		},
		"1 of 3 fires have run, but for item 1, which is disabled; 2 more were asked for and ran nothing, as all items were disabled: ask for them with another id": {
			Done: []operate.Result{fire(disabled, disabled), fire(ok, disabled), fire(disabled, disabled)},
		},
		"1 of 1 fires was asked for, and whether they ran cannot be seen, as executions are not recorded": {Done: []operate.Result{unseen}},
		"2 of 2 fires have run, some of them but for item 0, which was disabled then; 1 of them was asked for by an earlier call, which has said what ran": {
			Done: []operate.Result{{Progress: operate.Progress{Done: true, Text: "triggered before"}}, fire(disabled, ok)},
		},
	} {
		require.Equal(t, want, r.Summary())
	}
}
