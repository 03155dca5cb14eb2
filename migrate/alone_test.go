package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// withoutTarget and withoutSource are directions of which one side is gone for good.
func withoutTarget(ctx context.Context, source, _ migrate.Side, opts migrate.MoveOptions) (migrate.MoveReport, error) {
	return migrate.ReturnWithoutTarget(ctx, source, opts)
}

func withoutSource(ctx context.Context, _, target migrate.Side, opts migrate.MoveOptions) (migrate.MoveReport, error) {
	return migrate.ConfirmWithoutSource(ctx, target, opts)
}

// alone brings the job all the way in a direction, of which one side is gone. What that may still run, nobody can know.
func (w *world) alone(way direction) migrate.MovedJob {
	w.Helper()
	opts := applyMove
	opts.Jobs = []string{"orders"}
	report, err := way(w.Context(), w.source, w.target, opts)
	require.NoError(w, err)
	require.Len(w, report.Jobs, 1)
	return report.Jobs[0]
}

// hasEverything is a job that has run, with instances on many servers.
func (w *world) hasEverything() {
	w.Helper()
	w.has(w.source, "/orders/config", configOf(w, func(c *job.Config) { c.Failover = true }), "/orders/offset/0", "page 7",
		"/orders/sharding/0/record", `{"state":"idle","lastFire":"2000-01-01T00:00:05Z"}`,
		"/orders/servers/10.0.1.1", "ENABLED", "/orders/servers/10.0.0.2", "DISABLED")
	for n := range 45 {
		w.has(w.source, fmt.Sprintf("/orders/instances/10.0.1.%d@-@go!", n), "")
	}
}

// A target is gone for good. Whoever takes the job back has it in the source as it was, with tokens above all that the target
// has granted, and nothing is left of the move: the job is disabled and enabled, and moved elsewhere.
func TestATargetIsGoneForGood(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*world){
		"moved":     func(*world) {},
		"confirmed": func(w *world) { require.True(w, w.goes(migrate.Confirm).Done) },
		"and enabled by force": func(w *world) {
			op, err := operate.New(w.source, operate.By("bert", "test"))
			require.NoError(w, err)
			_, err = op.EnableJob(w.Context(), "orders", operate.Options{Force: true})
			require.NoError(w, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.hasEverything()
				had := w.nodes(w.source)
				require.True(w, w.goes(migrate.Move).Done)
				for range 100 { // what the target has counted since
					w.has(w.target, "/orders/sharding/0/record", `{"state":"idle","lastFire":"2000-01-01T00:00:09Z"}`)
				}
				before(w)
				plan, err := migrate.ReturnWithoutTarget(w.Context(), w.source, migrate.MoveOptions{Options: migrate.Options{Jobs: []string{"orders"}}})
				require.NoError(w, err)
				require.Equal(w, []string{"give the source's job and its servers the settings back that they had, with fencing tokens above the target's"}, plan.Jobs[0].Steps)
				require.Contains(w, strings.Join(plan.Jobs[0].Notes, "\n"), "if it runs the job none the less, both do")
				_, granted, err := w.target.List(w.Context(), registry.Root)
				require.NoError(w, err)
				last := w.base() + int64(granted)

				back := w.alone(withoutTarget)
				require.True(w, back.Done, back.Reason)
				require.Equal(w, migrate.Returned, back.State)
				after := w.nodes(w.source)
				tokens, err := jobtree.DecodeTokens(registry.Node{Path: "/orders/leader/tokens", Value: after["/orders/leader/tokens"]})
				require.NoError(w, err)
				require.Greater(w, tokens.Base, last)
				for _, path := range []string{"/orders/leader/move", "/orders/leader/tokens", "/orders/operated"} {
					delete(after, path)
				}
				require.Equal(w, had, after)
				require.True(w, w.alone(withoutTarget).Done, "it can be repeated")

				op, err := operate.New(w.source, operate.By("bert", "test"))
				require.NoError(w, err)
				_, err = op.DisableJob(w.Context(), "orders", operate.Options{})
				require.NoError(w, err)
				_, err = op.EnableJob(w.Context(), "orders", operate.Options{})
				require.NoError(w, err)
				moved := w.between(w.source, newWorld(w.TB).target).goes(migrate.Move)
				require.True(w, moved.Done, moved.Reason)
			})
		})
	}
}

// A target that was taken for lost comes back. Return ends the move there, and the job can be moved there once more.
func TestATargetComesBack(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.hasEverything()
		require.True(w, w.goes(migrate.Move).Done)
		require.True(w, w.alone(withoutTarget).Done)
		back := w.goes(migrate.Return)
		require.True(w, back.Done, back.Reason)
		here, there := w.sides()
		require.Equal(w, []bool{true, false}, []bool{here, there})
		require.True(w, w.goes(migrate.Move).Done)
	})
}

// A source is gone for good. The target forgets the move, and keeps the job, which can be moved on. One that it does not run
// stays disabled.
func TestASourceIsGoneForGood(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before  func(*world)
		enabled bool
		note    string
		state   migrate.MoveState // in the end
	}{
		"moved": {before: func(w *world) { require.True(w, w.goes(migrate.Move).Done) }, enabled: true, note: "both do", state: migrate.Confirmed},
		"prepared": {before: func(w *world) {
			source, target := w.watched(func(n int) error {
				if n == 4 {
					return errDead
				}
				return nil
			}, nothing)
			_, err := migrate.Move(w.Context(), source, target, applyMove)
			require.ErrorIs(w, err, errDead)
		}, note: "tokens may be below", state: migrate.NotMoved},
		"returned": {before: func(w *world) {
			require.True(w, w.goes(migrate.Move).Done)
			require.True(w, w.goes(migrate.Return).Done)
		}, note: "enable it if it is to run", state: migrate.NotMoved},
		"moved, and disabled as it was": {before: func(w *world) {
			w.has(w.source, "/orders/config", configOf(w, func(c *job.Config) { c.Disabled = true }))
			require.True(w, w.goes(migrate.Move).Done)
		}, note: "enable it if it is to run", state: migrate.Confirmed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.has(w.source, "/orders/config", configOf(w, nil), "/orders/offset/0", "page 7")
				test.before(w)
				had := w.nodes(w.target)
				require.Contains(w, had, "/orders/leader/move")
				plan, err := migrate.ConfirmWithoutSource(w.Context(), w.target, migrate.MoveOptions{Options: migrate.Options{Jobs: []string{"orders"}}})
				require.NoError(w, err)
				require.Equal(w, []string{"forget the move in the target"}, plan.Jobs[0].Steps)
				require.Contains(w, strings.Join(plan.Jobs[0].Notes, "\n"), test.note)

				alone := w.alone(withoutSource)
				require.True(w, alone.Done, alone.Reason)
				require.Equal(w, test.state, alone.State)
				after := w.nodes(w.target)
				require.NotContains(w, after, "/orders/leader/move")
				require.Equal(w, had["/orders/config"], after["/orders/config"])
				require.Equal(w, had["/orders/offset/0"], after["/orders/offset/0"])
				require.Equal(w, had["/orders/leader/tokens"], after["/orders/leader/tokens"])
				_, there := w.sides()
				require.Equal(w, test.enabled, there)
				if !test.enabled {
					op, err := operate.New(w.target, operate.By("bert", "test"))
					require.NoError(w, err)
					_, err = op.EnableJob(w.Context(), "orders", operate.Options{})
					require.NoError(w, err)
				}
				moved := w.between(w.target, newWorld(w.TB).target).goes(migrate.Move)
				require.True(w, moved.Done, moved.Reason)
			})
		})
	}
}

// Whoever goes on alone dies at any of their requests, and is started again.
func TestWhoGoesOnAloneDiesAnywhere(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]direction{"back": withoutTarget, "confirmed": withoutSource} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for request, ended := 1, false; !ended; request++ {
				for _, after := range []bool{false, true} {
					died := false
					bubble(t, func(w *world) {
						w.hasEverything()
						had := w.nodes(w.source)
						require.True(w, w.goes(migrate.Move).Done)
						die := func(now bool) func(int) error {
							return func(n int) error {
								if now && n == request {
									died = true
									return errDead
								}
								return nil
							}
						}
						count, other := 0, w.target
						if name == "confirmed" {
							other = w.source
						}
						alone := side{Registry: w.source, before: func() error { count++; return die(!after)(count) }, after: func() error { return die(after)(count) }}
						if name == "confirmed" {
							alone.Registry = w.target
						}
						opts := applyMove
						opts.Jobs = []string{"orders"}
						_, err := way(w.Context(), alone, alone, opts)
						require.Equal(w, died, errors.Is(err, errDead), "%v", err)
						ended = ended || !died && !after
						gone := w.nodes(other)
						last := w.alone(way)
						require.True(w, last.Done, last.Reason)
						require.Equal(w, gone, w.nodes(other), "nobody asks it")
						if name == "back" {
							now := w.nodes(w.source)
							delete(now, "/orders/leader/move")
							delete(now, "/orders/leader/tokens")
							require.Equal(w, had, now)
						}
					})
				}
			}
		})
	}
}

// Who confuses the two sides is refused, and what no move is under way of stays.
func TestWhoGoesOnAloneConfusesTheSides(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.has(w.source, "/orders/config", configOf(w, nil))
		stays := func(reg *memory.Registry, way direction, want string) {
			before := w.nodes(reg)
			opts := applyMove
			opts.Jobs = []string{"orders"}
			report, err := way(w.Context(), reg, reg, opts)
			require.NoError(w, err)
			require.Equal(w, want == "", report.Complete())
			require.Contains(w, report.Jobs[0].Reason, want)
			require.Equal(w, before, w.nodes(reg))
		}
		stays(w.source, withoutTarget, "")
		stays(w.source, withoutSource, "")
		stays(w.target, withoutSource, "there is no such job")
		require.True(w, w.goes(migrate.Move).Done)
		stays(w.target, withoutTarget, "it is moved by a move to there")
		stays(w.source, withoutSource, "are source and target confused?")
		require.True(w, w.goes(migrate.Confirm).Done)
		stays(w.source, withoutSource, "are source and target confused?")
		stays(w.target, withoutTarget, "")
	})
}

// Jobs of one source went to two targets, and one target is lost. The source does not say which job went where, whether that
// was confirmed or not. So jobs are taken back by name only: one that went to the target which lives would run twice.
func TestJobsAreTakenBackWithoutTheirTargetByNameOnly(t *testing.T) {
	t.Parallel()
	for name, confirmed := range map[string]bool{"moved": false, "confirmed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				lives := newWorld(w.TB).target
				w.hasEverything()
				w.has(w.source, "/bills/config", configOf(w, func(c *job.Config) { c.Name = "bills" }),
					"/mail/config", configOf(w, func(c *job.Config) { c.Name = "mail" }))
				for job, target := range map[string]migrate.Side{"orders": w.target, "bills": lives} {
					opts := applyMove
					opts.Jobs = []string{job}
					moved, err := migrate.Move(w.Context(), w.source, target, opts)
					require.NoError(w, err)
					require.True(w, moved.Complete())
					if confirmed {
						ended, err := migrate.Confirm(w.Context(), w.source, target, opts)
						require.NoError(w, err)
						require.True(w, ended.Complete())
					}
				}
				before := w.nodes(w.source)
				report, err := migrate.ReturnWithoutTarget(w.Context(), w.source, applyMove)
				require.NoError(w, err)
				require.False(w, report.Complete())
				require.Len(w, report.Jobs, 3)
				for _, j := range report.Jobs {
					require.Equal(w, j.Name == "mail", j.Done, "which nobody has moved")
					require.Equal(w, j.Name != "mail", strings.Contains(j.Reason, "name it"), j.Reason)
				}
				require.Equal(w, before, w.nodes(w.source))
				require.True(w, w.alone(withoutTarget).Done)
				require.Equal(w, before["/bills/config"], w.nodes(w.source)["/bills/config"])
			})
		})
	}
}

// Jobs of two sources went to one target, and one source is lost. The target does not say which job came from where, and the
// source that lives goes on by what the target knows. So moves are ended by name only.
func TestMovesAreEndedWithoutTheirSourceByNameOnly(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		lives := newWorld(w.TB).source
		w.has(w.source, "/orders/config", configOf(w, nil))
		w.has(lives, "/bills/config", configOf(w, func(c *job.Config) { c.Name = "bills" }), "/mail/config", configOf(w, func(c *job.Config) { c.Name = "mail" }))
		w.has(w.target, "/notes/config", configOf(w, func(c *job.Config) { c.Name = "notes" }))
		for job, source := range map[string]migrate.Side{"orders": w.source, "bills": lives, "mail": lives} {
			opts := applyMove
			opts.Jobs = []string{job}
			moved, err := migrate.Move(w.Context(), source, w.target, opts)
			require.NoError(w, err)
			require.True(w, moved.Complete())
		}
		w.has(w.target, "/bills/instances/10.0.0.9@-@go!", "", "/bills/sharding/0/running!", "10.0.0.9@-@go")
		back := applyMove
		back.Jobs, back.Wait = []string{"bills"}, 2*time.Second
		returned, err := migrate.Return(w.Context(), lives, w.target, back)
		require.NoError(w, err)
		require.Equal(w, migrate.Returning, returned.Jobs[0].State)

		before := w.nodes(w.target)
		report, err := migrate.ConfirmWithoutSource(w.Context(), w.target, applyMove)
		require.NoError(w, err)
		require.Len(w, report.Jobs, 4)
		for _, j := range report.Jobs {
			require.Equal(w, j.Name == "notes", j.Done, "which nobody has moved")
			require.Equal(w, j.Name != "notes", strings.Contains(j.Reason, "name it"), j.Reason)
		}
		require.Equal(w, before, w.nodes(w.target))
		require.True(w, w.alone(withoutSource).Done)

		_, err = w.target.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/bills/sharding/0/running")}})
		require.NoError(w, err)
		returned, err = migrate.Return(w.Context(), lives, w.target, back)
		require.NoError(w, err)
		require.True(w, returned.Complete(), returned.Jobs[0].Reason)
	})
}

// A job was taken back without its target, which runs it all the same. A move of it goes on from there no more, as its tokens
// there are below those that the source has granted since; return ends it first.
func TestATargetThatComesBackIsNotMovedTo(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.hasEverything()
		require.True(w, w.goes(migrate.Move).Done)
		require.True(w, w.alone(withoutTarget).Done)
		here, there := w.nodes(w.source), w.nodes(w.target)
		for _, way := range []direction{migrate.Move, migrate.Confirm} {
			refused := w.goes(way)
			require.False(w, refused.Done)
			require.Contains(w, refused.Reason, "taken back without this target")
			require.Equal(w, here, w.nodes(w.source))
			require.Equal(w, there, w.nodes(w.target))
		}
		granted, err := jobtree.DecodeTokens(registry.Node{Path: "/orders/leader/tokens", Value: here["/orders/leader/tokens"]})
		require.NoError(w, err)
		require.True(w, w.goes(migrate.Return).Done)
		require.True(w, w.goes(migrate.Move).Done)
		require.Greater(w, w.base(), granted.Base)
	})
}

// The source is lost while it takes a job back. What the target had given up to it, the target runs again.
func TestASourceIsLostOnTheWayBack(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.has(w.source, "/orders/config", configOf(w, func(c *job.Config) { c.Failover = true }))
		require.True(w, w.goes(migrate.Move).Done)
		fire := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		w.has(w.target, "/orders/sharding/1/record", jobtree.EncodeRecord(jobtree.Record{
			State: jobtree.ItemWaiting, LastFire: fire,
			Current: &jobtree.Execution{Instance: "10.0.0.1@-@7-go", Session: 7, Source: job.Scheduled, Fire: fire, Begin: fire, Failover: true},
		}), "/orders/leader/failover/items/1", "")
		source, target := w.watched(nothing, func(int) error {
			if strings.Contains(w.nodes(w.target)["/orders/leader/move"], `"lost"`) {
				return errDead
			}
			return nil
		})
		_, err := migrate.Return(w.Context(), source, target, applyMove)
		require.ErrorIs(w, err, errDead)
		require.Nil(w, w.owedIn(1))

		ended := w.alone(withoutSource)
		require.True(w, ended.Done, ended.Reason)
		require.Contains(w, strings.Join(ended.Notes, "\n"), "run again, whether the source has run them or not: lost executions of items 1")
		require.NotNil(w, w.owedIn(1))
		require.Equal(w, fire, w.owedIn(1).Fire)
	})
}

// When the job was disabled, a move does not say any more that was confirmed later.
func TestWhenItWasDisabledIsTold(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.hasEverything()
		require.True(w, w.goes(migrate.Move).Done)
		time.Sleep(240 * time.Hour)
		require.True(w, w.goes(migrate.Confirm).Done)
		confirmed := time.Now().UTC().Format(time.RFC3339)
		notes := strings.Join(w.alone(withoutTarget).Notes, "\n")
		require.NotContains(w, notes, "those of "+confirmed)
		require.Contains(w, notes, "of when it was disabled here")
	})
}
