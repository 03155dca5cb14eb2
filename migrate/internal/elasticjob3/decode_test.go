package elasticjob3_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate/internal/elasticjob3"
)

// full is a config as 3.0.5 writes it, with every key that it has a default for.
const full = `cron: 0/5 * * * * ?
description: ''
disabled: false
failover: true
jobName: order_job
jobParameter: ''
maxTimeDiffSeconds: -1
misfire: true
monitorExecution: true
overwrite: false
props:
  script.command.line: /opt/job.sh
  streaming.process: 'true'
reconcileIntervalMinutes: 10
shardingItemParameters: 0=A,1=B
shardingTotalCount: 2
staticSharding: false
timeZone: GMT+08:00
`

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		root, text string
		want       func(*job.Config)
		kept       []string
	}{
		"as 3.0.5 writes it": {
			root: "SCRIPT", text: full,
			want: func(c *job.Config) {
				c.Name, c.Cron, c.ShardingTotalCount = "order_job", "0/5 * * * * ?", 2
				c.Failover, c.Misfire, c.Unmonitored, c.ReconcileInterval = true, job.MisfireOnce, false, 10*time.Minute
				c.ShardingItemParameters, c.TimeZone = "0=A,1=B", "Etc/GMT-8"
				c.Type, c.ScriptCommandLine, c.StreamingProcess = job.TypeScript, "/opt/job.sh", true
			},
		},
		"members that are missing": {
			root: "com.acme.OrderJob", text: "jobName: a\n",
			want: func(c *job.Config) { c.Name, c.Class = "a", "com.acme.OrderJob" },
		},
		"all that has a counterpart": {
			root: "com.acme.OrderJob",
			text: "jobName: a\ndescription: d\ndisabled: true\njobParameter: '007'\nmaxTimeDiffSeconds: 60\noverwrite: true\n" +
				"jobErrorHandlerType: EMAIL\njobExecutorThreadPoolSizeProviderType: SINGLE_THREAD\njobShardingStrategyType: ROUND_ROBIN\ntimeZone: Europe/Berlin\n",
			want: func(c *job.Config) {
				c.Name, c.Class, c.Description, c.JobParameter = "a", "com.acme.OrderJob", "d", "007"
				c.Disabled, c.Java.Overwrite, c.MaxTimeDiff = true, true, 60*time.Second
				c.ErrorHandler, c.ExecutorServiceHandler, c.ShardingStrategy = "EMAIL", "SINGLE_THREAD", "ROUND_ROBIN"
				c.TimeZone = "Europe/Berlin"
			},
		},
		"what has none": {
			root: "com.acme.OrderJob",
			text: "jobName: a\nlabel: blue\njobListenerTypes:\n- audit\nstaticSharding: true\nprops:\n  email.host: mail\n  streaming.process: 'no'\nfromAbove: {x: [1, 2.5, true, null]}\n",
			want: func(c *job.Config) {
				c.Name, c.Class, c.Type = "a", "com.acme.OrderJob", job.TypeDataflow
				c.Unknown = `"elasticJob3":{"fromAbove":{"x":[1,2.5,true,null]},"jobListenerTypes":["audit"],"label":"blue","staticSharding":true}`
				c.Props = map[string]string{"email.host": "mail"}
			},
			kept: []string{"label", "jobListenerTypes", "staticSharding", "fromAbove"},
		},
		"a dataflow job":           {root: "c", text: "props: {streaming.process: 'true'}\n", want: func(c *job.Config) { c.Class, c.Type, c.StreamingProcess = "c", job.TypeDataflow, true }},
		"a typed dataflow job":     {root: "DATAFLOW", text: "jobName: a\n", want: func(c *job.Config) { c.Name, c.Type = "a", job.TypeDataflow }},
		"a script by its property": {root: "c", text: "props: {script.command.line: x}\n", want: func(c *job.Config) { c.Type, c.ScriptCommandLine = job.TypeScript, "x" }},
		"an HTTP job":              {root: "HTTP", text: "props: {}\n", want: func(c *job.Config) { c.Class = "HTTP" }},
		"a pool as 3.0.4 names it": {root: "c", text: "jobExecutorServiceHandlerType: SINGLE_THREAD\n", want: func(c *job.Config) { c.Class, c.ExecutorServiceHandler = "c", "SINGLE_THREAD" }},
		"an HTTP job and its call": {
			root: "HTTP", text: "props:\n  http.method: GET\n  http.uri: http://a/\n",
			want: func(c *job.Config) {
				c.Class, c.Props = "HTTP", map[string]string{"http.method": "GET", "http.uri": "http://a/"}
			},
		},
		"no root value":       {text: "jobName: a\n", want: func(c *job.Config) { c.Name = "a" }},
		"texts that are null": {text: "jobName: a\ncron: null\ndescription:\nprops: ~\n", want: func(c *job.Config) { c.Name = "a" }},
		"texts that look like others": {
			text: "jobName: 1\njobParameter: true\ndescription: 2026-01-02\n",
			want: func(c *job.Config) { c.Name, c.JobParameter, c.Description = "1", "true", "2026-01-02" },
		},
		"another style":           {text: "{jobName: a, misfire: yes, \"cron\": \"0 0 * * * ?\"}", want: func(c *job.Config) { c.Name, c.Misfire, c.Cron = "a", job.MisfireOnce, "0 0 * * * ?" }},
		"the last of two counts":  {text: "jobName: a\njobName: b\n", want: func(c *job.Config) { c.Name = "b" }},
		"references":              {text: "jobName: &n a\ndescription: *n\n", want: func(c *job.Config) { c.Name, c.Description = "a", "a" }},
		"several lines of a text": {text: "jobName: a\ndescription: |-\n  x\n  y\n", want: func(c *job.Config) { c.Name, c.Description = "a", "x\ny" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := job.Config{}
			want.Cron = cronexpr.Triggered
			want.Misfire, want.Unmonitored, want.ReconcileInterval = job.MisfireSkip, true, -1
			test.want(&want)
			got, err := elasticjob3.Decode(test.root, test.text)
			require.NoError(t, err)
			require.Equal(t, want, got.Config)
			require.Equal(t, test.kept, got.Kept)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":       {"", []string{"no YAML"}},
		"no YAML":       {"a: [", []string{"no YAML"}},
		"no mapping":    {"- a", []string{"must be a YAML mapping"}},
		"two documents": {"jobName: a\n---\njobName: b\n", []string{"more than one YAML document"}},
		"all at once": {"cron: [1]\nmisfire: 7\nshardingTotalCount: x\nfailover: null\ntimeZone: GMT+05:31\nprops: 1\n", []string{
			`line 1: cron is "a list or a mapping", must be a string`,
			`line 2: misfire is "7", must be true or false`,
			`line 3: shardingTotalCount is "x", must be a whole number`,
			`line 4: failover is "null", must be true or false`,
			`line 6: props is "1", must be a mapping of strings`,
			`timeZone is "GMT+05:31": no zone`,
		}},
		"no static sharding":        {"staticSharding: maybe\n", []string{"staticSharding", "true or false"}},
		"what cannot be kept":       {"x: {1: a}\n", []string{"keep", "x"}},
		"what cannot be understood": {"x: !!int a\n", []string{"line 1: x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := elasticjob3.Decode("c", test.text)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			require.Zero(t, got.Config.Unknown)
		})
	}
}

func TestOffsetsBecomeZones(t *testing.T) {
	t.Parallel()
	for text, hours := range map[string]float64{
		"GMT+08:00": 8, "GMT+8": 8, "GMT+0800": 8, "GMT-3": -3, "GMT+14": 14, "GMT-12:00": -12, "GMT+00:00": 0, "GMT-0": 0, "GMT": 0,
		"GMT-09:30": -9.5, "GMT+03:30": 3.5, "GMT+04:30": 4.5, "GMT+5:30": 5.5, "GMT+0545": 5.75, "GMT+06:30": 6.5, "GMT+08:45": 8.75, "GMT+09:30": 9.5,
	} {
		got, err := elasticjob3.Decode("c", "timeZone: "+text+"\n")
		require.NoError(t, err, text)
		location, err := time.LoadLocation(got.Config.TimeZone)
		require.NoError(t, err, text)
		for _, month := range []time.Month{time.January, time.July} {
			_, offset := time.Date(2030, month, 1, 0, 0, 0, 0, location).Zone()
			require.Equal(t, int(hours*3600), offset, "%s is %s", text, got.Config.TimeZone)
		}
	}
	for _, text := range []string{"GMT+15", "GMT-13", "GMT+01:30"} {
		_, err := elasticjob3.Decode("c", "timeZone: "+text+"\n")
		require.ErrorContains(t, err, text)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("SCRIPT", full)
	f.Add("c", "props: {a: b}\nx: [1]\n")
	f.Fuzz(func(t *testing.T, root, text string) {
		got, err := elasticjob3.Decode(root, text)
		if err == nil && got.Config.Unknown == "" {
			require.Empty(t, got.Kept)
		}
	})
}
