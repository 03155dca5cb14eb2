package operate_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func change(fn func(*job.Config)) operate.Settings {
	return operate.Settings{Change: func(c *job.Config) error { fn(c); return nil }}
}

func TestSettingsAreChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Unknown = `"later":{"a":1}` })))
		before := g.value(nodes.Config())
		s := change(func(c *job.Config) { c.Cron, c.Props["email.host"] = "0 0 3 * * ?", "mail" })
		plan, err := g.op.ChangeSettings(t.Context(), theJob, s, operate.Options{DryRun: true})
		require.NoError(t, err)
		require.Equal(t, before, g.value(nodes.Config()))
		require.Equal(t, operate.Change{What: "cron", Before: `"0 0/5 * * * ?"`, After: `"0 0 3 * * ?"`}, plan.Changes[0])
		require.Len(t, plan.Next, 5)
		require.Equal(t, time.Date(2000, 1, 1, 3, 0, 0, 0, time.UTC), plan.Next[0])
		require.Empty(t, plan.Moves)

		s.Shown = plan.Config
		r, err := g.op.ChangeSettings(t.Context(), theJob, s, operate.Options{Shown: &plan.Plan})
		require.NoError(t, err)
		require.Equal(t, before, r.Before)
		require.Equal(t, `"later":{"a":1}`, g.tree().Config.Value.Unknown)
		require.Equal(t, map[string]string{"email.password": "geheim", "email.host": "mail"}, g.tree().Config.Value.Props)
		g.refused(operate.CauseAlready, errOf(g.op.ChangeSettings(t.Context(), theJob, change(func(*job.Config) {}), silent())))
	})
}

func TestSettingsThatWereChangedSinceTheyWereShown(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	shown := g.node(nodes.Config())
	require.NoError(t, errOf(g.operator("bert").ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Description = "new" }), because("better"))))
	s := operate.Settings{Change: daily, Shown: shown.Revision, ShownText: shown.Value}
	stale := g.refused(operate.CauseStale, errOf(g.op.ChangeSettings(t.Context(), theJob, s, silent())))
	require.Equal(t, []operate.Change{{What: "description", Before: `""`, After: `"new"`}}, stale.Changes)
	require.Contains(t, stale.Error(), "by bert with test at ")
	require.Contains(t, stale.Error(), "better")

	// At the last moment, too.
	s.Shown = g.node(nodes.Config()).Revision
	g.meanwhile(func() {
		require.NoError(t, errOf(g.operator("bert").ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Description = "newer" }), silent())))
	})
	g.refused(operate.CauseStale, errOf(g.op.ChangeSettings(t.Context(), theJob, s, silent())))

	// What else is operated does not matter.
	s.Shown = g.node(nodes.Config()).Revision
	g.meanwhile(func() { require.NoError(t, errOf(g.operator("bert").DisableItem(t.Context(), theJob, 1, silent()))) })
	require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, s, silent())))
}

func TestSettingsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	before := g.value(nodes.Config())
	for name, row := range map[string]struct {
		settings operate.Settings
		says     string
	}{
		"a cron":           {change(func(c *job.Config) { c.Cron = "every day" }), "every day"},
		"that never fires": {change(func(c *job.Config) { c.Cron = "0 0 0 30 2 ?" }), "never fires after"},
		"that did so once": {change(func(c *job.Config) { c.Cron = "0 0 0 1 1 ? 1999" }), "1999"},
		"of another type":  {change(func(c *job.Config) { c.ScriptCommandLine = "/opt/x" }), "scriptCommandLine"},
		"so in a text":     {operate.Settings{Text: strings.Replace(before, `"jobType":"SIMPLE"`, `"jobType":"SIMPLE","scriptCommandLine":"/opt/x"`, 1)}, "want the jobType SCRIPT"},
		"what rounds away": {change(func(c *job.Config) { c.Timeout = -500 * time.Millisecond }), "timeout"},
		"no items":         {change(func(c *job.Config) { c.ShardingTotalCount = 0 }), "shardingTotalCount"},
		"another name":     {change(func(c *job.Config) { c.Name = "other" }), `must be "orders"`},
		"another class":    {change(func(c *job.Config) { c.Class = "other" }), "must stay \"orders\""},
		"disabled":         {change(func(c *job.Config) { c.Disabled = true }), "settings do not disable"},
		"an own error":     {operate.Settings{Change: func(*job.Config) error { return errors.New("not on Fridays") }}, "not on Fridays"},
		"a text":           {operate.Settings{Text: "cron: x"}, "JSON"},
		"an empty one":     {operate.Settings{Text: "{}"}, "jobName"},
		"class in a text":  {operate.Settings{Text: g.text(func(c *job.Config) { c.Class = "other" })}, "must stay"},
		"exact times":      {operate.Settings{Text: strings.Replace(g.text(func(c *job.Config) { c.Timeout = 1500 * time.Millisecond }), `"timeoutSeconds":2`, `"timeoutSeconds":9`, 1)}, "rounded up"},
	} {
		refusal := g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, row.settings, silent())))
		require.Contains(t, refusal.Error(), row.says, name)
	}
	require.Equal(t, before, g.value(nodes.Config()))
	g.refused(operate.CauseUnknownJob, errOf(g.op.ChangeSettings(t.Context(), "nobody", operate.Settings{Change: daily}, silent())))
}

// A job that has fired for the last time may be stored again, and all else of it may be changed. Who ends a job by its times
// has to mean it.
func TestSettingsOfAJobThatIsOver(t *testing.T) {
	t.Parallel()
	g := bareGround(t)
	over := g.config(func(c *job.Config) { c.EndTime = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) })
	never := g.config(func(c *job.Config) { c.Cron = "0 0 0 30 2 ?" })
	require.ErrorContains(t, g.refused(operate.CauseInvalid, errOf(g.op.Create(t.Context(), never, silent()))), "never fires after")
	r, err := g.op.Create(t.Context(), over, silent())
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1)
	require.Contains(t, r.Warnings[0], `endTime is "2020-01-01T00:00:00Z", is over, so the job never fires after`)

	r, err = g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Description = "kept for its history" }), silent())
	require.NoError(t, err)
	require.Empty(t, r.Warnings)

	ended := change(func(c *job.Config) { c.EndTime = c.EndTime.AddDate(1, 0, 0) })
	refusal := g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, ended, silent())))
	require.True(t, refusal.Forcible)
	require.Contains(t, refusal.Error(), "is over")
	forced := silent()
	forced.Force = true
	r, err = g.op.ChangeSettings(t.Context(), theJob, ended, forced)
	require.NoError(t, err)
	require.Len(t, r.Warnings, 1)

	// A worker whose files have such a job becomes ready also where nobody has stored it yet.
	bare := bareGround(t)
	text := bare.text(func(c *job.Config) { *c = over })
	require.NoError(t, errOf(bare.op.TakeFiles(t.Context(), theJob, text, operate.Files{Owner: "team", Version: 7}, silent())))
	require.Equal(t, text, bare.value(nodes.Config()))
}

// What Java has written for jobs of another type is no fault of who changes something else.
func TestMembersOfAnotherTypeThatAreStored(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	typed := strings.Replace(g.value(nodes.Config()), `"jobType":"SIMPLE"`, `"jobType":"SIMPLE","streamingProcess":true`, 1)
	g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: typed}, silent())))
	g.do(registry.Put(nodes.Config(), typed))
	daily := strings.Replace(typed, `"description":"`, `"description":"more `, 1)
	require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: daily}, silent())))
	require.Equal(t, daily, g.value(nodes.Config()))

	// A command line that is another one now was written by whoever changes it, and its value is not shown.
	script := strings.Replace(daily, `"streamingProcess":true`, `"streamingProcess":true,"scriptCommandLine":"/opt/x --token s3cret"`, 1)
	g.do(registry.Put(nodes.Config(), script))
	other := strings.Replace(script, "/opt/x", "/opt/y", 1)
	refusal := g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: other}, silent())))
	require.ErrorContains(t, refusal, "scriptCommandLine")
	require.NotContains(t, refusal.Error(), "streamingProcess", "which stands as it stood")
	require.NotContains(t, refusal.Error(), "s3cret")
	require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: daily}, silent())), "one of the two is taken away")
}

// groundOf returns a ground on which the job alone was created, with these settings, and what the plan of that warned of.
func groundOf(t *testing.T, set func(*job.Config)) (g *ground, warnings []string) {
	t.Helper()
	g = bareGround(t)
	text, err := jobtree.EncodeConfig(g.config(set))
	require.NoError(t, err)
	r, err := g.op.CreateText(t.Context(), theJob, text, silent())
	require.NoError(t, err)
	return g, r.Warnings
}

// A job whose calls are misspelt would pause at every process. Those may know more, so it is a warning; and it shows no value.
func TestSettingsWithWhichCallsWouldPause(t *testing.T) {
	t.Parallel()
	g, warnings := groundOf(t, func(c *job.Config) {
		c.Class, c.Props = httpjob.Class, map[string]string{"http.uri": "htp://user:secret@h", "http.method": "env:METHOD"}
	})
	require.Equal(t, []string{"the job would pause: Props http.uri must be an address such as https://example.org/path"}, warnings)

	r, err := g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Props["http.uri"] = "http://h" }), silent())
	require.NoError(t, err)
	require.Empty(t, r.Warnings)
}

// So would a script whose command line cannot be taken apart, or that is none any more by its type.
func TestSettingsWithWhichAScriptWouldPause(t *testing.T) {
	t.Parallel()
	g, warnings := groundOf(t, func(c *job.Config) {
		c.Class, c.Type, c.ScriptCommandLine = "", job.TypeScript, `/opt/x --token 'secret`
	})
	require.Equal(t, []string{"the job would pause: scriptCommandLine must be a command line that begins with a program, whose quotes are closed, with no backslash at its end"}, warnings)

	r, err := g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.ScriptCommandLine = "/opt/x 'it'" }), silent())
	require.NoError(t, err)
	require.Empty(t, r.Warnings)

	r, err = g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Type, c.ScriptCommandLine = job.TypeSimple, "" }), silent())
	require.NoError(t, err)
	require.Equal(t, []string{"the job would pause: jobType must be SCRIPT, as the code of this class runs scripts"}, r.Warnings)
}

func TestFewerItemsNeedConsent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		s := change(func(c *job.Config) { c.ShardingTotalCount = 2 })
		refusal := g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, s, silent())))
		require.True(t, refusal.Forcible)
		require.Contains(t, refusal.Error(), "from 4 to 2: items 2 to 3 end")
		one := change(func(c *job.Config) { c.ShardingTotalCount = 3 })
		require.Contains(t, g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, one, silent()))).Error(), "from 4 to 3: item 3 ends: its missed fires")
		opts := forced()
		opts.Wait = true
		go func() { time.Sleep(time.Second); g.assign(second, first) }()
		r, err := g.op.ChangeSettings(t.Context(), theJob, s, opts)
		require.NoError(t, err)
		require.Contains(t, r.Warnings[0], "items 2 to 3 end")
		require.Equal(t, []operate.Move{{Item: 1, From: second, To: first}, {Item: 2, From: first}, {Item: 3, From: first}}, r.Moves)
		require.Equal(t, operate.Progress{Done: true, Ready: 2, Of: 2, Text: "items are assigned"}, r.Progress)
	})
}

// A text replaces one that cannot be read, and leaves whether the job is disabled as it is.
func TestSettingsAsAWhole(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	require.NoError(t, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	r, err := g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: g.text(daily1)}, silent())
	require.NoError(t, err)
	require.Equal(t, []string{"the job stays disabled: settings do not change that"}, r.Warnings)
	require.True(t, g.tree().Config.Value.Disabled)
	require.Equal(t, "0 0 3 * * ?", g.tree().Config.Value.Cron)

	refusal := g.refused(operate.CauseAlready, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: g.text(daily1)}, silent())))
	require.Contains(t, refusal.Error(), "and do not disable or enable a job; disable or enable the job by its own operation")

	g.do(registry.Put(nodes.Config(), ""))
	g.refused(operate.CauseUnusable, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: daily}, silent())))
	g.refused(operate.CauseUnusable, errOf(g.op.DisableItem(t.Context(), theJob, 1, silent())))
	r, err = g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: g.text(nil)}, silent())
	require.NoError(t, err)
	require.Contains(t, r.Warnings, "what is stored cannot be read, and is replaced as a whole")
	require.Equal(t, g.text(nil), g.value(nodes.Config()))
}

func TestSettingsAreRolledBack(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	before := g.value(nodes.Config())
	slip, err := g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: daily}, silent())
	require.NoError(t, err)
	r, err := g.op.RollBack(t.Context(), theJob, slip.ID, because("a slip"))
	require.NoError(t, err)
	require.Equal(t, before, g.value(nodes.Config()), "byte for byte")
	require.Equal(t, "cron", r.Changes[0].What)
	g.refused(operate.CauseAlready, errOf(g.op.RollBack(t.Context(), theJob, slip.ID, silent())))

	require.NoError(t, errOf(g.op.RollBack(t.Context(), theJob, r.ID, silent())), "a roll back is rolled back, too")
	require.NoError(t, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	require.NoError(t, errOf(g.op.RollBack(t.Context(), theJob, slip.ID, silent())))
	require.True(t, g.tree().Config.Value.Disabled, "with today's disabled")
	require.Equal(t, "0 0/5 * * * ?", g.tree().Config.Value.Cron)

	item, err := g.op.DisableItem(t.Context(), theJob, 1, silent())
	require.NoError(t, err)
	require.Contains(t, g.refused(operate.CauseUnknownTarget, errOf(g.op.RollBack(t.Context(), theJob, item.ID, silent()))).Error(), "disable item changed no settings")
	g.refused(operate.CauseUnknownTarget, errOf(g.op.RollBack(t.Context(), theJob, "nonsense", silent())))
	g.refused(operate.CauseUnknownJob, errOf(g.op.RollBack(t.Context(), "nobody", slip.ID, silent())))

	g.do(registry.Put(nodes.Config(), "{}"))
	require.NoError(t, errOf(g.op.RollBack(t.Context(), theJob, slip.ID, silent())), "what was emptied by hand")
	require.Equal(t, before, g.value(nodes.Config()))

	require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Description = strings.Repeat("x", jobtree.MaxOperatedText) }), silent())))
	long, err := g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Description = "" }), silent())
	require.NoError(t, err)
	require.Contains(t, g.refused(operate.CauseUnknownTarget, errOf(g.op.RollBack(t.Context(), theJob, long.ID, silent()))).Error(), "too long to be kept")
}

// What was allowed when it was stored may not be any more.
func TestSettingsThatAreInvalidByNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ends := func(c *job.Config) error { c.EndTime = time.Now().Add(time.Hour).UTC(); return nil }
		require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: ends}, silent())))
		later, err := g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.EndTime = time.Time{} }), silent())
		require.NoError(t, err)
		time.Sleep(2 * time.Hour)
		before := g.value(nodes.Config())
		g.refused(operate.CauseInvalid, errOf(g.op.RollBack(t.Context(), theJob, later.ID, silent())))
		require.Equal(t, before, g.value(nodes.Config()))
	})
}

func TestAJobIsCreated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := bareGround(t)
		text := " " + g.text(daily1) // as somebody wrote it
		go func() { time.Sleep(time.Minute); g.join(first) }()
		r, err := g.op.CreateText(t.Context(), theJob, text, waiting())
		require.NoError(t, err)
		require.Equal(t, text, g.value(nodes.Config()), "byte for byte")
		require.Equal(t, `job none -> orders, 4 items, cron "0 0 3 * * ?"`, r.Changes[0].String())
		require.Len(t, r.Next, 5)
		g.refused(operate.CauseExists, errOf(g.op.Create(t.Context(), g.config(nil), silent())))
		g.refused(operate.CauseInvalid, errOf(g.op.Create(t.Context(), job.Config{Name: "other"}, silent())))
		g.refused(operate.CauseInvalid, errOf(g.op.CreateText(t.Context(), "other", text, silent())))
	})
}

// Marks are stored in the transaction that creates the job, and those that somebody else left are named.
func TestAJobIsCreatedWithMarks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := bareGround(t)
		g.do(registry.Put(nodes.Server("10.0.0.8"), "DISABLED"), registry.Put(nodes.ItemDisabled(2), ""))
		marks := operate.Marks{Servers: map[string]bool{"10.0.0.7": true}, Items: []int{0}}
		for _, dry := range []bool{true, false} {
			opts := silent()
			opts.DryRun = dry
			r, err := g.op.CreateMarked(t.Context(), theJob, g.text(daily1), marks, opts)
			require.NoError(t, err)
			require.Equal(t, []string{"server 10.0.0.8 and item 2 are disabled by what somebody left who did not get to create the job"}, r.Notes)
			if dry {
				continue
			}
			for _, path := range []string{nodes.Config(), nodes.Server("10.0.0.7"), nodes.ItemDisabled(0)} {
				n, err := g.registry.Get(t.Context(), path)
				require.NoError(t, err)
				require.Equal(t, r.Revision, n.Revision, path)
			}
		}
	})
}

// Settings that are changed by whatever agree with what was asked for, and rolling all back in reverse order
// restores the text, byte for byte.
func TestRollingBackRestoresTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := newGround(t)
		var ids, texts []string
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			texts = append(texts, g.value(nodes.Config()))
			word := rapid.StringMatching(`[a-zé"\\ ]{1,8}`).Draw(t, "description")
			r, err := g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Description += word }), silent())
			require.NoError(t, err)
			ids = append(ids, r.ID)
		}
		for i := len(ids) - 1; i >= 0; i-- {
			require.NoError(t, errOf(g.op.RollBack(t.Context(), theJob, ids[i], silent())))
			require.Equal(t, texts[i], g.value(nodes.Config()))
		}
	})
}

// Whoever has agreed to a plan loses nobody's change, also none that plans do not show.
func TestWhatReplacesAllSettingsIsComparedWithWhatWasShown(t *testing.T) {
	t.Parallel()
	secret := func(value string) operate.Settings {
		return change(func(c *job.Config) { c.Props["email.password"] = value })
	}
	for name, do := range map[string]func(*ground, operate.Options) (operate.Result, error){
		"a roll back": func(g *ground, opts operate.Options) (operate.Result, error) {
			return g.op.RollBack(g.Context(), theJob, "slip", opts)
		},
		"a text": func(g *ground, opts operate.Options) (operate.Result, error) {
			return g.op.ChangeSettings(g.Context(), theJob, operate.Settings{Text: g.text(daily1)}, opts)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, secret("slip"), operate.Options{ID: "slip"})))
			plan, err := do(g, operate.Options{DryRun: true})
			require.NoError(t, err)
			require.NoError(t, errOf(g.operator("bert").ChangeSettings(t.Context(), theJob, secret("right"), silent())))
			before := g.value(nodes.Config())
			refusal := g.refused(operate.CauseStale, errOf(do(g, operate.Options{Shown: &plan.Plan})))
			require.Contains(t, refusal.Error(), "by bert")
			require.Equal(t, before, g.value(nodes.Config()))
			plan, err = do(g, operate.Options{DryRun: true})
			require.NoError(t, err)
			require.NoError(t, errOf(do(g, operate.Options{Shown: &plan.Plan})))
		})
	}
}

// A fault is told once, by the name under which it is stored, in one line.
func TestAFaultOfSettingsIsToldOnce(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for want, change := range map[string]func(*job.Config){
		`change settings of "orders" refused: cron is "bad", must be a cron expression: `: func(c *job.Config) { c.Cron = "bad" },
		`change settings of "orders" refused: timeoutSeconds is "-5", must be`:            func(c *job.Config) { c.Timeout = -5 * time.Second },
		`change settings of "orders" refused: jobName is "other", must be "orders"`:       func(c *job.Config) { c.Name = "other" },
	} {
		text := g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: func(c *job.Config) error {
			change(c)
			return nil
		}}, silent()))).Error()
		require.Contains(t, text, want)
		require.Equal(t, 1, strings.Count(text, "must be "), text)
		require.NotContains(t, text, "\n")
		require.LessOrEqual(t, strings.Count(text, `"bad"`), 1, text)
	}
}

// A count that was lowered with consent asks for none again while it is not in force yet.
func TestConsentToFewerItemsIsAskedOnce(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.leave(first)
	g.leave(second)
	require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.ShardingTotalCount = 2 }), forced())))
	require.Equal(t, 4, g.tree().Total(), "nobody leads")
	require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: daily}, silent())))
}

// What Java instances could not run is not stored where one lives, and where one may come only with consent. What is
// stored already stays as it is.
func TestSettingsThatJavaCannotRun(t *testing.T) {
	t.Parallel()
	daily := change(func(c *job.Config) { c.Cron = "@daily" })
	g := newGround(t)
	require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, daily, operate.Options{DryRun: true})), "on etcd there is no Java")

	g.store.java = true
	refusal := g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, daily, silent())))
	require.True(t, refusal.Forcible)
	require.Contains(t, refusal.Error(), `Cron "@daily" must be a Quartz expression of 6 or 7 fields, because Java instances share the job; force it if no Java instance is to run the job`)
	g.join(aJava)
	refusal = g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, daily, forced())))
	require.False(t, refusal.Forcible, "one lives")
	g.leave(aJava)
	r, err := g.op.ChangeSettings(t.Context(), theJob, daily, forced())
	require.NoError(t, err)
	require.Contains(t, r.Warnings[0], "no Java instance could run the job")
	require.NoError(t, errOf(g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Description = "x" }), silent())), "it is so already")
	refusal = g.refused(operate.CauseInvalid, errOf(g.op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.ShardingStrategy = "minimal-movement" }), silent())))
	require.Contains(t, refusal.Error(), "ShardingStrategy")
	require.NotContains(t, refusal.Error(), "Cron")

	other := g.config(func(c *job.Config) { c.Name = "a(b)" })
	refusal = g.refused(operate.CauseInvalid, errOf(g.op.Create(t.Context(), other, silent())))
	require.Contains(t, refusal.Error(), "must not contain any of")
	require.NoError(t, errOf(g.op.Create(t.Context(), other, forced())))
}

// A job whose needs are misspelt would run on every worker.
func TestMisspeltNeedsAreWarnedOf(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	change := func(prop string) []string {
		text := g.text(func(c *job.Config) { c.Props = map[string]string{prop: "zone=eu", "other": "x"} })
		r, err := g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: text}, operate.Options{DryRun: true})
		require.NoError(t, err)
		return r.Warnings
	}
	const warned = " is heeded by nobody, unless a later version does: there is elasticron.needs"
	require.Contains(t, change("elasticron.need"), "Props elasticron.need"+warned)
	require.Contains(t, change("Elasticron.Needs"), "Props Elasticron.Needs"+warned)
	require.NotContains(t, strings.Join(change("elasticron.needs"), "\n"), "heeded")
}
