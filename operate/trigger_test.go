package operate_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// aBase is where the fencing tokens of the job start, as it was moved between registries.
const aBase = 1_000_000

// runs makes items run for the trigger that there is, each to the outcome of its number.
func (g *ground) runs(outcomes map[int]jobtree.Outcome) {
	g.Helper()
	n := g.node(nodes.Triggered())
	asked, err := jobtree.DecodeTriggered(n)
	require.NoError(g, err)
	for item, outcome := range outcomes {
		stored := g.tree().Item(item)
		record, err := stored.Record.Value.Begin(jobtree.Begin{
			Instance: g.tree().Owner(item), Session: 7, Source: job.Manual, Trigger: n.Revision,
			Parameter: asked.Parameter, Fire: asked.Fire, Time: time.Now(), Base: aBase,
		})
		require.NoError(g, err)
		token := int64(g.do(registry.Put(nodes.ItemRecord(item), jobtree.EncodeRecord(record))))
		if outcome == "" {
			continue // it goes on
		}
		record, err = record.End(jobtree.End{Token: token, Time: time.Now().Add(time.Second), Outcome: outcome, Error: map[bool]string{true: "exit 3"}[outcome == jobtree.Failure]})
		require.NoError(g, err)
		g.do(registry.Put(nodes.ItemRecord(item), jobtree.EncodeRecord(record)))
	}
}

func statesOf(p operate.Progress) map[int]operate.TriggerState {
	states := make(map[int]operate.TriggerState)
	for _, it := range p.Items {
		states[it.Item] = it.State
	}
	return states
}

func TestAJobIsTriggered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		go func() {
			time.Sleep(time.Second)
			g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 1: jobtree.Failure, 2: jobtree.Interrupted, 3: ""})
			time.Sleep(time.Second)
			g.end(3)
		}()
		var seen []operate.Progress
		opts := waiting()
		opts.Progress = func(p operate.Progress) { seen = append(seen, p) }
		r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{Parameter: "2026-11"}, opts)
		require.NoError(t, err)
		asked, err := jobtree.DecodeTriggered(g.node(nodes.Triggered()))
		require.NoError(t, err)
		require.Equal(t, jobtree.Triggered{Total: 4, Parameter: "2026-11", Until: r.When.Add(time.Hour), Operation: r.ID}, asked)
		require.Equal(t, g.node(nodes.Triggered()).Revision, r.Revision, "the number of the trigger")
		require.Equal(t, map[int]operate.TriggerState{
			0: operate.ItemSucceeded, 1: operate.ItemFailed, 2: operate.ItemInterrupted, 3: operate.ItemSucceeded,
		}, statesOf(r.Progress))
		failed := r.Progress.Failed()
		require.Len(t, failed, 2)
		require.Equal(t, "exit 3", failed[0].Error)
		require.Equal(t, second, failed[0].Instance)
		require.Equal(t, time.Second, failed[0].Took)
		require.Greater(t, failed[0].Token, int64(aBase), "the code was given no smaller one")
		require.NotContains(t, r.Changes[0].String(), "2026-11", "a parameter may be secret")
		require.Equal(t, operate.ItemRuns, statesOf(seen[len(seen)-2])[3])
	})
}

// end ends what is recorded as running.
func (g *ground) end(item int) {
	g.Helper()
	n := g.node(nodes.ItemRecord(item))
	record, err := jobtree.DecodeRecord(n)
	require.NoError(g, err)
	record, err = record.End(jobtree.End{Token: int64(record.Token(n.Revision)), Time: time.Now(), Outcome: jobtree.Success})
	require.NoError(g, err)
	g.do(registry.Put(n.Path, jobtree.EncodeRecord(record)))
}

func TestSingleItemsAreTriggered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		fire := time.Date(1999, 12, 31, 23, 55, 0, 0, time.UTC)
		go func() {
			time.Sleep(time.Second)
			g.runs(map[int]jobtree.Outcome{3: jobtree.Success, 0: jobtree.Success})
		}()
		r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{Items: []int{3, 0}, Fire: fire, Within: time.Minute}, waiting())
		require.NoError(t, err)
		require.Equal(t, "items 0,3", r.Target)
		require.Equal(t, 2, r.Progress.Of)
		require.Equal(t, `{"items":"0,3","total":4,"fire":"1999-12-31T23:55:00Z","until":"2000-01-01T00:01:00Z","operation":"`+r.ID+`"}`, g.value(nodes.Triggered()))
	})
}

func TestTriggersThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		prepare func(*ground)
		trigger operate.Trigger
		cause   operate.Cause
		says    string
	}{
		"an unknown item":  {nothing, operate.Trigger{Items: []int{1, 4, 5}}, operate.CauseUnknownTarget, "no items 4 and 5, but items 0 to 3"},
		"a negative item":  {nothing, operate.Trigger{Items: []int{-1}}, operate.CauseUnknownTarget, "no item -1, but items 0 to 3"},
		"an item twice":    {nothing, operate.Trigger{Items: []int{1, 1}}, operate.CauseInvalid, "item 1 is named twice"},
		"a disabled item":  {put(nodes.ItemDisabled(2), ""), operate.Trigger{Items: []int{1, 2}}, operate.CauseUnknownTarget, "item 2 is disabled; enable it first, or leave it out"},
		"a long parameter": {nothing, operate.Trigger{Parameter: string(make([]byte, 2049))}, operate.CauseInvalid, "2048"},
		"a negative time":  {nothing, operate.Trigger{Within: -1}, operate.CauseInvalid, "must not be negative"},
		"nobody lives":     {func(g *ground) { g.leave(first); g.leave(second) }, operate.Trigger{}, operate.CauseNoInstance, "no instance of the job lives"},
		"a disabled job":   {func(g *ground) { require.NoError(g, errOf(g.op.DisableJob(g.Context(), theJob, because("audit")))) }, operate.Trigger{}, operate.CauseNoInstance, "the job is disabled (by anna with test at"},
		"disabled servers": {func(g *ground) {
			g.do(registry.Put(nodes.Server("10.0.0.1"), "DISABLED"), registry.Put(nodes.Server("10.0.0.2"), "DISABLED"))
		}, operate.Trigger{}, operate.CauseNoInstance, "the servers of all instances are disabled"},
		"a job that pauses": {func(g *ground) { g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Cron = "?" }))) }, operate.Trigger{}, operate.CauseUnusable, "the job pauses"},
		"no configuration":  {remove(nodes.Config()), operate.Trigger{}, operate.CauseUnknownJob, "no such job"},
		"all items disabled": {func(g *ground) {
			for n := range 4 {
				put(nodes.ItemDisabled(n), "")(g)
			}
		}, operate.Trigger{}, operate.CauseUnknownTarget, "all items are disabled"},
		"items beside Java": {func(g *ground) { g.store.java = true; g.join(aJava) }, operate.Trigger{Items: []int{1}}, operate.CauseInvalid, "Java instances take part"},
		"a job that goes": {func(g *ground) {
			g.do(registry.Put(nodes.Operated(), `{"removing":"yes"}`))
		}, operate.Trigger{}, operate.CausePending, "the job is being removed"},
		"a job that moves": {func(g *ground) {
			g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Disabled = true })),
				registry.Put(nodes.Operated(), `{"moving":{"to":"b","move":"X","since":"2000-01-01T00:00:00Z"}}`))
		}, operate.Trigger{}, operate.CausePending, `it was stopped at 2000-01-01T00:00:00Z to be moved to registry "b"; complete the move with elasticron move`},
		"a job that was disabled and moves": {func(g *ground) {
			g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Disabled = true })),
				registry.Put(nodes.Operated(), `{"moving":{"to":"b","move":"X","since":"2000-01-01T00:00:00Z","disabled":true}}`))
		}, operate.Trigger{}, operate.CauseNoInstance, "the job is disabled; enable it first"},
		"a job that is migrated": {func(g *ground) {
			g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Disabled = true })),
				registry.Put(nodes.Move(), `{"id":"X","state":"drained","when":"2000-01-01T00:00:00Z"}`))
		}, operate.Trigger{}, operate.CausePending, "go on with elasticron migrate move, and operate the job where it goes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			row.prepare(g)
			refusal := g.refused(row.cause, errOf(g.op.Trigger(t.Context(), theJob, row.trigger, silent())))
			require.Contains(t, refusal.Error(), row.says)
			require.False(t, refusal.Replaceable)
			require.False(t, g.node(nodes.Triggered()).Exists())
		})
	}
}

// What a job is asked whose code makes nothing of its settings, nobody answers while they stay so: whoever leads shows that
// somebody's code does.
func TestATriggerOfAJobThatPausesForItsCode(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.do(registry.Delete(nodes.Leader()))
	put(nodes.Config(), g.text(func(c *job.Config) {
		c.Class, c.Type, c.ScriptCommandLine = job.ScriptClass, job.TypeScript, "/opt/x 'it"
	}))(g)
	plan := silent()
	plan.DryRun = true
	r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, plan)
	require.NoError(t, err)
	require.Equal(t, []string{"the job pauses, and nothing runs until its settings are corrected: " +
		"scriptCommandLine must be a command line that begins with a program, whose quotes are closed, with no backslash at its end"}, r.Warnings)
	put(nodes.Leader(), first)(g)
	r, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{}, plan)
	require.NoError(t, err)
	require.Empty(t, r.Warnings)
}

// Who triggers by a clock that is behind waits for what instances do not begin any more. What has run tells of it.
func TestATriggerByAClockThatIsBehind(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	begun := func(ahead time.Duration) {
		record, err := jobtree.Record{}.Begin(jobtree.Begin{
			Instance: second, Session: 7, Source: job.Scheduled, Fire: time.Now(), Time: time.Now().Add(ahead), Base: aBase,
		})
		require.NoError(t, err)
		g.do(registry.Put(nodes.ItemRecord(1), jobtree.EncodeRecord(record)))
	}
	plan := silent()
	plan.DryRun = true
	begun(inforce.ClockTolerance - time.Second)
	r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, plan)
	require.NoError(t, err)
	require.Empty(t, r.Warnings)
	begun(2 * time.Hour)
	r, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{}, plan)
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1)
	require.Contains(t, r.Warnings[0], "this machine's clock is behind that of an instance by more than 30s")
	require.Contains(t, r.Notes[0], "this machine's clock says ")
	time.Sleep(1100 * time.Millisecond)
	as := silent()
	as.Shown = &r.Plan
	_, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{}, as)
	require.NoError(t, err)
}

func TestATriggerThatGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		one, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())
		require.NoError(t, err)
		g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 1: ""})
		refusal := g.refused(operate.CausePending, errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())))
		require.Contains(t, refusal.Error(), "items 1-3 have not run for it yet; wait for it, or replace it")
		require.True(t, refusal.Replaceable)

		again, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{ID: one.ID})
		require.NoError(t, err)
		require.True(t, again.Repeated)
		require.Equal(t, one.Revision, again.Revision, "its number is known as long as nothing took its place")

		g.do(registry.Put(nodes.Triggered(), `{"items":"2,3","until":"2000-01-01T01:00:00Z","operation":"`+one.ID+`"}`)) // as a job that moves takes it along
		soon, cancelSoon := context.WithTimeout(t.Context(), time.Second)
		defer cancelSoon()
		again, err = g.op.Trigger(soon, theJob, operate.Trigger{}, operate.Options{ID: one.ID, Wait: true})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, map[int]operate.TriggerState{0: operate.ItemRan, 1: operate.ItemRan, 2: operate.ItemAsked, 3: operate.ItemAsked}, statesOf(again.Progress))

		g.do(registry.Put(nodes.Triggered(), `{"items":"1-3","until":"2000-01-01T01:00:00Z"}`)) // as a handle of the job asks
		again, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{ID: one.ID})
		require.NoError(t, err)
		require.True(t, again.Repeated)
		require.Zero(t, again.Revision)
		refusal = g.refused(operate.CausePending, errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())))
		require.NotContains(t, refusal.Error(), "anna", "who did not make this one")

		two, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{Replace: true}, silent())
		require.NoError(t, err)
		require.Contains(t, two.Changes[0].Before, "for which items 1-3 have not run yet")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = g.op.Trigger(ctx, theJob, operate.Trigger{}, operate.Options{ID: one.ID, Wait: true})
		var unconfirmed *operate.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed)
		require.True(t, unconfirmed.Result.Progress.Overtaken)
	})
}

// What is final for an item: it was disabled or is none any more, another trigger came, or its time is over.
func TestItemsThatDoNotRunForATrigger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		go func() {
			time.Sleep(time.Second)
			g.runs(map[int]jobtree.Outcome{0: jobtree.Success})
			g.do(registry.Put(nodes.ItemDisabled(1), ""))
			time.Sleep(time.Second)
			g.assign(second, second, first)
		}()
		r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{Within: time.Minute}, waiting())
		require.NoError(t, err)
		require.Equal(t, map[int]operate.TriggerState{
			0: operate.ItemSucceeded, 1: operate.ItemDisabled, 2: operate.ItemLate,
		}, statesOf(r.Progress), "of the items that there are")
		require.Greater(t, time.Since(r.When), time.Minute)
		require.Less(t, time.Since(r.When), 2*time.Minute)
		require.Len(t, r.Progress.Failed(), 1)

		go func() {
			time.Sleep(time.Second)
			require.NoError(t, errOf(g.operator("bert").Trigger(t.Context(), theJob, operate.Trigger{Items: []int{0}, Replace: true}, silent())))
		}()
		r, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{Items: []int{2}}, waiting())
		require.NoError(t, err)
		require.Equal(t, operate.ItemReplaced, r.Progress.Items[0].State)
	})
}

// record changes the record of an item, as an instance or the leader does.
func (g *ground) record(item int, next func(jobtree.Record) (jobtree.Record, error)) {
	g.Helper()
	record, err := next(g.tree().Item(item).Record.Value)
	require.NoError(g, err)
	g.do(registry.Put(nodes.ItemRecord(item), jobtree.EncodeRecord(record)))
}

// begun is what an item has begun for the trigger that there is.
func (g *ground) begun(item int, failover bool) {
	g.Helper()
	trigger := g.node(nodes.Triggered()).Revision
	g.record(item, func(r jobtree.Record) (jobtree.Record, error) {
		return r.Begin(jobtree.Begin{Instance: second, Session: 7, Source: job.Manual, Trigger: trigger, Failover: failover, Time: time.Now()})
	})
}

// Whose process dies in the middle runs again or not, as the job has it; and who looks late is told what is known.
func TestItemsThatAreLostForATrigger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		lost := func(r jobtree.Record) (jobtree.Record, error) { return r.DeclareLost(1, time.Now(), 3) }
		r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{Items: []int{0, 1, 2}}, silent())
		require.NoError(t, err)
		g.begun(0, true)
		g.record(0, lost)
		g.begun(1, false)
		g.record(1, lost)
		g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.ShardingTotalCount = 2 })))
		g.assign(second, first) // item 2 is none any more

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		opts := operate.Options{ID: r.ID, Wait: true}
		r, err = g.op.Trigger(ctx, theJob, operate.Trigger{Items: []int{0, 1, 2}}, opts)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, map[int]operate.TriggerState{0: operate.ItemRerun, 1: operate.ItemLost, 2: operate.ItemSurplus}, statesOf(r.Progress))
		require.Equal(t, 2, r.Progress.Ready)

		go func() {
			time.Sleep(time.Second)
			g.record(0, func(r jobtree.Record) (jobtree.Record, error) {
				return r.Claim(jobtree.Claim{Instance: first, Session: 8, Time: time.Now()})
			})
			time.Sleep(time.Second)
			g.end(0)
		}()
		r, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{Items: []int{0, 1, 2}}, opts)
		require.NoError(t, err)
		require.Equal(t, map[int]operate.TriggerState{0: operate.ItemSucceeded, 1: operate.ItemLost, 2: operate.ItemSurplus}, statesOf(r.Progress))
		require.Len(t, r.Progress.Failed(), 1, "an item that is none any more has not failed")

		for range 2 { // fires, of which the last two are recorded
			time.Sleep(5 * time.Minute)
			g.record(0, func(r jobtree.Record) (jobtree.Record, error) {
				return r.Begin(jobtree.Begin{Instance: first, Session: 8, Source: job.Scheduled, Fire: time.Now(), Time: time.Now()})
			})
			g.end(0)
		}
		r, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{Items: []int{0, 1, 2}}, opts)
		require.NoError(t, err)
		require.Equal(t, operate.ItemRan, statesOf(r.Progress)[0])
	})
}

func TestBesideJavaEachJavaInstanceIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.store.java = true
		g.join(aJava)
		g.do(registry.Delete(nodes.ItemInstance(3)), registry.Put(nodes.ItemInstance(2), aJava))
		go func() {
			time.Sleep(time.Second)
			g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 1: jobtree.Success})
			require.Equal(t, "TRIGGER", g.value(nodes.Instance(aJava)))
			require.Empty(t, g.value(nodes.Instance(first)), "the others have their own node")
			g.do(registry.Update(nodes.Instance(aJava), ""), registry.PutOwned(nodes.ItemRunning(2), "", g.sessions[aJava]))
			time.Sleep(time.Second)
			g.do(registry.Delete(nodes.ItemRunning(2)))
		}()
		r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, waiting())
		require.NoError(t, err)
		require.Equal(t, map[int]operate.TriggerState{
			0: operate.ItemSucceeded, 1: operate.ItemSucceeded, 2: operate.ItemTaken,
		}, statesOf(r.Progress))
	})
}

// An operator that loses the registry between two of the requests that it takes to ask many Java instances comes back
// with the id, and each is asked once.
func TestManyJavaInstancesAreAskedInSeveralRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.store.java = true
		var ids []string
		for n := range 130 {
			id := fmt.Sprintf("10.1.0.%d@-@1", n)
			ids = append(ids, id)
			g.sessions[id] = g.sessions[first]
			g.join(id)
		}
		last := slices.Max(ids)
		g.assign(last, last)
		g.do(registry.Delete(nodes.ItemInstance(2)), registry.Delete(nodes.ItemInstance(3)))
		triggered := func() (all int) {
			for _, id := range ids {
				if g.value(nodes.Instance(id)) == jobtree.InstanceTriggered {
					all++
				}
			}
			return all
		}
		g.store.upTo = 10
		r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())
		var unconfirmed *operate.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed)
		require.ErrorIs(t, err, registry.ErrUnavailable)
		require.Contains(t, err.Error(), "ask again with its id")
		require.Equal(t, 110, triggered())
		require.NotEqual(t, jobtree.InstanceTriggered, g.value(nodes.Instance(last)))
		number := g.node(nodes.Triggered()).Revision
		require.Equal(t, number, r.Revision)

		g.do(registry.Update(nodes.Instance(ids[0]), "")) // one has answered
		again, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{ID: r.ID})
		require.NoError(t, err)
		require.True(t, again.Repeated)
		require.Equal(t, number, again.Revision)
		require.Equal(t, 129, triggered())

		go func() {
			time.Sleep(time.Second)
			g.do(registry.Update(nodes.Instance(last), ""))
		}()
		again, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{ID: r.ID, Wait: true})
		require.NoError(t, err)
		require.Equal(t, map[int]operate.TriggerState{0: operate.ItemTaken, 1: operate.ItemTaken}, statesOf(again.Progress))
	})
}

// One write, however many instances there are.
func TestOneTransactionHoweverManyInstances(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for n := range 200 {
		id := jobtree.InstanceID{IP: "10.1.0.1", Process: "p-" + string(rune('a'+n%26)) + string(rune('a'+n/26))}.String()
		g.sessions[id] = g.sessions[first]
		g.join(id)
	}
	g.store.next(func(txn registry.Txn) registry.Txn { return txn })
	require.NoError(t, errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())))
	require.Len(t, g.store.txns, 1)
	require.Len(t, g.store.txns[0].Then, 2)
}

// A trigger without an end is followed without a busy loop.
func TestATriggerForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		go func() {
			time.Sleep(time.Second)
			g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 1: jobtree.Success, 2: jobtree.Success, 3: jobtree.Success})
		}()
		r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{Within: math.MaxInt64}, waiting())
		require.NoError(t, err)
		require.Empty(t, r.Progress.Failed())
	})
}

// A trigger says that no record tells of it, and is not waited for if the job records its executions later.
func TestATriggerOfAnUnmonitoredJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Failover, c.Unmonitored = false, true })))
		r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())
		require.NoError(t, err)
		asked, err := jobtree.DecodeTriggered(g.node(nodes.Triggered()))
		require.NoError(t, err)
		require.True(t, asked.Each)
		g.do(registry.Put(nodes.Config(), g.text(func(*job.Config) {})))
		opts := waiting()
		opts.ID = r.ID
		r, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{}, opts)
		require.NoError(t, err)
		require.True(t, r.Progress.Done)
		require.NoError(t, errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())), "nobody knows what is pending")
	})
}

// Where executions are not recorded a trigger takes the place of the one before without being refused, and says so as long as
// that one may have items that have not begun.
func TestATriggerWarnsOfOneThatNobodySees(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.unrecorded()
		trigger := func(parameter string) operate.Result {
			r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{Parameter: parameter, Within: time.Minute}, because("report"))
			require.NoError(t, err)
			return r
		}
		const unrecorded = "executions are not recorded: whether the items ran cannot be seen"
		a := trigger("a")
		require.Equal(t, []string{unrecorded}, a.Warnings)
		b := trigger("b")
		stands := fmt.Sprintf("trigger %d (by anna with test at 2000-01-01T00:00:00Z: report) stands until 2000-01-01T00:01:00Z, and nobody "+
			"sees whether its items have begun: those that have not do not begin for it any more", a.Revision)
		require.Equal(t, []string{unrecorded}, b.Warnings)
		require.Equal(t, []string{stands}, b.Notes)
		shown, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{DryRun: true})
		require.NoError(t, err)
		trigger("another")
		require.NoError(t, errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{Shown: &shown.Plan})), "a job that others trigger all the time")

		g.do(registry.Put(nodes.Config(), g.text(nil)))
		dry, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{DryRun: true})
		require.NoError(t, err)
		require.Len(t, dry.Notes, 1, "it was made when nothing was recorded")
		time.Sleep(2 * time.Hour)
		require.Empty(t, trigger("c").Notes, "its time is over")
	})
}

// Who waits for a trigger is told at once that nothing begins for it any more, and by whom.
func TestATriggerThatIsHeldUp(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		do   func(bert *operate.Operator, g *ground)
		want string
		took time.Duration
	}{
		"the job is disabled": {
			func(bert *operate.Operator, g *ground) {
				require.NoError(g, errOf(bert.DisableJob(g.Context(), theJob, because("the table is locked"))))
			}, "the job was disabled (by bert with test", time.Second,
		},
		"its servers are": {
			func(bert *operate.Operator, g *ground) {
				for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
					require.NoError(g, errOf(bert.DisableServer(g.Context(), theJob, ip, silent())))
				}
			}, "the servers of all instances are disabled (by bert with test", time.Second,
		},
		"nobody lives": {func(_ *operate.Operator, g *ground) { g.leave(first); g.leave(second) }, "no instance of the job lives any more", time.Minute + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newGround(t)
				began := time.Now()
				go func() {
					time.Sleep(time.Second)
					row.do(g.operator("bert"), g)
				}()
				told := time.Duration(0)
				opts := operate.Options{Wait: true, Progress: func(p operate.Progress) {
					if told == 0 && strings.Contains(p.Text, row.want) {
						told = time.Since(began)
					}
				}}
				_, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, opts)
				var unconfirmed *operate.UnconfirmedError
				require.ErrorAs(t, err, &unconfirmed)
				require.ErrorContains(t, err, "nothing begins for it, as "+row.want)
				require.Len(t, unconfirmed.Result.Progress.Items, 4)
				require.Equal(t, time.Second, told, "at once")
				require.Equal(t, row.took, time.Since(began).Truncate(time.Second))
			})
		})
	}
}

// Nobody leads a job whose settings the code of every process refuses. A trigger is done all the same, as it is so for a moment
// at each election, but says so before, and while it is waited for.
func TestATriggerOfAJobThatNobodyLeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.do(registry.Delete(nodes.Leader()))
		const want = "nobody leads the job: if it stays so, no process can use its settings, and their logs say why"
		for verb, notes := range map[operate.Verb]func() ([]string, error){
			operate.VerbTrigger: func() ([]string, error) {
				r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{DryRun: true})
				return r.Notes, err
			},
			operate.VerbBackfill: func() ([]string, error) {
				r, err := g.op.Backfill(t.Context(), theJob, everyFive(2), operate.Trigger{}, operate.Options{DryRun: true})
				return r.Warnings, err
			},
		} {
			said, err := notes()
			require.NoError(t, err)
			require.Equal(t, []string{want}, said, verb)
		}
		go func() {
			time.Sleep(time.Minute)
			g.do(registry.PutOwned(nodes.Leader(), first, g.sessions[first]))
			time.Sleep(time.Minute)
			g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 1: jobtree.Success, 2: jobtree.Success, 3: jobtree.Success})
		}()
		var said []string
		_, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{Wait: true, Progress: func(p operate.Progress) {
			if !slices.Contains(said, p.Text) {
				said = append(said, p.Text)
			}
		}})
		require.NoError(t, err)
		require.Equal(t, []string{"nothing begins for it, as " + want, "items have run, or will not"}, said)
	})
}

// What runs for a trigger is waited for, also when the job is disabled; and an instance that starts anew runs what was asked
// for.
func TestATriggerThatIsHeldUpForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		go func() {
			time.Sleep(time.Second)
			g.leave(first)
			g.leave(second)
			time.Sleep(30 * time.Second)
			g.join(first)
			time.Sleep(time.Hour / 2)
			g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 1: jobtree.Success, 2: jobtree.Success, 3: jobtree.Success})
		}()
		_, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, waiting())
		require.NoError(t, err)
	})
}

// Who enables what keeps a trigger from running is told that it runs then.
func TestEnablingTellsOfATriggerThatStands(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, because("again"))
	require.NoError(t, err)
	want := fmt.Sprintf("trigger %d stands until ", r.Revision)
	require.NoError(t, errOf(g.op.DisableItem(t.Context(), theJob, 2, silent())))
	item, err := g.op.EnableItem(t.Context(), theJob, 2, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Contains(t, item.Warnings[0], want)
	require.Contains(t, item.Warnings[0], "(by anna with test")
	require.Contains(t, item.Warnings[0], ": item 2 begins for it at once")
	require.NoError(t, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	enabling, err := g.op.EnableJob(t.Context(), theJob, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Contains(t, enabling.Warnings[0], want)
	require.Contains(t, enabling.Warnings[0], ": items 0-1,3 begin for it at once")
	item, err = g.op.EnableItem(t.Context(), theJob, 2, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Empty(t, item.Warnings, "the job is disabled")
	require.NoError(t, errOf(g.op.EnableJob(t.Context(), theJob, silent())))

	for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
		require.NoError(t, errOf(g.op.DisableServer(t.Context(), theJob, ip, silent())))
	}
	server, err := g.op.EnableServer(t.Context(), theJob, "10.0.0.1", silent())
	require.NoError(t, err)
	require.Contains(t, strings.Join(server.Warnings, "\n"), want)
	server, err = g.op.EnableServer(t.Context(), theJob, "10.0.0.2", silent())
	require.NoError(t, err)
	require.Empty(t, server.Warnings, "it may run already")
}
