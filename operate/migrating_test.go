package operate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// away is the state of the registry from which a move was taken back, with the member of the mark that says so.
const away = jobtree.MoveReturned + `","away":true,"x":"`

// A job that is disabled because it moves is not enabled, where it would run in two registries. The refusal says with
// which command the move goes on or back.
func TestAJobThatIsBeingMigratedIsNotEnabled(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]struct {
		cause operate.Cause // empty = it is enabled
		texts []string
	}{
		jobtree.MovePrepared:   {operate.CausePending, []string{"2026-02-03T04:05:06Z", "elasticron migrate move", "elasticron migrate return", "confirm --source-lost"}},
		jobtree.MoveDrained:    {operate.CausePending, []string{"2026-02-03T04:05:06Z", "elasticron migrate move", "elasticron migrate return", "return --target-lost"}},
		jobtree.MoveReturning:  {operate.CausePending, []string{"elasticron migrate return", "confirm --source-lost"}},
		jobtree.MoveConfirmed:  {operate.CausePending, []string{"confirmed", "remove it here", "return --target-lost"}},
		jobtree.MoveMoved:      {},
		jobtree.MoveConfirming: {},
		jobtree.MoveReturned:   {},
		away:                   {operate.CausePending, []string{"returned at 2026-02-03T04:05:06Z", "elasticron migrate move", "confirm --source-lost"}},
		"postponed":            {operate.CauseNewer, []string{"postponed", "not known to this version"}},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			settings(stopped)(g)
			g.do(registry.Put(nodes.Move(), `{"id":"M","state":"`+state+`","when":"2026-02-03T04:05:06Z","config":"{}"}`))
			before := g.all()
			err := errOf(g.op.EnableJob(t.Context(), theJob, silent()))
			if want.cause == "" {
				require.NoError(t, err)
				return
			}
			r := g.refused(want.cause, err)
			require.True(t, r.Forcible)
			for _, text := range want.texts {
				require.ErrorContains(t, err, text)
			}
			require.Equal(t, before, g.all())
			forcing, err := g.op.EnableJob(t.Context(), theJob, forced())
			require.NoError(t, err)
			require.Contains(t, forcing.Warnings[0], "two registries at once")
		})
	}
}

// A job that elasticron migrate keeps disabled is enabled where it goes: who disables it is told so, and not that it is
// disabled already, nor that it is done. So is who disables a server of it.
func TestAJobThatIsBeingMigratedIsNotDisabledAlready(t *testing.T) {
	t.Parallel()
	for _, state := range []string{jobtree.MovePrepared, jobtree.MoveDrained, jobtree.MoveReturning} {
		for name, java := range map[string]bool{"": false, ", beside Java": true} {
			t.Run(state+name, func(t *testing.T) {
				t.Parallel()
				g := newGround(t)
				g.store.java = java
				settings(stopped)(g)
				g.do(registry.Put(nodes.Server("10.0.0.1"), "DISABLED"), registry.Put(nodes.Move(), `{"id":"M","state":"`+state+`","when":"2026-02-03T04:05:06Z"}`))
				before := g.all()
				for _, err := range []error{
					errOf(g.op.DisableJob(t.Context(), theJob, forced())),
					errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.1", silent())),
					errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.2", silent())),
				} {
					g.refused(operate.CausePending, err)
					require.ErrorContains(t, err, "2026-02-03T04:05:06Z")
					require.ErrorContains(t, err, "disable it there when it has arrived")
				}
				require.Equal(t, before, g.all())

				settings(running)(g) // somebody has enabled it by force, or by hand
				result, err := g.op.DisableJob(t.Context(), theJob, silent())
				require.NoError(t, err)
				require.Contains(t, result.Warnings[0], "runs where it goes none the less")
				require.True(t, g.tree().Config.Value.Disabled)
			})
		}
	}
	g := newGround(t)
	require.NoError(t, g.take(1, g.text(nil)))
	settings(stopped)(g)
	g.do(registry.Put(nodes.Move(), `{"id":"M","state":"drained","when":"2026-02-03T04:05:06Z"}`))
	g.refused(operate.CausePending, g.leaveFiles(2, operate.GoneDisable)) // and they say so again
	require.NoError(t, g.leaveFiles(2, operate.GoneKeep))
	for _, state := range []string{jobtree.MoveConfirmed, jobtree.MoveMoved, jobtree.MoveReturned} {
		g := newGround(t)
		settings(stopped)(g)
		g.do(registry.Put(nodes.Move(), `{"id":"M","state":"`+state+`","when":"2026-02-03T04:05:06Z"}`))
		g.refused(operate.CauseAlready, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	}
}

// After a confirmed move, a server that the move has disabled is one that nobody has. Who disables it has that noted in the mark, by
// which the job comes back, and nothing else of that changes.
func TestAServerIsDisabledThatAConfirmedMoveHasDisabled(t *testing.T) {
	t.Parallel()
	const mark = `{"id":"M","state":"confirmed","when":"2026-02-03T04:05:06Z","config":"a < b","servers":{"10.0.0.1":null,"10.0.0.2":""},"since":7,"later":[1.50]}`
	for name, before := range map[string]func(*ground){"": func(*ground) {}, "of a job that was disabled beside Java": func(g *ground) {
		g.do(registry.Put(nodes.Operated(), jobtree.EncodeOperated(jobtree.Operated{DisabledServers: []string{}})))
	}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			settings(stopped)(g)
			g.do(registry.Put(nodes.Server("10.0.0.1"), "DISABLED"), registry.Put(nodes.Server("10.0.0.2"), "DISABLED"), registry.Put(nodes.Move(), mark))
			before(g)
			result, err := g.op.DisableServer(t.Context(), theJob, "10.0.0.1", silent())
			require.NoError(t, err)
			if name == "" {
				require.Equal(t, "server 10.0.0.1 disabled by its move -> disabled", result.Changes[0].String())
			}
			require.Equal(t, "DISABLED", g.value(nodes.Server("10.0.0.1")))
			want := strings.Replace(mark, `"10.0.0.1":null`, `"10.0.0.1":"DISABLED"`, 1)
			require.JSONEq(t, want, g.value(nodes.Move()))
			require.Contains(t, g.value(nodes.Move()), "1.50", "to the last byte")
			g.refused(operate.CauseAlready, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.1", silent())))
		})
	}
	g := newGround(t)
	settings(stopped)(g)
	g.do(registry.Put(nodes.Server("10.0.0.1"), "DISABLED"), registry.Put(nodes.Move(), mark))
	g.meanwhile(func() {
		g.do(registry.Put(nodes.Move(), `{"id":"N","state":"prepared","when":"2026-02-03T04:05:06Z"}`))
	})
	g.refused(operate.CausePending, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.1", silent())))
}

// Java instances go by servers alone, so one of those is not enabled either; and files do not enable the job.
func TestWhatElseWouldHaveAMigratingJobRun(t *testing.T) {
	t.Parallel()
	drained := put(nodes.Move(), `{"id":"M","state":"drained","when":"2026-02-03T04:05:06Z"}`)
	g := newGround(t)
	g.store.java = true
	g.do(registry.Put(nodes.Server("10.0.0.1"), "DISABLED"), registry.Put(nodes.Server("10.0.0.2"), "DISABLED"))
	require.NoError(t, errOf(g.op.EnableServer(t.Context(), theJob, "10.0.0.2", silent())))
	drained(g)
	g.refused(operate.CausePending, errOf(g.op.EnableServer(t.Context(), theJob, "10.0.0.1", silent())))
	require.NoError(t, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.2", silent())))

	g = newGround(t)
	require.NoError(t, g.take(1, g.text(nil)))
	require.NoError(t, g.leaveFiles(2, operate.GoneDisable))
	drained(g)
	r := g.refused(operate.CausePending, g.take(3, g.text(func(c *job.Config) { c.Cron = "@daily" })))
	require.False(t, r.Forcible)
	require.True(t, g.tree().Config.Value.Disabled)

	g.do(registry.Put(nodes.Move(), "?"))
	g.refused(operate.CauseUnreadable, errOf(g.op.EnableJob(t.Context(), theJob, silent())))
}

// A configuration that cannot be read hides whether the job is disabled for its move, and one that was deleted says
// nothing any more. So neither is put in its place as one that runs; as one that is disabled it is.
func TestAMigratingJobIsNotStoredAsOneThatRuns(t *testing.T) {
	t.Parallel()
	for state, refused := range map[string]bool{
		jobtree.MoveDrained: true, jobtree.MovePrepared: true, jobtree.MoveReturning: true, jobtree.MoveConfirmed: true, away: true, "postponed": true,
		jobtree.MoveMoved: false, jobtree.MoveConfirming: false, jobtree.MoveReturned: false,
	} {
		for name, row := range map[string]struct {
			prepare  func(*ground)
			do       func(g *ground, opts operate.Options) (operate.Result, error)
			disabled func(g *ground) (operate.Result, error)
			files    bool
		}{
			"settings": {
				prepare: put(nodes.Config(), "}{"),
				do: func(g *ground, opts operate.Options) (operate.Result, error) {
					return g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: g.text(nil)}, opts)
				},
				disabled: func(g *ground) (operate.Result, error) {
					return g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: g.text(stopped)}, silent())
				},
			},
			"roll back": {
				prepare: func(g *ground) {
					require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: g.text(daily1)}, operate.Options{ID: "daily"})))
					g.do(registry.Put(nodes.Config(), "}{"))
				},
				do: func(g *ground, opts operate.Options) (operate.Result, error) {
					return g.op.RollBack(t.Context(), theJob, "daily", opts)
				},
			},
			"create": {
				prepare: remove(nodes.Config()),
				do: func(g *ground, opts operate.Options) (operate.Result, error) {
					return g.op.Create(t.Context(), g.config(nil), opts)
				},
				disabled: func(g *ground) (operate.Result, error) { return g.op.Create(t.Context(), g.config(stopped), silent()) },
			},
			"files": {
				prepare: put(nodes.Config(), "}{"), files: true,
				do: func(g *ground, opts operate.Options) (operate.Result, error) {
					return g.op.TakeFiles(t.Context(), theJob, g.text(nil), shopFiles(1), opts)
				},
			},
		} {
			t.Run(state+"/"+name, func(t *testing.T) {
				t.Parallel()
				moving := func() *ground {
					g := newGround(t)
					row.prepare(g)
					g.do(registry.Put(nodes.Move(), `{"id":"M","state":"`+state+`","when":"2026-02-03T04:05:06Z"}`))
					return g
				}
				g := moving()
				before := g.all()
				err := errOf(row.do(g, silent()))
				if !refused {
					require.NoError(t, err)
					return
				}
				cause, is := operate.IsRefused(err)
				require.True(t, is, err)
				require.Contains(t, []operate.Cause{operate.CausePending, operate.CauseNewer}, cause)
				require.Equal(t, before, g.all())
				if row.files {
					require.Error(t, errOf(row.do(g, forced())), "files do not consent")
					require.Equal(t, before, g.all())
					return
				}
				forcing, err := row.do(g, forced())
				require.NoError(t, err)
				require.Contains(t, strings.Join(forcing.Warnings, "\n"), "two registries at once")
				if row.disabled != nil {
					require.NoError(t, errOf(row.disabled(moving())), "it does not run so")
				}
			})
		}
	}
}

// What a move goes on and back by is not removed. Where the job was moved away for good, or runs, it is.
func TestAJobIsNotRemovedInTheMiddleOfItsMove(t *testing.T) {
	t.Parallel()
	for state, refused := range map[string]bool{
		jobtree.MoveDrained: true, jobtree.MovePrepared: true, jobtree.MoveReturning: true, "postponed": true,
		jobtree.MoveConfirmed: false, jobtree.MoveMoved: false, jobtree.MoveConfirming: false, jobtree.MoveReturned: false, away: false,
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			g := deserted(t)
			move := put(nodes.Move(), `{"id":"M","state":"`+state+`","when":"2026-02-03T04:05:06Z"}`)
			move(g)
			before := g.all()
			result, err := g.op.Remove(t.Context(), theJob, silent())
			if !refused {
				require.NoError(t, err)
				require.Empty(t, g.all())
				told := strings.Contains(strings.Join(result.Warnings, "\n"), "elasticron migrate return --target-lost takes it back there")
				require.Equal(t, state == jobtree.MoveMoved || state == jobtree.MoveConfirming, told)
				return
			}
			var r *operate.Refusal
			require.ErrorAs(t, err, &r)
			require.True(t, r.Forcible)
			require.Equal(t, before, g.all())
			forcing, err := g.op.Remove(t.Context(), theJob, forced())
			require.NoError(t, err)
			require.Contains(t, forcing.Warnings[0], "neither completed nor taken back")
			require.Empty(t, g.all())

			g = newGround(t)
			require.NoError(t, g.take(1, g.text(nil)))
			move(g)
			before = g.all()
			require.ErrorAs(t, g.leaveFiles(2, operate.GoneRemove), &r)
			require.False(t, r.Forcible, "files do not consent")
			require.Equal(t, before, g.all())
		})
	}
}
