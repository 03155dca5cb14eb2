package operate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// yamlOfJava is a configuration as ElasticJob 3.x stores it, with what only Java has.
const yamlOfJava = `cron: 0 0/5 * * * ?
description: ''
disabled: false
failover: true
jobExecutorServiceHandlerType: CPU
jobListenerTypes:
- PEER
jobName: orders
jobParameter: x
maxTimeDiffSeconds: -1
misfire: true
monitorExecution: true
overwrite: false
props:
  email.password: geheim
reconcileIntervalMinutes: 10
shardingItemParameters: ''
shardingTotalCount: 4
staticSharding: false
`

// groundOf3 is the job as ElasticJob 3.x has it: a Java instance and one of ours, with two items each.
func groundOf3(t *testing.T) *ground {
	t.Helper()
	g := bareGround(t)
	g.do(registry.Put(nodes.Root(), "com.acme.Orders"), registry.Put(nodes.Config(), yamlOfJava))
	for _, id := range []string{first, aJava} {
		g.join(id)
		g.do(registry.Update(nodes.Instance(id), jobtree.ElasticJob3.EncodeInstance(id)), registry.Put(nodes.Server(jobtree.ServerOf(id)), "ENABLED"))
	}
	for item, owner := range []string{aJava, aJava, first, first} {
		g.do(registry.Put(nodes.ItemInstance(item), owner))
	}
	return g
}

func (g *ground) of3() *jobtree.State {
	g.Helper()
	list, revision, err := g.registry.List(g.Context(), nodes.Root())
	require.NoError(g, err)
	return jobtree.ElasticJob3StateOf(theJob, registry.NewSnapshot(revision, list))
}

// Each operation writes what the console of ElasticJob 3.x writes, and itself. Nothing else changes, to the byte.
func TestOperationsOfElasticJob3(t *testing.T) {
	t.Parallel()
	set := func(path, value string) registry.Write { return registry.Put(path, value) }
	changed := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(yamlOfJava) }
	for name, row := range map[string]struct {
		before []registry.Write
		do     func(*ground) (operate.Result, error)
		want   map[string]string // by path; "-" is a node that is gone
		warns  string
	}{
		"trigger": {
			do: func(g *ground) (operate.Result, error) {
				return g.op.Trigger(g.Context(), theJob, operate.Trigger{}, silent())
			},
			want: map[string]string{nodes.InstanceTrigger(aJava): "", nodes.Triggered(): "*"},
		},
		"disable a server": {
			do: func(g *ground) (operate.Result, error) {
				return g.op.DisableServer(g.Context(), theJob, "10.0.0.3", silent())
			},
			want: map[string]string{nodes.Server("10.0.0.3"): "DISABLED"},
		},
		"enable a server": {
			before: []registry.Write{set(nodes.Server("10.0.0.3"), "DISABLED")},
			do: func(g *ground) (operate.Result, error) {
				return g.op.EnableServer(g.Context(), theJob, "10.0.0.3", silent())
			},
			want: map[string]string{nodes.Server("10.0.0.3"): "ENABLED"},
		},
		"enable a server whose node is gone": {
			before: []registry.Write{registry.Delete(nodes.Server("10.0.0.3"))},
			do: func(g *ground) (operate.Result, error) {
				return g.op.EnableServer(g.Context(), theJob, "10.0.0.3", silent())
			},
			want: map[string]string{nodes.Server("10.0.0.3"): "ENABLED"},
		},
		"disable the job": {
			before: []registry.Write{set(nodes.Server("10.0.0.1"), "")}, // which nobody has disabled, and Java takes for it
			do:     func(g *ground) (operate.Result, error) { return g.op.DisableJob(g.Context(), theJob, silent()) },
			want: map[string]string{
				nodes.Config(): changed("disabled: false", "disabled: true"), nodes.Server("10.0.0.1"): "DISABLED", nodes.Server("10.0.0.3"): "DISABLED",
			},
		},
		"enable the job": {
			before: []registry.Write{
				set(nodes.Config(), changed("disabled: false", "disabled: true")), set(nodes.Server("10.0.0.1"), "DISABLED"), registry.Delete(nodes.Server("10.0.0.3")),
				set(nodes.Operated(), jobtree.EncodeOperated(jobtree.Operated{DisabledServers: []string{"10.0.0.1"}})),
			},
			do:    func(g *ground) (operate.Result, error) { return g.op.EnableJob(g.Context(), theJob, silent()) },
			want:  map[string]string{nodes.Config(): yamlOfJava, nodes.Server("10.0.0.3"): "ENABLED"},
			warns: "10.0.0.1 stay disabled",
		},
		"disable an item": {
			do:   func(g *ground) (operate.Result, error) { return g.op.DisableItem(g.Context(), theJob, 1, silent()) },
			want: map[string]string{nodes.ItemDisabled(1): ""},
		},
		"enable an item": {
			before: []registry.Write{set(nodes.ItemDisabled(1), "")},
			do:     func(g *ground) (operate.Result, error) { return g.op.EnableItem(g.Context(), theJob, 1, silent()) },
			want:   map[string]string{nodes.ItemDisabled(1): "-"},
		},
		"shut a Java instance down": {
			do:    func(g *ground) (operate.Result, error) { return g.op.ShutDown(g.Context(), theJob, aJava, silent()) },
			want:  map[string]string{nodes.Instance(aJava): "-"},
			warns: "Java process stops the job",
		},
		"shut one of ours down that works": {
			before: []registry.Write{set(nodes.ItemRunning(2), first)},
			do:     func(g *ground) (operate.Result, error) { return g.op.ShutDown(g.Context(), theJob, first, silent()) },
			want:   map[string]string{nodes.Instance(first): "-"},
			warns:  "item 2 runs there with failover on: it is run again",
		},
		"reshard": {
			do:   func(g *ground) (operate.Result, error) { return g.op.Reshard(g.Context(), theJob, silent()) },
			want: map[string]string{nodes.Necessary(): ""},
		},
		"change settings": {
			do: func(g *ground) (operate.Result, error) {
				return g.op.ChangeSettings(g.Context(), theJob, operate.Settings{Change: func(cfg *job.Config) error { cfg.Cron, cfg.JobParameter = "0 0 * * * ?", "it's"; return nil }}, silent())
			},
			want: map[string]string{nodes.Config(): changed("0 0/5 * * * ?", "0 0 * * * ?", "jobParameter: x", "jobParameter: it's")},
		},
		"give settings as a whole": {
			do: func(g *ground) (operate.Result, error) {
				s := operate.Settings{Text: changed("Parameter: x", "Parameter: z"), Shown: g.node(nodes.Config()).Revision}
				return g.op.ChangeSettings(g.Context(), theJob, s, silent())
			},
			want: map[string]string{nodes.Config(): changed("Parameter: x", "Parameter: z")},
		},
		"forget a server": {
			before: []registry.Write{set(nodes.Server("10.0.0.9"), "ENABLED")},
			do:     func(g *ground) (operate.Result, error) { return g.op.TidyServers(g.Context(), theJob, nil, silent()) },
			want:   map[string]string{nodes.Server("10.0.0.9"): "-"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := groundOf3(t)
			g.do(append(row.before, registry.Put("/elsewhere", ""))...)
			before := make(map[string]string)
			for _, n := range g.all() {
				before[n.Path] = n.Value
			}
			r, err := row.do(g)
			require.NoError(t, err)
			for path, value := range row.want {
				if before[path] = value; value == "-" {
					delete(before, path)
				}
			}
			after := make(map[string]string)
			for _, n := range g.all() {
				after[n.Path] = n.Value
				if before[n.Path] == "*" { // whatever it is
					before[n.Path] = n.Value
				}
			}
			ops := g.operated().Operations
			require.Equal(t, string(r.Verb), ops[len(ops)-1].Verb, "it is written down")
			delete(before, nodes.Operated())
			delete(after, nodes.Operated())
			require.Equal(t, before, after)
			require.Contains(t, strings.Join(r.Warnings, "\n"), row.warns)
			list, revision, err := g.registry.List(t.Context(), registry.Root)
			require.NoError(t, err)
			require.Empty(t, operate.Outside(registry.NewSnapshot(revision, list)), "nobody else changed anything")
		})
	}
}

// The node is taken from an instance beside ElasticJob 3.x. So it has not learned of that when something of it still runs.
func TestAnInstanceBesideElasticJob3ThatIsOnlyAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := groundOf3(t)
		g.do(registry.PutOwned(nodes.ItemRunning(2), "", g.sessions[first]))
		go func() {
			time.Sleep(time.Second)
			g.do(registry.Delete(nodes.ItemRunning(2))) // as its session ends
		}()
		r, err := g.op.ShutDown(t.Context(), theJob, first, waiting())
		require.NoError(t, err)
		require.Contains(t, r.Progress.Text, "if it was cut off from the registry before it learned of this, it takes part again")
	})
}

// Settings are rolled back to the byte, and compared with what was shown.
func TestSettingsOfElasticJob3(t *testing.T) {
	t.Parallel()
	g := groundOf3(t)
	revision := g.node(nodes.Config()).Revision
	daily := operate.Settings{Change: func(cfg *job.Config) error { cfg.Cron = "0 0 0 * * ?"; return nil }, Shown: revision}
	r, err := g.op.ChangeSettings(t.Context(), theJob, daily, silent())
	require.NoError(t, err)
	require.Equal(t, []operate.Change{{What: "cron", Before: `"0 0/5 * * * ?"`, After: `"0 0 0 * * ?"`}}, r.Changes)
	stale := g.refused(operate.CauseStale, errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: yamlOfJava, Shown: revision, ShownText: yamlOfJava}, silent())))
	require.Equal(t, []operate.Change{{What: "cron", Before: `"0 0/5 * * * ?"`, After: `"0 0 0 * * ?"`}}, stale.Changes)
	_, err = g.op.RollBack(t.Context(), theJob, r.ID, silent())
	require.NoError(t, err)
	require.Equal(t, yamlOfJava, g.value(nodes.Config()))

	g.meanwhile(func() {
		g.do(registry.Put(nodes.Config(), strings.Replace(yamlOfJava, "jobParameter: x", "jobParameter: of the console", 1)))
	})
	_, err = g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: daily.Change}, silent())
	require.NoError(t, err)
	require.Equal(t, "of the console", g.of3().Config.Value.JobParameter, "what the console wrote meanwhile stays")
}

// What ElasticJob 3.x does not know is refused, with the reason, and nothing is written.
func TestWhatElasticJob3DoesNotKnow(t *testing.T) {
	t.Parallel()
	g := groundOf3(t)
	ctx, before := t.Context(), g.all()
	settings := func(s operate.Settings) error { return errOf(g.op.ChangeSettings(ctx, theJob, s, forced())) }
	change := func(change func(*job.Config)) error {
		return settings(operate.Settings{Change: func(cfg *job.Config) error { change(cfg); return nil }})
	}
	for name, row := range map[string]struct {
		err   error
		cause operate.Cause
		text  string
	}{
		"items":           {errOf(g.op.Trigger(ctx, theJob, operate.Trigger{Items: []int{1}}, silent())), operate.CauseInvalid, "neither items, parameters nor fires"},
		"a cron of ours":  {change(func(cfg *job.Config) { cfg.Cron = "@daily" }), operate.CauseInvalid, "Quartz expression"},
		"a field of ours": {change(func(cfg *job.Config) { cfg.Retries = 2 }), operate.CauseInvalid, "retries"},
		"a strategy":      {change(func(cfg *job.Config) { cfg.ShardingStrategy = "mine" }), operate.CauseInvalid, "AVG_ALLOCATION"},
		"JSON":            {settings(operate.Settings{Text: g.text(nil)}), operate.CauseInvalid, "YAML"},
		"a new member":    {settings(operate.Settings{Text: yamlOfJava + "unheardOf: 1\n"}), operate.CauseInvalid, "unheardOf"},
		"another job":     {settings(operate.Settings{Text: strings.Replace(yamlOfJava, "jobName: orders", "jobName: others", 1)}), operate.CauseInvalid, "jobName"},
		"files":           {g.take(1, g.text(nil)), operate.CauseUnusable, "YAML"},
		"no files":        {g.leaveFiles(1, operate.GoneDisable), operate.CauseUnusable, "YAML"},
		"fewer items":     {errOf(g.op.ChangeSettings(ctx, theJob, operate.Settings{Change: func(cfg *job.Config) error { cfg.ShardingTotalCount = 2; return nil }}, silent())), operate.CauseInvalid, "force"},
		"removal":         {errOf(g.op.Remove(ctx, theJob, silent())), operate.CauseAlive, aJava},
	} {
		require.ErrorContains(t, row.err, row.text, name)
		g.refused(row.cause, row.err)
	}
	require.Equal(t, before, g.all())
}

// A removal disables the job first, waits until nothing runs, and leaves nothing.
func TestARemovalOfAJobOfElasticJob3(t *testing.T) {
	t.Parallel()
	g := groundOf3(t)
	g.leave(aJava)
	g.leave(first)
	g.do(registry.Put(nodes.ItemRunning(2), first)) // which a gone instance has left
	_, err := g.op.Remove(t.Context(), theJob, silent())
	require.NoError(t, err)
	require.Empty(t, g.all())
}

// Whoever lists, describes or follows jobs sees one of ElasticJob 3.x as it is, and none of what may be secret in it.
func TestAJobOfElasticJob3IsShown(t *testing.T) {
	t.Parallel()
	g := groundOf3(t)
	kept := "jobExtraConfigurations:\n- !!com.acme.Tracing\n  password: geheim2\n"
	g.do(registry.Put(nodes.Config(), strings.Replace(yamlOfJava, "jobListenerTypes:", kept+"jobListenerTypes:", 1)))
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	one, err := operate.ReadJob(t.Context(), g.registry, theJob, now)
	require.NoError(t, err)
	all, err := operate.ReadNamespace(t.Context(), g.registry, now)
	require.NoError(t, err)
	list, revision, err := g.registry.List(t.Context(), registry.Root)
	require.NoError(t, err)
	snapshot := registry.NewSnapshot(revision, list)
	following := operate.NewFollowing(true)
	following.Show(snapshot, []string{theJob}, nil, now)
	for name, ns := range map[string]*operate.Namespace{
		"one": one, "all": all, "followed": following.Shown(), "judged again": following.Show(snapshot, nil, []string{theJob}, now),
	} {
		row, is := ns.Job(theJob)
		require.True(t, is, name)
		require.Equal(t, operate.OK, row.Status, "%s: %v", name, row.Reasons)
		require.Equal(t, 4, row.Items, name)
		require.Equal(t, "com.acme.Orders", row.Class, name)
		require.Equal(t, now.Add(5*time.Minute), row.Next, name)
		require.Len(t, ns.Items(theJob), 4, name)
		shown := ns.Settings(theJob)
		require.Equal(t, jobtree.Hidden, shown["elasticJob3"], name)
		text, err := json.Marshal(shown)
		require.NoError(t, err)
		require.NotContains(t, string(text), "geheim", name)
		require.Contains(t, string(text), "email.password", name)
	}
}

// Java heeds that it is asked, and not that it is asked again: a second trigger waits until it has taken the first one, or
// replaces it and has it run once. What asks an instance that died is deleted.
func TestJavaIsNotAskedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	g := groundOf3(t)
	const dead = "10.0.0.9@-@1"
	asked := nodes.InstanceTrigger(aJava)
	trigger := func(replace bool) (operate.Result, error) {
		return g.op.Trigger(t.Context(), theJob, operate.Trigger{Replace: replace}, silent())
	}
	g.do(registry.Put(asked, ""), registry.Put(nodes.InstanceTrigger(dead), ""))
	_, err := trigger(false)
	g.refused(operate.CausePending, err)
	require.ErrorContains(t, err, "the console of Java has triggered items 0-1")
	g.do(registry.Delete(asked))

	_, err = trigger(false)
	require.NoError(t, err)
	once := g.node(asked)
	require.True(t, once.Exists())
	require.False(t, g.node(nodes.InstanceTrigger(dead)).Exists())
	before := g.all()
	_, err = trigger(false)
	g.refused(operate.CausePending, err)
	require.ErrorContains(t, err, "items 0-1 have not run for it yet")
	require.Equal(t, before, g.all())

	r, err := trigger(true)
	require.NoError(t, err)
	require.Contains(t, r.Changes[0].Before, "items 0-1 have not run yet")
	require.Equal(t, once, g.node(asked), "it stays as it is, and is heeded once")
	g.meanwhile(func() { g.do(registry.Delete(asked)) }) // Java takes it just before the next one is made
	_, err = trigger(true)
	require.NoError(t, err)
	require.True(t, g.node(asked).Exists(), "it is asked anew")
	require.Greater(t, g.node(asked).Created, once.Created)
}
