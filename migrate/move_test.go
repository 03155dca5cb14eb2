package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// javaAt is an instance of Java that lives in the source.
const javaAt = "10.0.0.1@-@7"

// live is a job of 3.x that two instances share, on the servers 1 and 2. Nobody lives on the third.
func (w *world) live() {
	w.Helper()
	w.has(w.source,
		"/orders", "com.acme.OrderJob", "/orders/config", newConfig,
		"/orders/servers/10.0.0.1", "ENABLED", "/orders/servers/10.0.0.2", "DISABLED", "/orders/servers/10.0.0.3", "ENABLED",
		"/orders/instances/10.0.0.1@-@7!", "jobInstanceId: 10.0.0.1@-@7\n", "/orders/instances/10.0.0.2@-@8!", "",
		"/orders/sharding/0/instance", javaAt, "/orders/sharding/1/instance", javaAt, "/orders/sharding/1/disabled", "",
	)
}

// sides tells which sides may run the job.
func (w *world) sides() (source, target bool) {
	w.Helper()
	read := func(reg *memory.Registry) *jobtree.State {
		nodes, revision, err := reg.List(context.Background(), "/orders")
		require.NoError(w, err)
		return jobtree.StateOf("orders", registry.NewSnapshot(revision, nodes))
	}
	s := read(w.source)
	for _, i := range s.Instances {
		source = source || !s.Server(jobtree.ServerOf(i.ID)).Disabled
	}
	t := read(w.target)
	return source, t.Config.Exists() && !t.Config.Value.Disabled
}

// side is a registry whose reads and commits a test is told of.
type side struct {
	*memory.Registry
	before, after func() error
}

func (s side) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	if err := s.before(); err != nil {
		return nil, 0, err
	}
	return s.Registry.List(ctx, path)
}

func (s side) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if err := s.before(); err != nil {
		return 0, err
	}
	revision, err := s.Registry.Commit(ctx, txn)
	if err != nil {
		return revision, err
	}
	return revision, s.after()
}

// Latch holds nobody back: whoever is held up in a latch loses it with their session.
func (s side) Latch(ctx context.Context, _ string, fn func(context.Context) error) error {
	return fn(ctx)
}

// watched returns both sides. Each commit holds that at most one of them may run the job; reads and commits are counted.
func (w *world) watched(before, after func(request int) error) (source, target side) {
	request := 0
	s := side{
		before: func() error {
			request++
			return before(request)
		},
		after: func() error {
			here, there := w.sides()
			require.False(w, here && there, "both sides may run the job after request %d", request)
			return after(request)
		},
	}
	source, target = s, s
	source.Registry, target.Registry = w.source, w.target
	return source, target
}

func nothing(int) error { return nil }

type direction func(context.Context, migrate.Side, migrate.Side, migrate.MoveOptions) (migrate.MoveReport, error)

var applyMove = migrate.MoveOptions{Options: migrate.Options{Apply: true, Who: "anna"}}

// goes brings the job all the way in a direction.
func (w *world) goes(way direction) migrate.MovedJob {
	w.Helper()
	source, target := w.watched(nothing, nothing)
	report, err := way(w.Context(), source, target, applyMove)
	require.NoError(w, err)
	require.Len(w, report.Jobs, 1)
	return report.Jobs[0]
}

// bubble runs a test over a world of its own, in which time passes when all wait.
func bubble(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
}

func TestAPlanOfAMoveWritesNothing(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.live()
		w.has(w.source, "/orders/sharding/0/running", javaAt)
		before, after := w.nodes(w.source), w.nodes(w.target)
		report, err := migrate.Move(w.Context(), w.source, w.target, migrate.MoveOptions{})
		require.NoError(w, err)
		require.True(w, report.Complete())
		require.Equal(w, []string{
			"create the job in the target, disabled",
			"disable the job in the source, on its servers 10.0.0.1",
			"wait until nothing of it runs in the source, for 10s; now items 0 still run",
			"enable the job in the target, with fencing tokens above the source's",
		}, report.Jobs[0].Steps)
		require.Equal(w, migrate.NotMoved, report.Jobs[0].State)
		require.Equal(w, []string{"kept in config.elasticJob3, where they mean nothing: label"}, report.Jobs[0].Notes)
		require.Equal(w, before, w.nodes(w.source))
		require.Equal(w, after, w.nodes(w.target))
	})
}

func TestAJobIsMovedWhileItRuns(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.live()
		w.has(w.source, "/orders/sharding/0/running", javaAt)
		before := w.nodes(w.source)
		last := w.highest()
		began := time.Now()
		ended := make(chan migrate.MovedJob)
		go func() { ended <- w.goes(migrate.Move) }()
		synctest.Wait()
		here, there := w.sides()
		require.False(w, here || there, "it drains")
		require.Contains(w, w.nodes(w.source)["/orders/config"], "disabled: true")
		time.Sleep(time.Minute)
		_, err := w.source.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/orders/sharding/0/running")}})
		require.NoError(w, err)
		moved := <-ended
		require.Equal(w, time.Minute+10*time.Second, time.Since(began), "and then settles")
		require.True(w, moved.Done, moved.Reason)
		require.Equal(w, migrate.Moved, moved.State)
		require.Greater(w, w.base(), last)
		target := w.nodes(w.target)
		require.Contains(w, target["/orders/config"], `"disabled":false`)
		require.Equal(w, "DISABLED", target["/orders/servers/10.0.0.2"], "as the operator wants it")
		require.NotContains(w, target, "/orders/servers/10.0.0.1")
		require.Contains(w, target, "/orders/sharding/1/disabled")
		ops := w.operations()
		require.Equal(w, "anna", ops[len(ops)-1].Who)
		require.True(w, w.goes(migrate.Move).Done, "it can be repeated")

		returned := w.goes(migrate.Return)
		require.True(w, returned.Done, returned.Reason)
		after := w.nodes(w.source)
		tokens, err := jobtree.DecodeTokens(registry.Node{Path: "/orders/leader/tokens", Value: after["/orders/leader/tokens"]})
		require.NoError(w, err)
		require.Greater(w, tokens.Base, w.base(), "also those that the target has granted")
		delete(after, "/orders/leader/move")
		delete(after, "/orders/leader/tokens")
		delete(before, "/orders/sharding/0/running")
		require.Equal(w, before, after)
		require.True(w, w.goes(migrate.Return).Done)

		require.True(w, w.goes(migrate.Move).Done)
		confirmed := w.goes(migrate.Confirm)
		require.True(w, confirmed.Done, confirmed.Reason)
		require.Equal(w, migrate.Confirmed, confirmed.State)
		require.NotContains(w, w.nodes(w.target), "/orders/leader/move")
		require.True(w, w.goes(migrate.Confirm).Done)
		require.True(w, w.goes(migrate.Move).Done)
		require.Contains(w, w.goes(migrate.Return).Reason, "was confirmed")
	})
}

// highest returns the newest revision of the source.
func (w *world) highest() int64 {
	w.Helper()
	_, revision, err := w.source.List(w.Context(), registry.Root)
	require.NoError(w, err)
	return int64(revision)
}

// errDead is what a mover dies of.
var errDead = errors.New("the mover has died")

// A mover dies at any of its requests, a write before or after the store has done it. Whoever starts it again brings the job
// where it was to be brought, and never do both sides run it.
func TestAMoverThatDiesAnywhereIsStartedAgain(t *testing.T) {
	t.Parallel()
	for name, ways := range map[string][]direction{
		"forth":       {migrate.Move},
		"back":        {migrate.Move, migrate.Return},
		"forth again": {migrate.Move, migrate.Return, migrate.Move},
		"confirmed":   {migrate.Move, migrate.Confirm},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for request, ended := 1, false; !ended; request++ {
				for _, after := range []bool{false, true} {
					died := false
					bubble(t, func(w *world) {
						w.live()
						w.has(w.source, "/orders/leader/failover/items/0", "")
						for _, way := range ways[:len(ways)-1] {
							require.True(w, w.goes(way).Done)
						}
						die := func(now bool) func(int) error {
							return func(n int) error {
								if now && n == request {
									died = true
									return errDead
								}
								return nil
							}
						}
						source, target := w.watched(die(!after), die(after))
						report, err := ways[len(ways)-1](w.Context(), source, target, applyMove)
						require.Equal(w, died, errors.Is(err, errDead), "%v %v", report, err)
						ended = ended || !died && !after
						last := w.goes(ways[len(ways)-1])
						require.True(w, last.Done, last.Reason)
						w.holdsEnd(last.State)
					})
				}
			}
		})
	}
}

// holdsEnd holds what both sides have at the end of a way.
func (w *world) holdsEnd(state migrate.MoveState) {
	w.Helper()
	here, there := w.sides()
	owed, waits := w.owedIn(0) != nil, w.nodes(w.source)["/orders/leader/failover/items/0"]
	_, left := w.nodes(w.source)["/orders/leader/failover/items/0"]
	require.Empty(w, waits)
	switch state {
	case migrate.Moved, migrate.Confirmed:
		require.Equal(w, []bool{false, true}, []bool{here, there})
		require.Equal(w, []bool{true, false}, []bool{owed, left}, "the lost execution is the target's")
	case migrate.Returned:
		require.Equal(w, []bool{true, false}, []bool{here, there})
		require.Equal(w, []bool{false, true}, []bool{owed, left}, "the lost execution is the source's")
	default:
		require.Fail(w, "no end", state)
	}
}

// A mover is held up before any of its requests while others bring the job elsewhere, once or several times. What it then
// writes is refused or does no harm.
func TestTwoMoversAtOnce(t *testing.T) {
	t.Parallel()
	type others []direction
	for name, test := range map[string]struct {
		before, first direction // what was done before, and what the mover does that is held up
		others        others
	}{
		"two move":                         {first: migrate.Move, others: others{migrate.Move}},
		"moved and taken back":             {first: migrate.Move, others: others{migrate.Move, migrate.Return}},
		"taken back":                       {first: migrate.Move, others: others{migrate.Return}},
		"taken back, and moved again":      {first: migrate.Move, others: others{migrate.Return, migrate.Move}},
		"moved, taken back, moved again":   {first: migrate.Move, others: others{migrate.Move, migrate.Return, migrate.Move}},
		"moved and confirmed":              {first: migrate.Move, others: others{migrate.Move, migrate.Confirm}},
		"two take back":                    {before: migrate.Move, first: migrate.Return, others: others{migrate.Return}},
		"taken back by two, moved again":   {before: migrate.Move, first: migrate.Return, others: others{migrate.Return, migrate.Move}},
		"confirmed while it is taken back": {before: migrate.Move, first: migrate.Return, others: others{migrate.Confirm}},
		"taken back while confirmed":       {before: migrate.Move, first: migrate.Confirm, others: others{migrate.Return}},
		"... and moved again":              {before: migrate.Move, first: migrate.Confirm, others: others{migrate.Return, migrate.Move}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for request, held := 1, true; held; request++ {
				held = false
				bubble(t, func(w *world) {
					w.live()
					w.has(w.source, "/orders/leader/failover/items/0", "")
					if test.before != nil {
						require.True(w, w.goes(test.before).Done)
					}
					source, target := w.watched(func(n int) error {
						if n == request {
							held = true
							for _, way := range test.others {
								w.goes(way) // it may be refused
							}
						}
						return nil
					}, nothing)
					_, err := test.first(w.Context(), source, target, applyMove)
					require.NoError(w, err)
					here, there := w.sides()
					require.False(w, here && there)
					w.endsSomehow(fmt.Sprintf("held up at request %d", request))
				})
			}
		})
	}
}

// endsSomehow holds that the job can be brought to an end from wherever it stands.
func (w *world) endsSomehow(what string) {
	w.Helper()
	moved := w.goes(migrate.Move)
	if strings.Contains(moved.Reason, "taken back") {
		require.True(w, w.goes(migrate.Return).Done, what)
		moved = w.goes(migrate.Move)
	}
	require.True(w, moved.Done, "%s: %s", what, moved.Reason)
	w.holdsEnd(moved.State)
}

// write does to a registry what somebody else does.
func (w *world) write(reg *memory.Registry, writes ...registry.Write) {
	w.Helper()
	_, err := reg.Commit(w.Context(), registry.Txn{Then: writes})
	require.NoError(w, err)
}

// drains is a mover that drains the source and does not wait for it.
func (w *world) drains() {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Nanosecond) // in a bubble, only waiting takes time
	defer cancel()
	report, err := migrate.Move(ctx, w.source, w.target, applyMove)
	require.ErrorIs(w, err, context.DeadlineExceeded)
	require.Equal(w, migrate.Prepared, report.Jobs[0].State)
	here, there := w.sides()
	require.False(w, here || there)
}

// Java writes the node of a server as the config says, when a process starts. What it writes while the job is drained is
// nobody's wish.
func TestServersThatStartWhileTheJobIsDrained(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		way  direction
		want map[string]string
		side func(*world) *memory.Registry
	}{
		"forth": {migrate.Move, map[string]string{"/orders/servers/10.0.0.2": "DISABLED"}, func(w *world) *memory.Registry { return w.target }},
		"back": {migrate.Return, map[string]string{
			"/orders/servers/10.0.0.1": "ENABLED", "/orders/servers/10.0.0.2": "DISABLED",
			"/orders/servers/10.0.0.3": "ENABLED", "/orders/servers/10.0.0.4": "ENABLED",
		}, func(w *world) *memory.Registry { return w.source }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.live()
				w.drains()
				w.has(w.source, "/orders/servers/10.0.0.3", "DISABLED", "/orders/servers/10.0.0.4", "DISABLED",
					"/orders/instances/10.0.0.4@-@9!", "jobInstanceId: 10.0.0.4@-@9\n")
				w.has(w.source, "/orders/servers/10.0.0.2", "DISABLED") // as Java does when it reconnects
				ended := w.goes(test.way)
				require.True(w, ended.Done, ended.Reason)
				got := make(map[string]string)
				for path, value := range w.nodes(test.side(w)) {
					if strings.HasPrefix(path, "/orders/servers/") {
						got[path] = value
					}
				}
				require.Equal(w, test.want, got)
			})
		})
	}
}

// What the target has otherwise is refused before anything is disabled.
func TestMarksOfTheTargetAreLookedAtFirst(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.live()
		require.True(w, w.goes(migrate.Move).Done)
		w.has(w.target, "/orders/sharding/0/disabled", "")
		require.True(w, w.goes(migrate.Return).Done)
		moved := w.goes(migrate.Move)
		require.Contains(w, moved.Reason, "has it otherwise (sharding/0/disabled")
		here, _ := w.sides()
		require.True(w, here, "the source goes on")
	})
}

// Somebody enables the target's job while it is to wait. The mover disables it again, also in the midst of a wait.
func TestATargetThatIsEnabledTooEarly(t *testing.T) {
	t.Parallel()
	enable := func(w *world) {
		config := w.nodes(w.target)["/orders/config"]
		require.Contains(w, config, `"disabled":true`)
		w.write(w.target, registry.Put("/orders/config", strings.Replace(config, `"disabled":true`, `"disabled":false`, 1)))
		synctest.Wait()
		_, there := w.sides()
		require.False(w, there, "it is disabled again")
	}
	t.Run("forth", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(w *world) {
			w.live()
			w.has(w.source, "/orders/sharding/0/running", javaAt)
			ended := make(chan migrate.MovedJob)
			go func() { ended <- w.goes(migrate.Move) }()
			synctest.Wait()
			enable(w)
			w.write(w.source, registry.Delete("/orders/sharding/0/running"))
			require.True(w, (<-ended).Done)
		})
	})
	t.Run("back", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(w *world) {
			w.live()
			require.True(w, w.goes(migrate.Move).Done)
			w.has(w.target, "/orders/sharding/0/running", "10.0.0.9@-@7-go")
			ended := make(chan migrate.MovedJob)
			go func() { ended <- w.goes(migrate.Return) }()
			synctest.Wait()
			enable(w)
			w.write(w.target, registry.Delete("/orders/sharding/0/running"))
			require.True(w, (<-ended).Done)
		})
	})
}

// Another mover takes the job back and drains it once more while one has settled. That one settles anew.
func TestWhatWasSettledBelongsToOneDrain(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.live()
		began, once := time.Now(), false
		source, target := w.watched(func(int) error {
			if !once && time.Since(began) >= 10*time.Second {
				once = true
				require.True(w, w.goes(migrate.Return).Done)
				w.drains()
			}
			return nil
		}, nothing)
		report, err := migrate.Move(w.Context(), source, target, applyMove)
		require.NoError(w, err)
		require.True(w, report.Complete())
		require.True(w, once)
		require.GreaterOrEqual(w, time.Since(began), 20*time.Second)
	})
}

// A JVM whose session is over may work on: whoever finds it gone settles none the less.
func TestTheLastInstanceOfJavaIsGone(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.live()
		w.drains()
		w.write(w.source, registry.Delete("/orders/instances/10.0.0.1@-@7"), registry.Delete("/orders/instances/10.0.0.2@-@8"))
		began := time.Now()
		require.True(w, w.goes(migrate.Move).Done)
		require.Equal(w, 10*time.Second, time.Since(began))
	})
}

// Nobody can tell whether a job runs that records nothing. Whoever lives in the source, it settles on both ways.
func TestWhatIsNotRecordedSettles(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.has(w.source, "/orders/config", configOf(w, func(c *job.Config) { c.Unmonitored = true }), "/orders/instances/10.0.0.1@-@go!", "")
		for _, way := range []direction{migrate.Move, migrate.Return} {
			source, target := w.watched(nothing, nothing)
			opts := applyMove
			plan, err := way(w.Context(), source, target, migrate.MoveOptions{Settle: time.Minute})
			require.NoError(w, err)
			require.Contains(w, strings.Join(plan.Jobs[0].Steps, "; "), ", for 1m0s, as nobody can tell whether it runs")
			opts.Settle, opts.Wait = time.Minute, time.Second // which is for what is seen to run
			began := time.Now()
			report, err := way(w.Context(), source, target, opts)
			require.NoError(w, err)
			require.True(w, report.Complete(), report.Jobs[0].Reason)
			require.Equal(w, time.Minute, time.Since(began))
		}
	})
}

// A Java instance claims a lost execution in its latch. The mover takes it over before that or not at all.
func TestWhatJavaClaimsIsLeftToIt(t *testing.T) {
	t.Parallel()
	claim := []registry.Write{registry.Put("/orders/sharding/0/failover", javaAt), registry.Delete("/orders/leader/failover/items/0")}
	for name, test := range map[string]func(w *world, ended chan migrate.MovedJob){
		"in its latch": func(w *world, ended chan migrate.MovedJob) {
			claims := func() {
				go func() {
					report, err := migrate.Move(w.Context(), w.source, w.target, applyMove)
					require.NoError(w, err)
					ended <- report.Jobs[0]
				}()
				time.Sleep(11 * time.Second) // it has settled
				require.Contains(w, w.nodes(w.source), "/orders/leader/failover/items/0", "it waits for the latch")
				w.write(w.source, claim...)
			}
			require.NoError(w, w.source.Latch(w.Context(), "/orders/leader/failover/latch", func(context.Context) error {
				claims()
				return nil
			}))
		},
		"of a crash that it notices late": func(w *world, ended chan migrate.MovedJob) {
			go func() { ended <- w.goes(migrate.Move) }()
			time.Sleep(11 * time.Second) // it has taken the execution over, and settles
			w.write(w.source, claim[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.live()
				w.has(w.source, "/orders/leader/failover/items/0", "")
				ended := make(chan migrate.MovedJob, 1)
				test(w, ended)
				synctest.Wait()
				require.Empty(w, ended)
				w.write(w.source, registry.Delete("/orders/sharding/0/failover"))
				moved := <-ended
				require.True(w, moved.Done, moved.Reason)
				require.Nil(w, w.owedIn(0), "it is not run on both sides")
			})
		})
	}
}

// The source does not tell to which target a move was confirmed. Another one has no such job.
func TestConfirmedToAnotherTarget(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.live()
		require.True(w, w.goes(migrate.Move).Done)
		require.True(w, w.goes(migrate.Confirm).Done)
		other := newWorld(w.TB)
		for _, way := range []direction{migrate.Move, migrate.Confirm} {
			report, err := way(w.Context(), w.source, other.target, applyMove)
			require.NoError(w, err)
			require.Contains(w, report.Jobs[0].Reason, "the target has no such job")
		}
		w.has(w.source, "/orders/config", newConfig)
		require.Contains(w, w.goes(migrate.Move).Reason, "enabled again in the source")
	})
}

// between is a world whose sides are given.
func (w *world) between(source, target *memory.Registry) *world {
	return &world{TB: w.TB, source: source, target: target}
}

// After the way back only the source may run the job: there operators disable and enable it, in the target they do not.
func TestAJobThatHasReturnedIsEnabledInTheSourceAlone(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.has(w.source, "/orders/config", configOf(w, nil))
		require.True(w, w.goes(migrate.Move).Done)
		require.True(w, w.goes(migrate.Return).Done)
		there, err := operate.New(w.target, operate.By("anna", "test"))
		require.NoError(w, err)
		before := w.nodes(w.target)
		_, err = there.EnableJob(w.Context(), "orders", operate.Options{})
		cause, refused := operate.IsRefused(err)
		require.True(w, refused, err)
		require.Equal(w, operate.CausePending, cause)
		require.Equal(w, before, w.nodes(w.target))
		here, err := operate.New(w.source, operate.By("anna", "test"))
		require.NoError(w, err)
		_, err = here.DisableJob(w.Context(), "orders", operate.Options{})
		require.NoError(w, err)
		_, err = here.EnableJob(w.Context(), "orders", operate.Options{})
		require.NoError(w, err)
	})
}

// Somebody confuses source and target. Nothing is written, in whatever state the move is.
func TestSourceAndTargetConfused(t *testing.T) {
	t.Parallel()
	for name, ways := range map[string][]direction{
		"moved":     {migrate.Move},
		"returned":  {migrate.Move, migrate.Return},
		"confirmed": {migrate.Move, migrate.Confirm},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.has(w.source, "/orders/config", configOf(w, nil))
				for _, way := range ways {
					require.True(w, w.goes(way).Done)
				}
				source, target := w.nodes(w.source), w.nodes(w.target)
				swapped := w.between(w.target, w.source)
				wrong := []direction{migrate.Return, migrate.Confirm, migrate.Move}
				if name == "confirmed" {
					wrong = wrong[:2] // and may be moved back
				}
				for _, way := range wrong {
					report, err := way(w.Context(), swapped.source, swapped.target, applyMove)
					require.NoError(w, err)
					require.NotEmpty(w, report.Jobs[0].Reason)
					require.Equal(w, source, w.nodes(w.source))
					require.Equal(w, target, w.nodes(w.target))
				}
				if name == "confirmed" {
					back := swapped.goes(migrate.Move)
					require.True(w, back.Done, back.Reason)
				}
			})
		})
	}
}

// A registry is the source of a move while it is the target of another one, or the other way round. What it says of the first
// stays, and so does who runs the job.
func TestMovesOfOneJobInARow(t *testing.T) {
	t.Parallel()
	type step struct {
		from, to int // of three registries
		way      direction
		want     string // why it is refused; empty if it is not
	}
	for name, test := range map[string]struct {
		steps []step
		cut   bool // the first step is cut short when the target is prepared
	}{
		"prepared": {cut: true, steps: []step{
			{0, 1, migrate.Move, ""},
			{1, 2, migrate.Move, "in the source: it is prepared by a move to there"},
			{1, 2, migrate.Return, "in the source: it is prepared by a move to there"},
			{0, 1, migrate.Return, ""},
		}},
		"moved": {steps: []step{
			{0, 1, migrate.Move, ""},
			{1, 2, migrate.Move, "in the source: it is moved by a move to there"},
			{0, 1, migrate.Confirm, ""},
			{1, 2, migrate.Move, ""},
			{0, 1, migrate.Return, "in the target: it is drained by a move from there"},
			{0, 1, migrate.Move, "in the target: it is drained by a move from there"},
			{1, 2, migrate.Return, ""},
			{0, 1, migrate.Return, "in the target: it has returned to there"},
		}},
		"returned": {steps: []step{
			{0, 1, migrate.Move, ""},
			{0, 1, migrate.Return, ""},
			{1, 2, migrate.Move, "in the source: it has returned from there"},
			{0, 2, migrate.Move, ""},
		}},
		"two targets": {cut: true, steps: []step{
			{0, 1, migrate.Move, ""},
			{0, 2, migrate.Move, ""},
			{0, 1, migrate.Return, "in the source: it is drained by another move"},
			{0, 1, migrate.Move, "in the source: it is drained by another move"},
			{0, 2, migrate.Return, ""},
			{0, 1, migrate.Return, ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				sides := []*memory.Registry{w.source, w.target, newWorld(w.TB).target}
				w.has(w.source, "/orders/config", configOf(w, nil))
				for i, step := range test.steps {
					pair := w.between(sides[step.from], sides[step.to])
					if test.cut && i == 0 {
						source, target := pair.watched(func(n int) error {
							if n == 4 { // both sides were read, and the target is prepared
								return errDead
							}
							return nil
						}, nothing)
						_, err := step.way(w.Context(), source, target, applyMove)
						require.ErrorIs(w, err, errDead)
						require.Contains(w, w.nodes(pair.target)["/orders/leader/move"], "prepared")
						continue
					}
					before := make([]map[string]string, len(sides))
					for n, side := range sides {
						before[n] = w.nodes(side)
					}
					report, err := step.way(w.Context(), pair.source, pair.target, applyMove)
					require.NoError(w, err)
					if step.want == "" {
						require.True(w, report.Complete(), "step %d: %s", i, report.Jobs[0].Reason)
						continue
					}
					require.Contains(w, report.Jobs[0].Reason, step.want, "step %d", i)
					for n, side := range sides {
						require.Equal(w, before[n], w.nodes(side), "step %d, side %d", i, n)
					}
				}
			})
		})
	}
}

// record returns what a registry has of an item's executions.
func (w *world) record(reg *memory.Registry, item int) jobtree.Record {
	w.Helper()
	n, err := reg.Get(w.Context(), jobtree.For("orders").ItemRecord(item))
	require.NoError(w, err)
	r, err := jobtree.DecodeRecord(n)
	require.NoError(w, err)
	return r
}

// ran returns the record of an item that ran for a fire.
func ran(fire time.Time, change func(*jobtree.Record)) string {
	r := jobtree.Record{
		State: jobtree.ItemIdle, LastFire: fire, Trigger: 3, Counts: jobtree.Counts{Success: 5},
		Current: &jobtree.Execution{
			Instance: "10.0.0.1@-@1", Session: 5, Source: job.Scheduled, Fire: fire, Token: 30, Begin: fire, End: fire, Outcome: jobtree.Success,
		},
	}
	if change != nil {
		change(&r)
	}
	return jobtree.EncodeRecord(r)
}

// A process that starts after the job has changed sides knows from the records alone which fires have run: it would make up
// what the other side has run for, as far as the window reaches back.
func TestRecordsTellWhatTheOtherSideHasRun(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		fire := func(minutes int) time.Time {
			return time.Now().UTC().Truncate(time.Hour).Add(time.Duration(minutes) * time.Minute)
		}
		w.has(
			w.source, "/orders/config", configOf(w, func(c *job.Config) { c.MisfireWindow = time.Hour }),
			"/orders/sharding/0/record", ran(fire(5), nil), "/orders/sharding/1/record", ran(fire(5), nil), "/orders/sharding/2/record",
			ran(fire(5), func(r *jobtree.Record) { // its instance died, and there is no failover
				r.State, r.Before = jobtree.ItemRunning, &jobtree.Before{State: jobtree.ItemIdle}
				r.Current.Token, r.Current.Outcome, r.Current.End = 0, "", time.Time{}
			}),
		)
		require.True(w, w.goes(migrate.Move).Done)
		require.NotContains(w, w.nodes(w.target), "/orders/sharding/0/record")

		w.has(w.target, "/orders/sharding/0/record", ran(fire(20), nil), "/orders/sharding/2/record", ran(fire(25), nil), "/orders/sharding/3/record", ran(fire(25), nil))
		kept := w.record(w.source, 1)
		require.True(w, w.goes(migrate.Return).Done)
		back := w.record(w.source, 0)
		require.Equal(w, fire(20), back.LastFire)
		require.Equal(w, fire(5), back.Current.Fire)
		require.EqualValues(w, 30, back.Current.Token)
		require.EqualValues(w, 5, back.Counts.Success)
		require.Equal(w, kept, w.record(w.source, 1))
		require.Equal(w, fire(25), w.record(w.source, 2).LastFire)
		require.Equal(w, jobtree.ItemInterrupted, w.record(w.source, 2).State)
		require.NotContains(w, w.nodes(w.source), "/orders/sharding/3/record")

		w.has(w.source, "/orders/sharding/0/record", ran(fire(40), nil))
		require.True(w, w.goes(migrate.Move).Done)
		require.Equal(w, fire(40), w.record(w.target, 0).LastFire)
		require.Equal(w, fire(25), w.record(w.target, 3).LastFire)
	})
}

// What a side is to run again takes the place of the execution that it knew last, and of nothing else: what had run there for
// fires and by hand would run once more.
func TestALostExecutionLeavesWhatWasKnown(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		fire := func(minutes int) time.Time {
			return time.Now().UTC().Truncate(time.Hour).Add(time.Duration(minutes) * time.Minute)
		}
		lost := func(minutes int) string {
			return ran(fire(minutes), func(r *jobtree.Record) {
				r.State, r.Trigger = jobtree.ItemWaiting, 0
				r.Current.Outcome, r.Current.Failover = jobtree.Lost, true
			})
		}
		w.has(w.source, "/orders/config", configOf(w, func(c *job.Config) { c.Failover = true }), "/orders/sharding/0/record", ran(fire(5), nil))
		require.True(w, w.goes(migrate.Move).Done)
		w.has(w.target, "/orders/sharding/0/record", lost(20))
		require.True(w, w.goes(migrate.Return).Done)
		here := w.record(w.source, 0)
		require.Equal(w, jobtree.ItemWaiting, here.State)
		require.Equal(w, fire(20), here.LastFire)
		require.EqualValues(w, 3, here.Trigger)
		require.EqualValues(w, 5, here.Counts.Success)

		w.has(w.source, "/orders/sharding/0/record", lost(10)) // of a request by hand, say
		w.has(w.target, "/orders/sharding/0/record", ran(fire(20), nil))
		require.True(w, w.goes(migrate.Move).Done)
		there := w.record(w.target, 0)
		require.Equal(w, jobtree.ItemWaiting, there.State)
		require.Equal(w, fire(10), there.Owed().Fire)
		require.Equal(w, fire(20), there.LastFire)
		require.EqualValues(w, 3, there.Trigger)
		require.EqualValues(w, 5, there.Counts.Success)
	})
}

// So it does where the source does not run it again, as it has no failover.
func TestALostExecutionThatIsNotRunAgainLeavesWhatWasKnown(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		fire := func(minutes int) time.Time {
			return time.Now().UTC().Truncate(time.Hour).Add(time.Duration(minutes) * time.Minute)
		}
		w.has(w.source, "/orders/config", configOf(w, func(c *job.Config) { c.MisfireWindow = time.Hour }), "/orders/sharding/0/record", ran(fire(5), nil))
		require.True(w, w.goes(migrate.Move).Done)
		w.has(w.target, "/orders/config", configOf(w, func(c *job.Config) { c.MisfireWindow, c.Failover = time.Hour, true }),
			"/orders/sharding/0/record", ran(fire(20), func(r *jobtree.Record) {
				r.State = jobtree.ItemWaiting
				r.Current.Outcome, r.Current.Failover = jobtree.Lost, true
			}))
		require.True(w, w.goes(migrate.Return).Done)
		here := w.record(w.source, 0)
		require.Equal(w, jobtree.ItemIdle, here.State)
		require.Equal(w, fire(20), here.LastFire)
	})
}

// Each side goes on from the checkpoints of the one that ran last, and not from its own of before.
func TestCheckpointsMove(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		offsets := func(reg registry.Reader) map[string]string {
			all := w.nodes(reg)
			maps.DeleteFunc(all, func(path, _ string) bool { return !strings.HasPrefix(path, "/orders/offset/") })
			return all
		}
		w.has(w.source, "/orders/config", configOf(w, nil), "/orders/offset/0", "page 7", "/orders/offset/1", "page 1")
		require.True(w, w.goes(migrate.Move).Done)
		require.Equal(w, map[string]string{"/orders/offset/0": "page 7", "/orders/offset/1": "page 1"}, offsets(w.target))

		w.has(w.target, "/orders/offset/0", "page 9", "/orders/offset/2", "page 3")
		_, err := w.target.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/orders/offset/1")}})
		require.NoError(w, err)
		require.True(w, w.goes(migrate.Return).Done)
		after := map[string]string{"/orders/offset/0": "page 9", "/orders/offset/2": "page 3"}
		require.Equal(w, after, offsets(w.source))

		w.has(w.source, "/orders/offset/0", "page 11")
		require.True(w, w.goes(migrate.Move).Done)
		require.Equal(w, map[string]string{"/orders/offset/0": "page 11", "/orders/offset/2": "page 3"}, offsets(w.target))
	})
}

// A target in which the job has not run says nothing of its checkpoints.
func TestCheckpointsOfATargetThatHasNotRunTheJob(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.has(w.source, "/orders/config", configOf(w, nil), "/orders/offset/0", "page 7")
		w.has(w.target, "/orders/offset/0", "page 2") // of a job that was removed
		source, target := w.watched(func(n int) error {
			if n == 4 { // both sides were read, and the target is prepared
				return errDead
			}
			return nil
		}, nothing)
		_, err := migrate.Move(w.Context(), source, target, applyMove)
		require.ErrorIs(w, err, errDead)
		require.Contains(w, w.nodes(w.target)["/orders/leader/move"], "prepared")
		require.True(w, w.goes(migrate.Return).Done)
		require.Equal(w, "page 7", w.nodes(w.source)["/orders/offset/0"])
	})
}

// What a target loses of its checkpoints is noted, before it does, and a source that has none takes none from it.
func TestCheckpointsThatAMoveReplaces(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source map[string]string
		after  map[string]string
		note   string
	}{
		"a source with checkpoints": {
			source: map[string]string{"/orders/offset/0": "secret page 7", "/orders/offset/1": "secret page 1", "/orders/offset/2": "page 3"},
			after:  map[string]string{"/orders/offset/0": "secret page 7", "/orders/offset/1": "secret page 1", "/orders/offset/2": "page 3"},
			note:   "replaced by those of the source: checkpoints of items 0, 5 in the target",
		},
		"one without": {
			after: map[string]string{"/orders/offset/0": "secret page 9", "/orders/offset/2": "page 3", "/orders/offset/5": "secret page 8"},
			note:  "kept, as the source knows of none: checkpoints of items 0, 2, 5 in the target",
		},
		"one that has come to the end of all": {
			source: map[string]string{"/orders/sharding/0/record": `{"state":"idle","lastFire":"2000-01-01T00:00:05Z"}`},
			after:  map[string]string{},
			note:   "replaced by those of the source: checkpoints of items 0, 2, 5 in the target",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.has(w.source, "/orders/config", configOf(w, nil))
				for path, value := range test.source {
					w.has(w.source, path, value)
				}
				w.has(w.target, "/orders/config", configOf(w, func(c *job.Config) { c.Disabled = true }),
					"/orders/offset/0", "secret page 9", "/orders/offset/2", "page 3", "/orders/offset/5", "secret page 8")
				plan, err := migrate.Move(w.Context(), w.source, w.target, migrate.MoveOptions{})
				require.NoError(w, err)
				require.Equal(w, []string{test.note}, plan.Jobs[0].Notes)

				moved := w.goes(migrate.Move)
				require.True(w, moved.Done, moved.Reason)
				require.Equal(w, []string{test.note}, moved.Notes)
				require.NotContains(w, fmt.Sprint(moved), "secret")
				after := w.nodes(w.target)
				maps.DeleteFunc(after, func(path, _ string) bool { return !strings.HasPrefix(path, "/orders/offset/") })
				require.Equal(w, test.after, after)
			})
		})
	}
}

// What a move changes in a source that has operations is written down there: nobody has changed it from outside.
func TestAMoveIsWrittenDownInTheSource(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.live()
		op, err := operate.New(ofJava{w.source}, operate.By("bert", "test"))
		require.NoError(w, err)
		_, err = op.DisableItem(w.Context(), "orders", 0, operate.Options{})
		require.NoError(w, err)
		for step, way := range []direction{migrate.Move, migrate.Return} {
			ended := w.goes(way)
			require.True(w, ended.Done, ended.Reason)
			list, revision, err := w.source.List(w.Context(), registry.Root)
			require.NoError(w, err)
			require.Empty(w, operate.Outside(registry.NewSnapshot(revision, list)))
			all, err := op.Operations(w.Context(), "orders")
			require.NoError(w, err)
			require.Len(w, all, 2+step)
			require.Equal(w, operate.Verb("migrate"), all[len(all)-1].Verb)
		}
	})
}

// A job that was moved and confirmed comes back. What that move disabled in its former home is no operator's word, what
// operators have disabled there is.
func TestAJobComesBackAfterItsMoveWasConfirmed(t *testing.T) {
	t.Parallel()
	for name, java := range map[string]bool{"": false, "beside Java": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.has(w.source, "/orders/config", configOf(w, nil), "/orders/instances/10.0.0.1@-@go!", "",
					"/orders/servers/10.0.0.2", "DISABLED", "/orders/instances/10.0.0.2@-@go!", "",
					"/orders/servers/10.0.0.3", "", "/orders/instances/10.0.0.3@-@go!", "")
				had := w.nodes(w.source)
				require.True(w, w.goes(migrate.Move).Done)
				require.True(w, w.goes(migrate.Confirm).Done)
				if java {
					w.has(w.source, "/orders/instances/10.0.0.7@-@7!", "")
				}
				back := w.between(w.target, w.source)
				moved := back.goes(migrate.Move)
				if java {
					require.Contains(w, moved.Reason, "the target has the job, and has it otherwise (servers/10.0.0.1", "Java goes by its servers alone")
					return
				}
				require.True(w, moved.Done, moved.Reason)
				require.Equal(w, "disable the job in the target, and have its servers 10.0.0.1, 10.0.0.3 as they were before it was moved away", moved.Steps[0])
				after := w.nodes(w.source)
				for _, path := range []string{"/orders/servers/10.0.0.1", "/orders/servers/10.0.0.2", "/orders/servers/10.0.0.3", "/orders/config"} {
					require.Equal(w, had[path], after[path], path)
				}
				require.True(w, back.goes(migrate.Confirm).Done)
				again := w.goes(migrate.Move)
				require.True(w, again.Done, again.Reason)

				require.True(w, w.goes(migrate.Confirm).Done)
				w.has(w.source, "/orders/servers/10.0.0.9", "DISABLED")
				require.Contains(w, back.goes(migrate.Move).Reason, "servers/10.0.0.9")
			})
		})
	}
}

// An operator disables servers in the registry that the job has left for good: one that the move has disabled already, one that it
// has, and that was enabled since, and one that nobody knew. Neither a move back nor a way back without the target takes that for
// what the move did.
func TestAnOperatorDisablesAServerAfterTheMoveWasConfirmed(t *testing.T) {
	t.Parallel()
	for _, ip := range []string{"10.0.0.1", "10.0.0.3", "10.0.0.9"} {
		t.Run(ip, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.has(w.source, "/orders/config", configOf(w, nil), "/orders/instances/10.0.0.1@-@go!", "", "/orders/servers/10.0.0.3", "", "/orders/instances/10.0.0.3@-@go!", "")
				require.True(w, w.goes(migrate.Move).Done)
				require.True(w, w.goes(migrate.Confirm).Done)
				op, err := operate.New(w.source, operate.By("bert", "test"))
				require.NoError(w, err)
				if ip == "10.0.0.3" {
					_, err = op.EnableServer(w.Context(), "orders", ip, operate.Options{})
					require.NoError(w, err)
				}
				_, err = op.DisableServer(w.Context(), "orders", ip, operate.Options{Force: true})
				require.NoError(w, err)
				_, err = op.DisableServer(w.Context(), "orders", ip, operate.Options{Force: true})
				cause, _ := operate.IsRefused(err)
				require.Equal(w, operate.CauseAlready, cause)

				back := w.between(w.target, w.source)
				require.Contains(w, back.goes(migrate.Move).Reason, "servers/"+ip)
				alone := w.alone(withoutTarget)
				require.True(w, alone.Done, alone.Reason)
				after := w.nodes(w.source)
				for _, other := range []string{"10.0.0.1", "10.0.0.3", "10.0.0.9"} {
					require.Equal(w, other == ip, after["/orders/servers/"+other] == "DISABLED", other)
				}
				require.Equal(w, configOf(w, nil), after["/orders/config"])
			})
		})
	}
}

// A mover is held up before any of its requests while others complete the move and confirm it, and move the job back the other
// way. Never do both sides run the job, and it can be brought to an end.
func TestAMoverIsHeldUpWhileTheJobMovesBack(t *testing.T) {
	t.Parallel()
	type call struct {
		way  direction
		back bool // from the target to the source
	}
	for name, test := range map[string]struct {
		before []call
		first  direction
		others []call
	}{
		"a move":                 {first: migrate.Move, others: []call{{way: migrate.Move}, {way: migrate.Confirm}, {migrate.Move, true}}},
		"... and that confirmed": {first: migrate.Move, others: []call{{way: migrate.Move}, {way: migrate.Confirm}, {migrate.Move, true}, {migrate.Confirm, true}}},
		"a confirmation":         {before: []call{{way: migrate.Move}}, first: migrate.Confirm, others: []call{{way: migrate.Confirm}, {migrate.Move, true}}},
		"... and moved again": {before: []call{{way: migrate.Move}}, first: migrate.Confirm, others: []call{
			{way: migrate.Confirm}, {migrate.Move, true}, {migrate.Confirm, true}, {way: migrate.Move},
		}},
		"a return": {before: []call{{way: migrate.Move}}, first: migrate.Return, others: []call{{way: migrate.Confirm}, {migrate.Move, true}}},
		"the way back": {before: []call{{way: migrate.Move}, {way: migrate.Confirm}}, first: func(ctx context.Context, source, target migrate.Side, opts migrate.MoveOptions) (migrate.MoveReport, error) {
			return migrate.Move(ctx, target, source, opts)
		}, others: []call{{migrate.Move, true}, {migrate.Confirm, true}, {way: migrate.Move}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for request, held := 1, true; held; request++ {
				held = false
				bubble(t, func(w *world) {
					w.has(w.source, "/orders/config", configOf(w, nil), "/orders/offset/0", "page 7", "/orders/instances/10.0.0.1@-@go!", "")
					w.has(w.target, "/orders/instances/10.0.0.4@-@go!", "")
					do := func(c call) migrate.MovedJob {
						source, target := w.source, w.target
						if c.back {
							source, target = target, source
						}
						report, err := c.way(w.Context(), source, target, applyMove)
						require.NoError(w, err)
						w.oneRuns()
						return report.Jobs[0]
					}
					for _, c := range test.before {
						require.True(w, do(c).Done)
					}
					counted := func(reg *memory.Registry, n *int) side {
						return side{Registry: reg, before: func() error {
							if *n++; *n == request {
								held = true
								for _, c := range test.others {
									do(c) // it may be refused
								}
							}
							return nil
						}, after: func() error {
							w.oneRuns()
							return nil
						}}
					}
					n := 0
					_, err := test.first(w.Context(), counted(w.source, &n), counted(w.target, &n), applyMove)
					require.NoError(w, err)
					w.oneRuns()
					for _, c := range []call{{way: migrate.Confirm}, {migrate.Confirm, true}} {
						do(c) // one of them, as the job stands
					}
					ended := do(call{way: migrate.Move})
					if !ended.Done {
						ended = do(call{migrate.Move, true})
					}
					require.True(w, ended.Done, "request %d: %s", request, ended.Reason)
					here, there := w.enabledIn(w.source), w.enabledIn(w.target)
					require.True(w, here != there, "request %d", request)
					for reg, enabled := range map[*memory.Registry]bool{w.source: here, w.target: there} {
						if enabled {
							require.Equal(w, "page 7", w.nodes(reg)["/orders/offset/0"])
							require.NotContains(w, w.nodes(reg), "/orders/servers/10.0.0.1")
							require.NotContains(w, w.nodes(reg), "/orders/servers/10.0.0.4")
						}
					}
				})
			}
		})
	}
}

// enabledIn tells whether a registry has the job, enabled.
func (w *world) enabledIn(reg *memory.Registry) bool {
	w.Helper()
	return strings.Contains(w.nodes(reg)["/orders/config"], `"disabled":false`)
}

// oneRuns holds that at most one side has the job enabled.
func (w *world) oneRuns() {
	w.Helper()
	require.False(w, w.enabledIn(w.source) && w.enabledIn(w.target), "both sides may run the job")
}
