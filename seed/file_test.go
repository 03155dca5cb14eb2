package seed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

func open(tb testing.TB) *memory.Registry {
	tb.Helper()
	reg := memory.NewServer().Open("shop")
	tb.Cleanup(func() { require.NoError(tb, reg.Close(context.Background())) })
	return reg
}

// nodes returns what a registry holds, by path.
func nodes(tb testing.TB, reg registry.Reader) map[string]string {
	tb.Helper()
	all, _, err := reg.List(tb.Context(), registry.Root)
	require.NoError(tb, err)
	values := make(map[string]string)
	for _, n := range all {
		values[n.Path] = n.Value
	}
	return values
}

func encode(tb testing.TB, c job.Config) string {
	tb.Helper()
	text, err := jobtree.EncodeConfig(c)
	require.NoError(tb, err)
	return text
}

// shop is what both files of testdata say.
func shop(tb testing.TB) map[string]string {
	tb.Helper()
	orders := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}
	orders.Class, orders.ShardingItemParameters = "com.acme.OrderJob", "0=Berlin,1=Oslo"
	orders.Failover, orders.TimeZone = true, "Europe/Berlin"
	cleanup := job.Config{Name: "cleanup", Cron: "@daily", ShardingTotalCount: 1}
	cleanup.Type, cleanup.ScriptCommandLine = job.TypeScript, "/opt/cleanup.sh --all"
	return map[string]string{
		"/orders/config": encode(tb, orders), "/orders/servers/10.0.0.7": "DISABLED", "/orders/sharding/3/disabled": "",
		"/cleanup/config": encode(tb, cleanup),
	}
}

func TestBothKindsOfFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"testdata/shop.yaml", "testdata/shop.properties"} {
		file, err := seed.ReadFile(name)
		require.NoError(t, err)
		reg := open(t)
		_, err = seed.Run(t.Context(), reg, file, seed.Options{})
		require.NoError(t, err)
		require.Equal(t, shop(t), nodes(t, reg), name)
	}
}

// contents returns what a file puts into an empty namespace.
func contents(tb testing.TB, file seed.File) map[string]string {
	tb.Helper()
	reg := open(tb)
	_, err := seed.Run(tb.Context(), reg, file, seed.Options{})
	require.NoError(tb, err)
	return nodes(tb, reg)
}

func TestWhatYAMLMayLookLike(t *testing.T) {
	t.Parallel()
	least := job.Config{Name: "a", Cron: "0 0 * * * ?", ShardingTotalCount: 2}
	for name, test := range map[string]struct {
		text string
		want map[string]string
	}{
		"the least": {"a: {config: {cron: '0 0 * * * ?', shardingTotalCount: 2}}", map[string]string{"/a/config": encode(t, least)}},
		"a config as it is stored": {
			`a: {config: '{"jobName":"a","jobClass":"a","jobType":"SIMPLE","cron":"0 0 * * * ?","shardingTotalCount":2,"misfire":true}'}`,
			map[string]string{"/a/config": encode(t, least)},
		},
		"an exact time": {
			"a: {config: {cron: '0 0 * * * ?', shardingTotalCount: 2, timeoutSeconds: 2, timeoutExact: 1.5s}}",
			map[string]string{"/a/config": encode(t, job.Config{Name: "a", Cron: "0 0 * * * ?", ShardingTotalCount: 2, Timeout: 1500 * time.Millisecond})},
		},
		"a secret by reference": {
			"a: {config: {cron: '0 0 * * * ?', shardingTotalCount: 2, props: {email.password: 'env:SMTP_PASSWORD'}}}",
			map[string]string{"/a/config": encode(t, job.Config{
				Name: "a", Cron: "0 0 * * * ?", ShardingTotalCount: 2, Props: map[string]string{"email.password": "env:SMTP_PASSWORD"},
			})},
		},
		"references":      {"a: &a\n  servers: {10.0.0.1: DISABLED}\nb: *a\n", map[string]string{"/a/servers/10.0.0.1": "DISABLED", "/b/servers/10.0.0.1": "DISABLED"}},
		"an empty server": {"a: {servers: {10.0.0.1: ''}}", map[string]string{"/a/servers/10.0.0.1": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := seed.ParseYAML([]byte(test.text))
			require.NoError(t, err)
			require.Equal(t, test.want, contents(t, file))
		})
	}
}

// A text stays as it stands in the file, also where YAML takes it for a number or a time. Numbers and times do not.
func TestTextsInYAMLStayAsTheyStand(t *testing.T) {
	t.Parallel()
	of := func(members string) (job.Config, error) {
		file, err := seed.ParseYAML([]byte("a: {config: {cron: '0 0 * * * ?', shardingTotalCount: 2, " + members + "}}"))
		if err != nil {
			return job.Config{}, err
		}
		return jobtree.DecodeConfig(registry.Node{Value: contents(t, file)["/a/config"]})
	}
	for written, want := range map[string]string{
		"007": "007", "0010": "0010", "0x1F": "0x1F", "1_000": "1_000", "00420815": "00420815", "2026-03-01": "2026-03-01", "1.10": "1.10",
		"1e3": "1e3", ".inf": ".inf", "-5": "-5", "2026-03-01 10:00:00": "2026-03-01 10:00:00", "'007'": "007", `"1.10"`: "1.10", "0o17": "0o17",
	} {
		for member, field := range map[string]func(job.Config) string{
			"jobParameter: ":      func(c job.Config) string { return c.JobParameter },
			"description: ":       func(c job.Config) string { return c.Description },
			"<<: {description: ":  func(c job.Config) string { return c.Description },
			"<<: [{description: ": func(c job.Config) string { return c.Description },
			"jobParameter: &x ":   func(c job.Config) string { return c.JobParameter },
		} {
			text := member + written + map[string]string{"<<: {": "}", "<<: [": "}]"}[member[:5]]
			c, err := of(text)
			require.NoError(t, err, text)
			require.Equal(t, want, field(c), text)
		}
	}
	c, err := of("jobParameter: &x 007, description: *x, failoverLimit: 0x2, startTime: 2026-03-01, retries: 1_0")
	require.NoError(t, err)
	require.Equal(t, "007", c.Description)
	require.Equal(t, 2, c.FailoverLimit)
	require.Equal(t, 10, c.Retries)
	require.Equal(t, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), c.StartTime)
	for _, refused := range []string{"description: true", "description: [007]", "jobType: 007"} {
		_, err := of(refused)
		require.Error(t, err, refused)
	}
	_, err = seed.ParseYAML([]byte("a: {config: &a {<<: *a, cron: x}}"))
	require.ErrorContains(t, err, "contains itself")
}

func TestPropertiesAreReadAsJavaDoes(t *testing.T) {
	t.Parallel()
	want := job.Config{Name: "a", Cron: "0 0 * * * ?", ShardingTotalCount: 2}
	want.Description = "Café ${x}"
	utf8Text := `/a/config={"jobName":"a","jobClass":"a","jobType":"SIMPLE","cron":"0 0 * * * ?","shardingTotalCount":2,"misfire":true,"description":"Café ${x}"}`
	for name, text := range map[string]string{
		"UTF-8":                  utf8Text,
		"ISO 8859-1":             `/a/config={"jobName":"a","jobClass":"a","jobType":"SIMPLE","cron":"0 0 * * * ?","shardingTotalCount":2,"misfire":true,"description":"Caf` + "\xe9" + ` ${x}"}`,
		"escapes":                `/a/config={"jobName":"a","jobClass":"a","jobType":"SIMPLE","cron":"0 0 * * * ?","shardingTotalCount":2,"misfire":true,"description":"Caf\u00e9 ${x}"}`,
		"the last of two counts": "/a/config=x\n" + utf8Text,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := seed.ParseProperties([]byte(text))
			require.NoError(t, err)
			require.Equal(t, map[string]string{"/a/config": encode(t, want)}, contents(t, file))
		})
	}
}

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		parse func([]byte) (seed.File, error)
		text  string
		want  []string
	}{
		"nothing":        {seed.ParseYAML, "", []string{"empty"}},
		"only a comment": {seed.ParseYAML, "# x\n", []string{"empty"}},
		"null":           {seed.ParseYAML, "~", []string{"mapping of jobs"}},
		"no YAML":        {seed.ParseYAML, "a: [", []string{"yaml"}},
		"a list":         {seed.ParseYAML, "- a", []string{"line 1", "mapping of jobs"}},
		"two documents":  {seed.ParseYAML, "a: {}\n---\nb: {}\n", []string{"more than one"}},
		"all faults at once": {
			seed.ParseYAML,
			"orders:\n  config: {cron: x, shardingTotalCount: 0}\n  instances: {10.0.0.1@-@7: ''}\n  sharding:\n    0: {running: '', disabled: 'yes', record: [1]}\n  servers: {10.0.0.1: OFF}\n",
			[]string{
				"line 2", "shardingTotalCount",
				"line 3", "/orders/instances/10.0.0.1@-@7", "running instances",
				"line 5", "/orders/sharding/0/running", "/orders/sharding/0/disabled", "must be empty", "/orders/sharding/0/record must be a value",
				"line 6", "/orders/servers/10.0.0.1", "DISABLED",
			},
		},
		"settings that make no sense": {seed.ParseYAML, "a: {config: {cron: '0 61 * * * ?', shardingTotalCount: 2, timeZone: Mars}}", []string{"/a/config", "61", "Mars"}},
		"a time that contradicts":     {seed.ParseYAML, "a: {config: {cron: '0 0 * * * ?', shardingTotalCount: 2, timeoutExact: 1.5s}}", []string{"/a/config", "timeoutExact", "timeoutSeconds says, which is 0"}},
		"a slip of the pen":           {seed.ParseYAML, "a: {config: {cronn: x, cron: '0 0 * * * ?', shardingTotalCount: 2}}", []string{"no member", "cronn"}},
		"settings without config": {
			seed.ParseYAML, "a:\n  cron: '0 0 * * * ?'\n  props: {x: y}\n  crno: z\n",
			[]string{"line 2: invalid seed: /a/cron is a setting, and settings belong under config", "/a/props/x is a setting", "/a/crno is none of"},
		},
		"settings without a job":  {seed.ParseYAML, "jobType: SCRIPT\n", []string{"/jobType is a setting, and settings belong under config, as <job>/config has them"}},
		"a null":                  {seed.ParseYAML, "a: {config: {cron: '0 0 * * * ?', shardingTotalCount: 2, misfire: ~}}", []string{"misfire", "null"}},
		"a member twice":          {seed.ParseYAML, "a: {config: {cron: x, cron: y}}", []string{"cron", "already defined"}},
		"a node twice":            {seed.ParseYAML, "a: {servers: {x: ''}}\na: {servers: {x: ''}}\n", []string{"/a/servers/x is there twice"}},
		"what says nothing":       {seed.ParseYAML, "a: {servers: {}}", []string{"/a/servers says nothing"}},
		"an empty mapping":        {seed.ParseYAML, "{}", []string{"says nothing"}},
		"another name":            {seed.ParseYAML, "a: {config: {jobName: b, cron: '0 0 * * * ?', shardingTotalCount: 2}}", []string{"jobName", `must be "a"`}},
		"an empty name":           {seed.ParseYAML, "'': {servers: {x: ''}}", []string{"segment"}},
		"an alias within itself":  {seed.ParseYAML, "a: &a {servers: {x: *a}}", []string{"line 1", `the alias "a" stands within what it names`}},
		"an alias of an ancestor": {seed.ParseYAML, "&all\na: {servers: {x: *all}}", []string{`the alias "all"`}},
		"aliases that make much":  {seed.ParseYAML, bomb(), []string{"aliases make more than 100000 nodes"}},
		"long texts by aliases":   {seed.ParseYAML, longTexts("&c {cron: x, jobParameter: %q}", "*c"), []string{"make too many bytes"}},
		"long texts within":       {seed.ParseYAML, longTexts("{cron: x, jobParameter: &p %q}", "{jobParameter: *p}"), []string{"make too many bytes"}},
		"long texts merged":       {seed.ParseYAML, longTexts("&c {cron: x, jobParameter: %q}", "{<<: *c}"), []string{"make too many bytes"}},
		"long texts as stored":    {seed.ParseYAML, longTexts("&c !stored %q", "*c"), []string{"make too many bytes"}},
		"what stands below long names": {
			seed.ParseYAML, "? " + strings.Repeat("x", 200_000) + "\n: {servers: {" + strings.Repeat("a: , ", 1_000) + "}}", []string{"make too many bytes"},
		},
		"a number that is none": {seed.ParseYAML, "a: {config: {cron: '0 0 * * * ?', shardingTotalCount: .nan}}", []string{"NaN"}},

		"no properties":      {seed.ParseProperties, "# x\n", []string{"empty"}},
		"an empty key":       {seed.ParseProperties, "# x\r\n/a/b\\=c\\\n=x\n  = y\n", []string{"line 4 begins with = or :"}},
		"a conflict of git":  {seed.ParseProperties, "/a/config=x\n=======\n/a/config=y\n", []string{"line 2 begins with = or :"}},
		"a broken escape":    {seed.ParseProperties, `/a/config=\u12`, []string{"unicode"}},
		"the tree of 1.x":    {seed.ParseProperties, "/a/config/cron=0 0 * * * ?\n/a/config/jobClass=c\n", []string{"/a/config/cron is none of", "/a/config/jobClass is none of"}},
		"a config of YAML":   {seed.ParseProperties, `/a/config=jobName: a`, []string{"/a/config", "JSON"}},
		"no path":            {seed.ParseProperties, `//x=`, []string{"segment"}},
		"another job's name": {seed.ParseProperties, `/a/config={"jobName":"b","jobClass":"a","jobType":"SIMPLE","cron":"0 0 * * * ?","shardingTotalCount":2}`, []string{"jobName"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := test.parse([]byte(test.text))
			require.ErrorIs(t, err, seed.ErrInvalid)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			require.Zero(t, file)
		})
	}
}

// longTexts is a file of 500 jobs with a config of 100,000 bytes, which is there once.
func longTexts(first, more string) string {
	text := "j0: {config: " + fmt.Sprintf(first, strings.Repeat("<", 100_000)) + "}\n"
	for i := range 500 {
		text += fmt.Sprintf("j%d: {config: %s}\n", i+1, more)
	}
	return text
}

// Whatever is in a file, nothing of it stays behind, for which [TestMain] looks.
func TestAnyProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "/", "=", ":", " ", "\t", "\f", "\r", "\n", "\\", "u", "12ab", "#", "!", "é", "\uFEFF", "\xe9"})).Draw(t, "parts")
		_, err := seed.ParseProperties([]byte(strings.Join(parts, "")))
		require.Error(t, err)
	})
}

// bomb is a file of ten lines that stands for a billion nodes.
func bomb() string {
	text := "a0: &a0 {servers: {x: ''}}\n"
	for i := 1; i < 10; i++ {
		text += fmt.Sprintf("a%d: &a%d {", i, i)
		for k := range 10 {
			text += fmt.Sprintf("k%d: *a%d, ", k, i-1)
		}
		text += "}\n"
	}
	return text
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	_, err := seed.ReadFile("testdata/none.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = seed.ReadFile("testdata/shop.json")
	require.ErrorContains(t, err, `ends in ".json", must end in .yaml, .yml or .properties`)
	name := filepath.Join(t.TempDir(), "x.YML")
	require.NoError(t, os.WriteFile(name, []byte("- a"), 0o600))
	_, err = seed.ReadFile(name)
	require.ErrorContains(t, err, name+": line 1")
}

func FuzzParseYAML(f *testing.F) {
	text, err := os.ReadFile("testdata/shop.yaml")
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := seed.ParseYAML(text)
		if err != nil {
			require.ErrorIs(t, err, seed.ErrInvalid)
		}
		if err == nil {
			require.NotZero(t, file)
		}
	})
}

// Of very many faults some are told, and the others counted.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	_, err := seed.ParseYAML([]byte(strings.Repeat("a: {}\n", 1000)))
	require.ErrorIs(t, err, seed.ErrInvalid)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 101)
	require.Equal(t, "line 100: invalid seed: /a says nothing", lines[99])
	require.Equal(t, "invalid seed: there are 900 more faults", lines[100])

	_, err = seed.ParseYAML([]byte(strings.Repeat(strings.Repeat("a", 1000)+": {}\n", 1000)))
	require.Less(t, len(err.Error()), 80<<10)

	var text strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&text, "a%d\n", n)
	}
	_, err = seed.ParseProperties([]byte(text.String()))
	require.ErrorIs(t, err, seed.ErrInvalid)
	lines = strings.Split(err.Error(), "\n")
	require.Len(t, lines, 101)
	require.Contains(t, lines[99], "/a99 is none of")
	require.Equal(t, "invalid seed: there are 900 more faults", lines[100])
}
