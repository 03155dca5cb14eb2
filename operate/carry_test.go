package operate_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/sharding"
)

func TestOptionsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for name, options := range map[string][]operate.Option{
		"nobody":        {},
		"an empty name": {operate.By("", "test")},
		"a long name":   {operate.By(strings.Repeat("x", 201), "")},
		"a long way":    {operate.By("anna", strings.Repeat("x", 201))},
		"no UTF-8":      {operate.By("\xff", "")},
		"no logger":     {operate.By("anna", ""), operate.WithLogger(nil)},
		"no strategies": {operate.By("anna", ""), operate.WithStrategies(nil)},
	} {
		_, err := operate.New(g.registry, options...)
		require.ErrorIs(t, err, operate.ErrInvalidOption, name)
	}
	_, err := operate.New(nil, operate.By("anna", ""))
	require.ErrorIs(t, err, operate.ErrInvalidOption)
	_, err = operate.New(g.registry, operate.By("anna", ""), operate.WithStrategies(sharding.Default()), operate.WithLogger(slog.Default()))
	require.NoError(t, err)
	for _, opts := range []operate.Options{
		{ID: "a b"}, {ID: strings.Repeat("x", 65)}, {ID: "ä"}, {Reason: strings.Repeat("x", 1001)}, {Reason: "\xff"},
	} {
		require.ErrorIs(t, errOf(g.op.DisableJob(t.Context(), theJob, opts)), operate.ErrInvalidOption)
	}
	require.ErrorIs(t, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{}, silent())), operate.ErrInvalidOption)
	require.ErrorIs(t, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: daily, Text: "{}"}, silent())), operate.ErrInvalidOption)
	require.False(t, g.node(nodes.Operated()).Exists())
}

func TestTheSameIdIsTheSameOperation(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	opts := operate.Options{ID: "ticket-17"}
	r, err := g.op.DisableItem(t.Context(), theJob, 2, opts)
	require.NoError(t, err)
	require.Equal(t, "ticket-17", r.ID)
	before := g.all()
	r, err = g.op.DisableItem(t.Context(), theJob, 2, opts)
	require.NoError(t, err)
	require.True(t, r.Repeated)
	require.Zero(t, r.Revision)
	refusal := g.refused(operate.CauseUsed, errOf(g.op.DisableItem(t.Context(), theJob, 3, opts)))
	require.Contains(t, refusal.Error(), `"ticket-17" is that of an operation that was done: disable item 2 of "orders", by anna`)
	g.refused(operate.CauseUsed, errOf(g.op.DisableJob(t.Context(), theJob, opts)))
	require.Equal(t, before, g.all())
}

// An id is that of what was asked for under it: another fire or parameter was not run.
func TestTheSameIdOfAnotherTrigger(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	fire := time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)
	asks := operate.Trigger{Items: []int{2, 1}, Fire: fire, Parameter: "geheim"}
	opts := operate.Options{ID: "ticket-17"}
	require.NoError(t, errOf(g.op.Trigger(t.Context(), theJob, asks, opts)))
	before := g.all()
	same := operate.Trigger{Items: []int{1, 2}, Fire: fire.In(time.FixedZone("", 3600)), Parameter: "geheim", Within: time.Minute, Replace: true}
	r, err := g.op.Trigger(t.Context(), theJob, same, operate.Options{ID: "ticket-17", Again: true})
	require.NoError(t, err)
	require.True(t, r.Repeated)
	for _, change := range []func(*operate.Trigger){
		func(t *operate.Trigger) { t.Fire = fire.Add(time.Hour) }, func(t *operate.Trigger) { t.Fire = time.Time{} }, func(t *operate.Trigger) { t.Parameter = "" },
	} {
		other := same
		change(&other)
		refusal := g.refused(operate.CauseUsed, errOf(g.op.Trigger(t.Context(), theJob, other, opts)))
		require.Contains(t, refusal.Error(), "another fire or with another parameter")
		require.NotContains(t, refusal.Error(), "geheim")
	}
	require.Equal(t, before, g.all())

	operated := g.operated() // as an earlier version has written it down
	require.NotEmpty(t, operated.Operations[0].Asked)
	require.Empty(t, jobtree.MaskOperated(operated).Operations[0].Asked, "a parameter could be guessed by it")
	operated.Operations[0].Asked = ""
	g.do(registry.Put(nodes.Operated(), jobtree.EncodeOperated(operated)))
	r, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{Items: []int{1, 2}}, opts)
	require.NoError(t, err)
	require.True(t, r.Repeated)
}

// Settings that are given as a whole are what an id is of, too: a file that was mended between two tries is not "done before".
// If what is asked for stands already, by whomever, it is.
func TestTheSameIdOfOtherSettings(t *testing.T) {
	t.Parallel()
	g := bareGround(t)
	opts := operate.Options{ID: "release-7"}
	text := func(parameter string) string { return g.text(func(c *job.Config) { c.JobParameter = parameter }) }
	create := func(parameter string, marks operate.Marks) error {
		return errOf(g.op.CreateMarked(t.Context(), theJob, text(parameter), marks, opts))
	}
	require.NoError(t, create("one", operate.Marks{}))
	require.NoError(t, create("one", operate.Marks{}))
	require.Contains(t, g.refused(operate.CauseUsed, create("two", operate.Marks{})).Error(), "with other settings")
	g.refused(operate.CauseUsed, create("one", operate.Marks{Items: []int{1}}))
	disabled := g.text(func(c *job.Config) { c.JobParameter, c.Disabled = "one", true })
	g.refused(operate.CauseUsed, errOf(g.op.CreateText(t.Context(), theJob, disabled, opts)))

	opts.ID = "release-8"
	change := func(parameter string) (operate.Result, error) {
		return g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: text(parameter)}, opts)
	}
	require.NoError(t, errOf(change("two")))
	r, err := change("two")
	require.NoError(t, err)
	require.True(t, r.Repeated)
	require.Contains(t, g.refused(operate.CauseUsed, errOf(change("three"))).Error(), "with other settings")
	require.NoError(t, errOf(g.operator("bert").ChangeSettings(t.Context(), theJob, operate.Settings{Text: text("three")}, silent())))
	r, err = change("three")
	require.NoError(t, err)
	require.True(t, r.Repeated)
}

// Two operators at once: one after the other, and the second is told of the first.
func TestTwoOperatorsAtOnce(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	bert := g.operator("bert")
	g.meanwhile(func() { require.NoError(t, errOf(bert.DisableItem(t.Context(), theJob, 2, because("first")))) })
	refusal := g.refused(operate.CauseAlready, errOf(g.op.DisableItem(t.Context(), theJob, 2, silent())))
	require.Contains(t, refusal.Error(), "by bert with test at ")

	g.meanwhile(func() { require.NoError(t, errOf(bert.DisableItem(t.Context(), theJob, 1, silent()))) })
	require.NoError(t, errOf(g.op.DisableItem(t.Context(), theJob, 0, silent())))
	operations, err := g.op.Operations(t.Context(), theJob)
	require.NoError(t, err)
	var done []string
	for _, op := range operations {
		done = append(done, op.Who+" "+op.Target)
	}
	require.Equal(t, []string{"bert item 2", "bert item 1", "anna item 0"}, done)
}

func TestADryRunWritesNothingAndItsPlanIsHeldTo(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	before := g.all()
	plan, err := g.op.DisableServer(t.Context(), theJob, "10.0.0.1", operate.Options{DryRun: true, Wait: true})
	require.NoError(t, err)
	require.Equal(t, before, g.all())
	require.Zero(t, plan.Revision)
	require.Len(t, plan.Moves, 2)

	g.assign(first, first, first, second)
	stale := g.refused(operate.CauseStale, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.1", operate.Options{Shown: &plan.Plan})))
	require.Contains(t, stale.Changes, operate.Change{What: "move", Before: "item 3: " + first + " -> " + second})
	require.Contains(t, stale.Changes, operate.Change{What: "move", After: "item 0: " + first + " -> " + second})
	require.Contains(t, stale.Error(), "; no longer move item 3: "+first+" -> "+second+"; now move item 0: ")
	require.Contains(t, stale.Error(), "look at it again")

	g.assign(second, second, first, first)
	require.NoError(t, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.1", operate.Options{Shown: &plan.Plan})), "as it was shown")
	other := g.refused(operate.CauseStale, errOf(g.op.DisableItem(t.Context(), theJob, 1, operate.Options{Shown: &plan.Plan})))
	require.Contains(t, other.Error(), "operation disable server 10.0.0.1 of")
}

// A change between what was shown and the commit is seen, too.
func TestWhatWasShownChangesAtTheLastMoment(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	plan, err := g.op.DisableServer(t.Context(), theJob, "10.0.0.1", operate.Options{DryRun: true})
	require.NoError(t, err)
	g.meanwhile(func() {
		require.NoError(t, errOf(g.operator("bert").DisableServer(t.Context(), theJob, "10.0.0.2", silent())))
	})
	stale := g.refused(operate.CauseStale, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.1", operate.Options{Shown: &plan.Plan})))
	require.Contains(t, stale.Changes, operate.Change{What: "warning", After: "no other instance of the job lives that is enabled: nothing runs any more"})
}

func TestALostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		var log bytes.Buffer
		op, err := operate.New(g.registry, operate.By("anna", "test"), operate.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))))
		require.NoError(t, err)
		for item := range 4 { // the first creates what is written down
			g.registry.LoseAnswers(1)
			r, err := op.DisableItem(t.Context(), theJob, item, because("broken"))
			require.NoError(t, err)
			require.Equal(t, item+1, strings.Count(log.String(), `"msg":"operation"`), "each is logged once")
			require.True(t, g.node(nodes.ItemDisabled(item)).Exists())
			require.Len(t, g.operated().Operations, item+1, r.ID)
		}
	})
}

// What creates a job is not sent twice; but it is seen that it was done.
func TestALostAnswerToACreation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := bareGround(t)
		var log bytes.Buffer
		op, err := operate.New(g.registry, operate.By("anna", "test"), operate.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))))
		require.NoError(t, err)
		g.registry.LoseAnswers(1)
		r, err := op.Create(t.Context(), g.config(nil), because("wanted"))
		require.NoError(t, err)
		require.False(t, r.Repeated, "it was this call that did it")
		require.Equal(t, g.node(nodes.Operated()).Revision, r.Revision)
		require.Contains(t, log.String(), r.ID)
		require.Contains(t, log.String(), `"reason":"wanted"`)
		logged := log.String()
		require.NoError(t, errOf(op.Create(t.Context(), g.config(nil), operate.Options{ID: r.ID})))
		require.Equal(t, logged, log.String(), "only what this operator did")

		g.do(registry.DeleteTree(nodes.Root()))
		g.registry.HoldBack(1, 10*time.Minute)
		r, err = g.op.Create(t.Context(), g.config(nil), silent())
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		require.Empty(t, g.all())
		time.Sleep(20 * time.Minute)
		require.NotEmpty(t, g.all(), "it came about later")
		r, err = g.op.Create(t.Context(), g.config(nil), operate.Options{ID: r.ID})
		require.NoError(t, err, "asked again with its id, it is seen to be done")
		require.True(t, r.Repeated)
	})
}

// overtaken loses the answer to the next transaction, and has somebody else operate the job before it is sent again.
func (g *ground) overtaken(first func()) {
	g.Helper()
	g.registry.LoseAnswers(1)
	bert, err := operate.New(g.open(), operate.By("bert", "test"))
	require.NoError(g, err)
	time.AfterFunc(10*time.Second, func() {
		first()
		settings := change(func(c *job.Config) { c.Description = "x" })
		require.NoError(g, errOf(bert.ChangeSettings(context.Background(), theJob, settings, silent())))
	})
}

// What was done by a try whose answer was lost is done by this call, also if it is seen by what another try conflicts with.
func TestALostAnswerThatIsOvertaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		var log bytes.Buffer
		op, err := operate.New(g.registry, operate.By("anna", "test"), operate.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))))
		require.NoError(t, err)
		g.overtaken(func() {})
		r, err := op.DisableItem(t.Context(), theJob, 1, because("broken"))
		require.NoError(t, err)
		require.False(t, r.Repeated)
		require.True(t, g.node(nodes.ItemDisabled(1)).Exists())
		require.Equal(t, 1, strings.Count(log.String(), `"msg":"operation"`))
		require.Contains(t, log.String(), r.ID)
	})
}

// So it is of one of several jobs.
func TestALostAnswerOfManyThatIsOvertaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.overtaken(func() {})
		all, err := g.op.DisableServerEverywhere(t.Context(), "10.0.0.1", because("broken"))
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Len(t, g.operated().Operations, 2)
		r := all[0].Result
		require.False(t, r.Repeated)
		require.False(t, r.When.IsZero())
		require.NotZero(t, r.State)
		require.NotZero(t, r.Config)
		require.NotEmpty(t, r.Changes)
	})
}

// And if nobody can see it, it is not known.
func TestALostAnswerThatIsOvertakenUnseen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		watch := g.open()
		op, err := operate.New(apart{g.registry, watch}, operate.By("anna", "test"))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		g.overtaken(watch.Cut)
		r, err := op.Trigger(ctx, theJob, operate.Trigger{}, silent())
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Contains(t, g.node(nodes.Triggered()).Value, r.ID)
		watch.Heal()
	})
}

// apart is a registry of which another handle shows what happens.
type apart struct {
	operate.Store
	watch registry.Viewer
}

func (a apart) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	return a.watch.View(ctx, path, except...)
}

func TestARegistryThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.meanwhile(g.registry.Cut)
		r, err := g.op.DisableItem(ctx, theJob, 1, silent())
		require.Error(t, err)
		g.registry.Heal()
		time.Sleep(time.Minute)
		again, err := g.op.DisableItem(t.Context(), theJob, 1, operate.Options{ID: r.ID})
		require.NoError(t, err)
		require.Equal(t, r.ID, again.ID)
		require.Len(t, g.operated().Operations, 1)
	})
}

func TestAUserWhoMayReadOnly(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.store.readOnly = true
	r, err := g.op.DisableItem(t.Context(), theJob, 1, operate.Options{DryRun: true})
	require.NoError(t, err, "one may look")
	require.Len(t, r.Changes, 1)
	refusal := g.refused(operate.CauseDenied, errOf(g.op.DisableItem(t.Context(), theJob, 1, silent())))
	require.ErrorIs(t, refusal, registry.ErrDenied)
	require.Contains(t, refusal.Error(), "ask somebody whose user may read and write")
	require.Equal(t, "disable item", string(refusal.Verb))
	g.registry.Deny(nodes.Root(), false)
	g.refused(operate.CauseDenied, errOf(g.op.DisableItem(t.Context(), theJob, 1, silent())))
}

func TestWhatNewerVersionsWroteIsKept(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.do(registry.Put(nodes.Operated(), `{"later":[1],"operations":[{"id":"A","verb":"paint","colour":"red"}]}`))
	require.NoError(t, errOf(g.op.DisableItem(t.Context(), theJob, 1, silent())))
	require.Equal(t, `"later":[1]`, g.operated().Unknown)
	require.Equal(t, `"colour":"red"`, g.operated().Operations[0].Unknown)

	newer := `{"format":2,"operations":"who knows"}`
	g.do(registry.Put(nodes.Operated(), newer))
	for _, opts := range []operate.Options{silent(), forced()} {
		refusal := g.refused(operate.CauseNewer, errOf(g.op.DisableItem(t.Context(), theJob, 2, opts)))
		require.ErrorIs(t, refusal, jobtree.ErrNewerFormat)
		require.False(t, refusal.Forcible)
	}
	require.Equal(t, newer, g.value(nodes.Operated()))

	g.do(registry.Put(nodes.Operated(), `}{`))
	require.True(t, g.refused(operate.CauseUnreadable, errOf(g.op.DisableItem(t.Context(), theJob, 2, silent()))).Forcible)
	g.refused(operate.CauseUnreadable, errOf(g.op.Operations(t.Context(), theJob)))
	require.NoError(t, errOf(g.op.DisableItem(t.Context(), theJob, 2, forced())))
	require.Len(t, g.operated().Operations, 1)
}

func TestWhatIsWrittenDownIsShownWithoutSecrets(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	var log bytes.Buffer
	op, err := operate.New(g.store, operate.By("anna", "test"), operate.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))))
	require.NoError(t, err)
	r, err := op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: func(c *job.Config) error {
		c.Props["email.password"] = "neu"
		return nil
	}}, because("rotated"))
	require.NoError(t, err)
	operations, err := op.Operations(t.Context(), theJob)
	require.NoError(t, err)
	require.Len(t, operations, 1)
	require.True(t, operations[0].RollsBack)
	require.Equal(t, "rotated", operations[0].Reason)
	g.leave(first)
	g.leave(second)
	require.NoError(t, errOf(op.Remove(t.Context(), theJob, silent())))
	for what, text := range map[string]string{
		"plan": r.Plan.Changes[0].String(), "operation": operations[0].Before + operations[0].Changed, "log": log.String(),
		"node": r.Changes[0].After,
	} {
		require.NotContains(t, text, "geheim", what)
		require.NotContains(t, text, "neu\"", what)
	}
	require.Contains(t, r.Before, "geheim", "the caller has it in full")
	require.Equal(t, 3, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), `"msg":"job removed"`)

	operations, err = op.Operations(t.Context(), "nobody")
	require.NoError(t, err)
	require.Empty(t, operations)
	g.refused(operate.CauseInvalid, errOf(op.Operations(t.Context(), "a/b")))
}

func TestChangesFromOutside(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	outside := func() (all []string) {
		list, revision, err := g.registry.List(t.Context(), registry.Root)
		require.NoError(t, err)
		for _, c := range operate.Outside(registry.NewSnapshot(revision, list)) {
			all = append(all, c.What)
		}
		return all
	}
	g.do(registry.Put(nodes.Config(), g.text(nil)))
	require.Empty(t, outside(), "nobody has operated it")
	require.NoError(t, errOf(g.op.DisableItem(t.Context(), theJob, 1, silent())))
	require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: daily}, silent())))
	require.NoError(t, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.1", silent())))
	require.Empty(t, outside())
	g.do(registry.Put(nodes.Tokens(), `{"base":7}`), registry.Put(nodes.Config(), g.value(nodes.Config())))
	require.Empty(t, outside(), "a process has put back where the tokens start")
	revision := g.do(registry.Put(nodes.Config(), g.text(nil)))
	g.do(registry.Put(nodes.Server("10.0.0.2"), "DISABLED"), registry.Put(nodes.ItemDisabled(2), ""))
	require.ElementsMatch(t, []string{"settings", "server 10.0.0.2", "item 2"}, outside())
	g.do(registry.Put(nodes.Server("10.0.0.9"), ""))
	require.NotContains(t, outside(), "server 10.0.0.9", "a Java instance has started there")
	g.do(registry.Put(nodes.Server("10.0.0.1"), ""))
	require.Contains(t, outside(), "server 10.0.0.1", "an operation has disabled it")
	require.Equal(t, `settings of "orders" changed from outside, at revision 7`,
		operate.OutsideChange{Job: "orders", What: "settings", Revision: 7}.String())
	require.NotZero(t, revision)
	g.do(registry.Put(nodes.Config(), jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "b", Move: "X", Config: g.text(nil)})), registry.Delete(nodes.Server("10.0.0.1")))
	require.NotContains(t, outside(), "settings", "a move closes the job")
	require.NotContains(t, outside(), "server 10.0.0.1", "and cleans up")
}

// What an operation did and somebody undoes by deleting its node is changed from outside, too.
func TestDeletionsFromOutside(t *testing.T) {
	t.Parallel()
	server := nodes.Server("10.0.0.1")
	disableBoth := func(g *ground) {
		require.NoError(g, errOf(g.op.DisableServer(g.Context(), theJob, "10.0.0.1", silent())))
		require.NoError(g, errOf(g.op.DisableItem(g.Context(), theJob, 2, silent())))
	}
	both := func(g *ground) { g.do(registry.Delete(server), registry.Delete(nodes.ItemDisabled(2))) }
	for name, row := range map[string]struct {
		do   []func(*ground)
		want []string
	}{
		"by operations": {[]func(*ground){disableBoth, func(g *ground) {
			require.NoError(g, errOf(g.op.EnableServer(g.Context(), theJob, "10.0.0.1", silent())))
			require.NoError(g, errOf(g.op.EnableItem(g.Context(), theJob, 2, silent())))
		}}, nil},
		"by hand": {[]func(*ground){disableBoth, both}, []string{"server 10.0.0.1", "item 2"}},
		"by hand, and somebody has triggered the job since": {[]func(*ground){disableBoth, both, func(g *ground) {
			require.NoError(g, errOf(g.op.Trigger(g.Context(), theJob, operate.Trigger{}, silent())))
		}}, []string{"server 10.0.0.1", "item 2"}},
		"an item, before the count was another one": {[]func(*ground){disableBoth, both, func(g *ground) {
			require.NoError(g, errOf(g.op.ChangeSettings(g.Context(), theJob, operate.Settings{Change: daily}, silent())))
		}}, []string{"server 10.0.0.1"}},
		"a server that is forgotten": {[]func(*ground){func(g *ground) {
			g.do(registry.Put(nodes.Server("10.0.0.9"), ""))
			require.NoError(g, errOf(g.op.DisableServer(g.Context(), theJob, "10.0.0.9", silent())))
			require.NoError(g, errOf(g.op.TidyServers(g.Context(), theJob, []string{"10.0.0.9"}, silent())))
		}}, nil},
		"the settings": {[]func(*ground){disableBoth, remove(nodes.Config())}, []string{"settings"}},
		"a removal that is under way": {[]func(*ground){func(g *ground) {
			g.do(registry.Put(nodes.Operated(), `{"removing":"yes"}`), registry.Delete(nodes.Config()))
		}}, nil},
		"what cannot be read": {[]func(*ground){func(g *ground) { g.do(registry.Put(nodes.Operated(), "}{"), registry.Delete(nodes.Config())) }}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			for _, do := range row.do {
				do(g)
			}
			list, revision, err := g.registry.List(t.Context(), registry.Root)
			require.NoError(t, err)
			var found []string
			for _, c := range operate.Outside(registry.NewSnapshot(revision, list)) {
				require.True(t, c.Gone)
				require.Equal(t, g.node(nodes.Operated()).Revision, c.Revision)
				require.Contains(t, c.String(), "changed from outside, after revision ")
				found = append(found, c.What)
			}
			require.ElementsMatch(t, row.want, found)
		})
	}
}

// Operators that do anything leave a job as a simple model says, and what is written down says how it came so.
func TestOperationsAgreeWithAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := newGround(t)
		items, servers := map[int]bool{}, map[string]bool{}
		disabled, cron, done := false, "0 0/5 * * * ?", 0
		for range rapid.IntRange(1, 25).Draw(t, "operations") {
			item, ip := rapid.IntRange(0, 3).Draw(t, "item"), rapid.SampledFrom([]string{"10.0.0.1", "10.0.0.2"}).Draw(t, "ip")
			want, was, changed := rapid.Bool().Draw(t, "disable"), false, true
			var err error
			switch rapid.IntRange(0, 3).Draw(t, "verb") {
			case 0:
				was, items[item] = items[item], want
				err = errOf(map[bool]func(context.Context, string, int, operate.Options) (operate.Result, error){true: g.op.DisableItem, false: g.op.EnableItem}[want](t.Context(), theJob, item, silent()))
				changed = was != want
			case 1:
				was, servers[ip] = servers[ip], want
				err = errOf(map[bool]func(context.Context, string, string, operate.Options) (operate.Result, error){true: g.op.DisableServer, false: g.op.EnableServer}[want](t.Context(), theJob, ip, silent()))
				changed = was != want
			case 2:
				was, disabled = disabled, want
				err = errOf(map[bool]func(context.Context, string, operate.Options) (operate.Result, error){true: g.op.DisableJob, false: g.op.EnableJob}[want](t.Context(), theJob, silent()))
				changed = was != want
			case 3:
				next := rapid.SampledFrom([]string{"0 0/5 * * * ?", "0 0 3 * * ?"}).Draw(t, "cron")
				changed, cron = next != cron, next
				err = errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: func(c *job.Config) error { c.Cron = next; return nil }}, silent()))
			}
			if changed {
				require.NoError(t, err)
				done++
			} else {
				g.refused(operate.CauseAlready, err)
			}
			state := g.tree()
			for n := range 4 {
				require.Equal(t, items[n], state.Disabled(n))
			}
			for ip, is := range servers {
				require.Equal(t, is, state.Server(ip).Disabled, ip)
			}
			require.Equal(t, disabled, state.Config.Value.Disabled)
			require.Equal(t, cron, state.Config.Value.Cron)
			if done > 0 {
				require.Len(t, g.operated().Operations, min(done, jobtree.MaxOperations))
			}
		}
	})
}

// The registry of the tests is one, with all roles.
var _ operate.Store = (*memory.Registry)(nil)
