package seed_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/seed"
)

func nodesOf(values map[string]string) (all []registry.Node) {
	for path, value := range values {
		all = append(all, registry.Node{Path: path, Value: value, Created: 1, Revision: 1})
	}
	return all
}

func TestExportIsWhatPeopleWouldWrite(t *testing.T) {
	t.Parallel()
	values := shop(t)
	maps.Copy(values, map[string]string{
		"/orders/instances/10.0.0.1@-@7": "", "/orders/sharding/0/instance": "10.0.0.1@-@7", "/orders/servers/10.0.0.8": "",
		"/remains/leader/sharding/necessary": "",
	})
	text, err := seed.Export(nodesOf(values))
	require.NoError(t, err)
	require.Equal(t, `cleanup:
  config:
    jobType: SCRIPT
    cron: '@daily'
    shardingTotalCount: 1
    scriptCommandLine: /opt/cleanup.sh --all
orders:
  config:
    jobClass: com.acme.OrderJob
    cron: 0 0/5 * * * ?
    shardingTotalCount: 4
    shardingItemParameters: 0=Berlin,1=Oslo
    failover: true
    timeZone: Europe/Berlin
  servers:
    10.0.0.7: DISABLED
  sharding:
    3:
      disabled:
`, string(text))
	file, err := seed.ParseYAML(text)
	require.NoError(t, err)
	require.Equal(t, shop(t), contents(t, file))
}

func TestWhatCannotBeExportedIsNamed(t *testing.T) {
	t.Parallel()
	values := shop(t)
	values["/broken/config"] = "{"
	values["/broken/servers/10.0.0.1"] = "DISABLED"
	values["/headless/servers/10.0.0.1"] = "DISABLED"
	text, err := seed.Export(nodesOf(values))
	require.ErrorContains(t, err, "job broken is left out: ")
	require.ErrorContains(t, err, "job headless is left out: it has no configuration")
	file, err := seed.ParseYAML(text)
	require.NoError(t, err)
	require.Equal(t, shop(t), contents(t, file))

	text, err = seed.Export(nil)
	require.NoError(t, err)
	require.Empty(t, text)
}

// What a job runs with, and no declaration may be, is exported byte for byte, and stored so.
func TestAConfigOfWhichThereAreOnlyWarnings(t *testing.T) {
	t.Parallel()
	for name, member := range map[string]string{
		"failover without records":           `"failover":true,"monitorExecution":false`,
		"parameters of items beyond":         `"shardingItemParameters":"0=a,7=b"`,
		"a port that Java takes for none":    `"monitorPort":-7`,
		"props that are almost a reference":  `"props":{"x":"env: X"}`,
		"an exact time that nothing rounds":  `"timeoutSeconds":5,"timeout":"7s"`,
		"members of a version that is newer": `"monitorPort":-7,"later":1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := map[string]string{"/mild/config": `{"jobName":"mild","jobClass":"m","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":2,` + member + `}`}
			text, err := seed.Export(nodesOf(values))
			require.NoError(t, err)
			file, err := seed.ParseYAML(text)
			require.NoError(t, err)
			require.Equal(t, values, contents(t, file))
		})
	}
}

// A job whose home is another registry is in the export of that one. One that is in none yet is missed.
func TestAJobThatHasMovedAway(t *testing.T) {
	t.Parallel()
	for _, away := range []jobtree.Elsewhere{{Home: "b"}, {Home: "b", Move: "X", Arriving: true}} {
		values := shop(t)
		values["/gone/config"] = jobtree.EncodeElsewhere(away)
		values["/gone/servers/10.0.0.1"] = "DISABLED"
		text, err := seed.Export(nodesOf(values))
		require.NoError(t, err)
		require.NotContains(t, string(text), "gone")
	}
	text, err := seed.Export(nodesOf(map[string]string{"/gone/config": jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "b", Move: "X", Config: "{}"})}))
	require.Empty(t, text)
	require.ErrorContains(t, err, `job gone is left out: /gone/config: the job is being moved to registry "b"`)
}

func TestServersThatAreEnabledAgainstTheRule(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"/a/config":           encode(t, job.Config{Name: "a", Cron: "@daily", ShardingTotalCount: 1, Disabled: true}),
		"/a/servers/10.0.0.1": "", "/a/servers/10.0.0.2": "DISABLED",
	}
	text, err := seed.Export(nodesOf(values))
	require.NoError(t, err)
	file, err := seed.ParseYAML(text)
	require.NoError(t, err)
	require.Equal(t, values, contents(t, file))
}

// A job is stopped for as long as it takes to be moved to another registry, which may be hours. Who exports it meanwhile gets
// the job as people have decided it.
func TestAJobThatIsStoppedToBeMoved(t *testing.T) {
	t.Parallel()
	for _, disabled := range []bool{false, true} {
		cfg := job.Config{Name: "a", Cron: "@daily", ShardingTotalCount: 1, Disabled: true}
		values := map[string]string{
			"/a/config": encode(t, cfg), "/a/servers/10.0.0.2": "DISABLED",
			jobtree.For("a").Operated(): jobtree.EncodeOperated(jobtree.Operated{Moving: &jobtree.Moving{To: "b", Move: "X", Disabled: disabled}}),
		}
		text, err := seed.Export(nodesOf(values))
		require.NoError(t, err)
		file, err := seed.ParseYAML(text)
		require.NoError(t, err)
		cfg.Disabled = disabled
		require.Equal(t, map[string]string{"/a/config": encode(t, cfg), "/a/servers/10.0.0.2": "DISABLED"}, contents(t, file))
	}
}

func TestStoredConfigsAreCheckedToo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: {config: !stored '{}'}":                    "/a/config",
		"a: {config: !stored ''}":                      "/a/config",
		"a: {servers: {10.0.0.1: !stored DISABLED}}":   "!stored is for the text of a config",
		"a: !stored x":                                 "!stored is for the text of a config",
		"a: {sharding: {0: {disabled: !stored 'x'}}}}": "yaml",
	} {
		_, err := seed.ParseYAML([]byte(text))
		require.ErrorIs(t, err, seed.ErrInvalid)
		require.ErrorContains(t, err, want)
	}
}

// What is exported and put into an empty namespace has the same bytes, whatever wrote them.
func TestExportAndBack(t *testing.T) {
	t.Parallel()
	anyText := rapid.OneOf(rapid.SampledFrom([]string{"", "yes", "null", "0x1f", "1.0", "- a", "a: b", "# x", "a\nb", " x ", "\u2028", "~", "%", "1e3", "'"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		values := make(map[string]string)
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9~][a-z0-9:# .-]{0,6}[a-z]`), 1, 4, rapid.ID).Draw(t, "names") {
			c := job.Config{
				Name: name, Cron: rapid.SampledFrom([]string{"@daily", "0 0/5 * * * ?", "*/5 * * * *", "@every 90s"}).Draw(t, "cron"),
				ShardingTotalCount: rapid.IntRange(1, 30).Draw(t, "total"), Description: anyText.Draw(t, "description"),
				JobParameter: anyText.Draw(t, "parameter"), Class: rapid.SampledFrom([]string{"", name, "com.acme.A"}).Draw(t, "class"),
				Disabled: rapid.Bool().Draw(t, "disabled"), Unmonitored: rapid.Bool().Draw(t, "unmonitored"),
				Timeout: rapid.SampledFrom([]time.Duration{0, time.Second, 1500 * time.Millisecond, 36 * time.Hour}).Draw(t, "timeout"),
				Jitter:  rapid.SampledFrom([]time.Duration{0, 30 * time.Second}).Draw(t, "jitter"),
				Misfire: rapid.SampledFrom([]job.MisfirePolicy{job.MisfireOnce, job.MisfireSkip, job.MisfireAll}).Draw(t, "misfire"),
				Props:   rapid.SampledFrom([]map[string]string{nil, {"http.uri": "https://x/?a=b#c", "n": "1"}}).Draw(t, "props"),
				Unknown: rapid.SampledFrom([]string{"", `"later":{"a":[1,2.50,null]},"more":1e3`}).Draw(t, "unknown"),
			}
			text, err := jobtree.EncodeConfig(c)
			require.NoError(t, err)
			switch rapid.IntRange(0, 2).Draw(t, "form") {
			case 1: // as a hand would write it
				text = "{\n  " + text[1:]
			case 2: // as another program would
				text = " " + text + "\n"
			}
			values["/"+name+"/config"] = text
			if rapid.Bool().Draw(t, "item") {
				values["/"+name+"/sharding/0/disabled"] = ""
			}
			if rapid.Bool().Draw(t, "server") {
				values["/"+name+"/servers/10.0.0.1"] = "DISABLED"
			}
		}
		text, err := seed.Export(nodesOf(values))
		require.NoError(t, err)
		file, err := seed.ParseYAML(text)
		require.NoError(t, err, string(text))
		reg := memory.NewServer().Open("shop")
		defer reg.Close(t.Context())
		_, err = seed.Run(t.Context(), reg, file, seed.Options{})
		require.NoError(t, err)
		all, _, err := reg.List(t.Context(), registry.Root)
		require.NoError(t, err)
		got := make(map[string]string)
		for _, n := range all {
			got[n.Path] = n.Value
		}
		require.Equal(t, values, got)
	})
}

// Beside Java, a job that is disabled has all its servers disabled. The file has those that were disabled one by one.
func TestServersOfAJobThatIsDisabledBesideJava(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "a", Cron: "@daily", ShardingTotalCount: 2, Disabled: true}
	values := map[string]string{
		"/a/config": encode(t, c), "/a/servers/10.0.0.1": "DISABLED", "/a/servers/10.0.0.2": "DISABLED", "/a/servers/10.0.0.3": "",
		"/a/operated": jobtree.EncodeOperated(jobtree.Operated{DisabledServers: []string{"10.0.0.2"}}),
	}
	text, err := seed.Export(nodesOf(values))
	require.NoError(t, err)
	require.Contains(t, string(text), "10.0.0.2: DISABLED")
	require.NotContains(t, string(text), "10.0.0.1")
	values["/a/operated"] = jobtree.EncodeOperated(jobtree.Operated{DisabledServers: []string{}})
	text, err = seed.Export(nodesOf(values))
	require.NoError(t, err)
	require.NotContains(t, string(text), "DISABLED")
	delete(values, "/a/operated")
	text, err = seed.Export(nodesOf(values))
	require.NoError(t, err)
	require.Contains(t, string(text), "10.0.0.1: DISABLED")
}

// elasticron migrate disables servers besides the job that it moves away. The file has those that people have disabled; the job
// stays disabled in it, as another registry may run it.
func TestServersOfAJobThatIsMigrated(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Name: "a", Cron: "@daily", ShardingTotalCount: 1, Disabled: true}
	for state, moved := range map[string]bool{jobtree.MoveDrained: true, jobtree.MoveConfirmed: true, jobtree.MoveReturned: false} {
		values := map[string]string{
			"/a/config": encode(t, cfg), "/a/servers/10.0.0.1": "DISABLED", "/a/servers/10.0.0.2": "DISABLED", "/a/servers/10.0.0.3": "DISABLED",
			"/a/servers/10.0.0.4": "", "/a/servers/10.0.0.5": "DISABLED",
			"/a/leader/move": `{"id":"X","state":"` + state + `","servers":{"10.0.0.1":null,"10.0.0.2":"DISABLED","10.0.0.3":"","10.0.0.4":null}}`,
		}
		text, err := seed.Export(nodesOf(values))
		require.NoError(t, err)
		file, err := seed.ParseYAML(text)
		require.NoError(t, err)
		want := map[string]string{
			"/a/config": encode(t, cfg), "/a/servers/10.0.0.2": "DISABLED", "/a/servers/10.0.0.4": "", "/a/servers/10.0.0.5": "DISABLED",
		}
		if !moved {
			want["/a/servers/10.0.0.1"], want["/a/servers/10.0.0.3"] = "DISABLED", "DISABLED"
		}
		require.Equal(t, want, contents(t, file), state)
	}
}
