package jobtree_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

func configNode(value string) registry.Node {
	return registry.Node{Path: "/orders/config", Value: value, Created: 1, Revision: 1}
}

// golden are texts that Java's adapter of 2.1.5 wrote, and what they say.
var golden = []struct {
	name, text string
	config     func(*job.Config)
}{
	{
		name: "simple",
		text: `{"jobName":"order_job","jobClass":"com.acme.OrderJob","jobType":"SIMPLE","cron":"0 0/5 * * * ?","shardingTotalCount":3,"shardingItemParameters":"0\u003dA,1\u003dB,2\u003dC","jobParameter":"","failover":true,"misfire":true,"description":"","jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler","executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},"monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":-1,"jobShardingStrategyClass":"","reconcileIntervalMinutes":10,"disabled":false,"overwrite":false}`,
		config: func(c *job.Config) {
			c.Name, c.Class, c.ShardingTotalCount = "order_job", "com.acme.OrderJob", 3
			c.ShardingItemParameters, c.Failover = "0=A,1=B,2=C", true
		},
	},
	{
		name: "dataflow",
		text: `{"jobName":"flow_job","jobClass":"com.acme.FlowJob","jobType":"DATAFLOW","cron":"0 0/5 * * * ?","shardingTotalCount":10,"shardingItemParameters":"","jobParameter":"","failover":false,"misfire":true,"description":"","jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler","executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},"streamingProcess":true,"monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":9888,"jobShardingStrategyClass":"","reconcileIntervalMinutes":10,"disabled":false,"overwrite":false}`,
		config: func(c *job.Config) {
			c.Name, c.Class, c.ShardingTotalCount = "flow_job", "com.acme.FlowJob", 10
			c.Type, c.StreamingProcess, c.Java.MonitorPort = job.TypeDataflow, true, 9888
		},
	},
	{
		name: "script",
		text: `{"jobName":"sh_job","jobClass":"com.dangdang.ddframe.job.api.script.ScriptJob","jobType":"SCRIPT","cron":"0 0/5 * * * ?","shardingTotalCount":1,"shardingItemParameters":"","jobParameter":"x\u003cy \u0026 \u0027z\u0027","failover":false,"misfire":true,"description":"","jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler","executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},"scriptCommandLine":"/opt/job.sh --mode\u003d\"fast\"","monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":-1,"jobShardingStrategyClass":"","reconcileIntervalMinutes":10,"disabled":false,"overwrite":false}`,
		config: func(c *job.Config) {
			c.Name, c.Class, c.ShardingTotalCount = "sh_job", job.ScriptClass, 1
			c.Type, c.JobParameter, c.ScriptCommandLine = job.TypeScript, "x<y & 'z'", `/opt/job.sh --mode="fast"`
		},
	},
}

func TestConfigIsByteForByteThatOfJava(t *testing.T) {
	t.Parallel()
	for _, test := range golden {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := job.Config{Cron: "0 0/5 * * * ?"}
			test.config(&want)
			got, err := jobtree.DecodeConfig(configNode(test.text))
			require.NoError(t, err)
			require.Equal(t, want, got)
			text, err := jobtree.EncodeConfig(want)
			require.NoError(t, err)
			require.Equal(t, test.text, text)
		})
	}
}

func TestEncodeConfigFillsInTheClass(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 1}
	text, err := jobtree.EncodeConfig(c)
	require.NoError(t, err)
	require.Contains(t, text, `"jobClass":"orders",`)
	c.Type, c.ScriptCommandLine = job.TypeScript, "/bin/true"
	text, err = jobtree.EncodeConfig(c)
	require.NoError(t, err)
	require.Contains(t, text, `"jobClass":"`+job.ScriptClass+`",`)
}

func TestOwnFieldsFollowBehindThoseOfJava(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 1}
	c.TimeZone, c.DaylightSaving = "Europe/Berlin", job.DaylightSavingQuartz
	c.Unknown = `"z":{"a":[1, 2]},"b":null`
	text, err := jobtree.EncodeConfig(c)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(text,
		`"overwrite":false,"timeZone":"Europe/Berlin","daylightSaving":"quartz","z":{"a":[1, 2]},"b":null}`), text)
}

func TestUnknownFieldsSurviveARewrite(t *testing.T) {
	t.Parallel()
	c, err := jobtree.DecodeConfig(configNode(
		`{"JobName":"x", "from\u0041bove": "y" ,"jobName":"orders","jobType":"SIMPLE","jobClass":"c","cron":"@hourly","shardingTotalCount":1,"more":[{"a":"}"}],"last":null}`))
	require.NoError(t, err)
	require.Equal(t, "orders", c.Name)
	require.Equal(t, `"JobName":"x","from\u0041bove": "y","more":[{"a":"}"}],"last":null`, c.Unknown)
	text, err := jobtree.EncodeConfig(c)
	require.NoError(t, err)
	again, err := jobtree.DecodeConfig(configNode(text))
	require.NoError(t, err)
	require.Equal(t, c, again)
}

// minimal is the least that is a configuration, with more members before its end.
func minimal(more string) string {
	return `{"jobName":"orders","jobClass":"c","jobType":"SIMPLE","cron":"0 0 * * * ?","shardingTotalCount":2` + more + `}`
}

func TestDecodeConfigReadsAsJavaDoes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, more string
		want       func(*job.Config)
	}{
		{"a missing misfire is off", ``, func(c *job.Config) { c.Misfire = job.MisfireSkip }},
		{"other missing members have their defaults", `,"misfire":true`, func(*job.Config) {}},
		{"numbers may be quoted", `,"misfire":true,"monitorPort":"9888"`, func(c *job.Config) { c.Java.MonitorPort = 9888 }},
		{"numbers may have fractions of nothing", `,"misfire":true,"monitorPort":9.888e3`, func(c *job.Config) { c.Java.MonitorPort = 9888 }},
		{"texts may be numbers", `,"misfire":true,"jobParameter":-1.50`, func(c *job.Config) { c.JobParameter = "-1.50" }},
		{"the last of two counts", `,"misfire":false,"misfire":true,"description":"a","description":"b"`, func(c *job.Config) { c.Description = "b" }},
		{"unknown members may be null", `,"misfire":true,"x":null`, func(c *job.Config) { c.Unknown = `"x":null` }},
		{"space", ",\n\t\"misfire\" : true ,\r\n \"failover\":true ", func(c *job.Config) { c.Failover = true }},
		{
			"properties of our own choice", `,"misfire":true,"jobProperties":{"executor_service_handler":"e","job_exception_handler":"h"}`,
			func(c *job.Config) { c.ErrorHandler, c.ExecutorServiceHandler = "h", "e" },
		},
		{"no properties", `,"misfire":true,"jobProperties":{}`, func(*job.Config) {}},
		{
			"settings in any order", `,"misfire":true,"props":{ "b":"2","a":"=" }`,
			func(c *job.Config) { c.Props = map[string]string{"a": "=", "b": "2"} },
		},
		{
			"a default is the zero value", `,"misfire":true,"misfirePolicy":"once","clockPolicy":"warn","failoverScope":"running","daylightSaving":"natural",` +
				`"failoverLimit":3,"misfireMax":100,"retryBackoffSeconds":"1","reconcileIntervalMinutes":1e1,"maxTimeDiffSeconds":-1,"monitorPort":-1`, func(*job.Config) {},
		},
		{"a policy that the flag leaves nothing to say", `,"misfirePolicy":"all","misfire":false`, func(c *job.Config) { c.Misfire = job.MisfireSkip }},
		{"flag and policy in any order", `,"misfirePolicy":"all","misfire":true`, func(c *job.Config) { c.Misfire = job.MisfireAll }},
		{"a policy that is none", `,"misfirePolicy":"each","misfire":false`, func(c *job.Config) { c.Misfire = "each" }},
		{"what only other types have", `,"misfire":true,"streamingProcess":true,"scriptCommandLine":"rm"`, func(*job.Config) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 2}
			want.Class = "c"
			test.want(&want)
			got, err := jobtree.DecodeConfig(configNode(minimal(test.more)))
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestDecodeConfigNamesTheClassOfAScript(t *testing.T) {
	t.Parallel()
	c, err := jobtree.DecodeConfig(configNode(
		`{"jobName":"orders","jobType":"SCRIPT","cron":"0 0 * * * ?","shardingTotalCount":1,"scriptCommandLine":"/bin/true"}`))
	require.NoError(t, err)
	require.Equal(t, job.ScriptClass, c.Class)
	require.Equal(t, "/bin/true", c.ScriptCommandLine)
}

func TestDecodeConfigReadsWhatTheJavaConsoleWrites(t *testing.T) {
	t.Parallel()
	got, err := jobtree.DecodeConfig(configNode(`{"jobName":"order_job","jobType":"SIMPLE","jobClass":"com.acme.OrderJob","cron":"0 0/5 * * * ?","shardingTotalCount":3,"shardingItemParameters":"0\u003dA","jobParameter":"","monitorExecution":true,"streamingProcess":false,"maxTimeDiffSeconds":-1,"monitorPort":-1,"failover":true,"misfire":true,"jobShardingStrategyClass":"","description":"","jobProperties":{"executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler","job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler"},"reconcileIntervalMinutes":10}`))
	require.NoError(t, err)
	want := job.Config{Name: "order_job", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
	want.Class, want.ShardingItemParameters, want.Failover = "com.acme.OrderJob", "0=A", true
	require.Equal(t, want, got)
}

func TestDecodeConfigRefusesWhatStopsJava(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"empty", ``, `value is "", must be a JSON object as Elastic-Job-Lite 2.1.5 writes it; an empty one is of Elastic-Job 1.x`},
		{"YAML of 3.x", "cron: 0/5 * * * * ?\njobName: orders\nshardingTotalCount: 2\n", `this is YAML, as ElasticJob 3.x writes it`},
		{"other YAML", "cron: 0/5 * * * * ?\n", `must be a JSON object`},
		{"null", `null`, `value is "4 bytes", must be a JSON object`},
		{"no object", `[]`, `must be a JSON object`},
		{"cut off", `{"jobName":`, `must be a JSON object`},
		{"not UTF-8", "{\"x\":\"\xff\"}", `must be a JSON object`},
		{"null text", minimal(`,"description":null`), `description is "null", must be a string`},
		{"null number", minimal(`,"monitorPort":null`), `monitorPort is "null", must be a whole number of 32 bits`},
		{"null flag", minimal(`,"misfire":null`), `misfire is "null", must be true or false`},
		{"quoted flag", minimal(`,"misfire":"true"`), `misfire is "\"true\"", must be true or false`},
		{"flag for text", minimal(`,"description":true`), `description is "true", must be a string`},
		{"fraction", minimal(`,"monitorPort":1.5`), `monitorPort is "1.5", must be a whole number of 32 bits`},
		{"too large", minimal(`,"monitorPort":2147483648`), `must be a whole number of 32 bits`},
		{"text for number", minimal(`,"monitorPort":"x"`), `must be a whole number of 32 bits`},
		{"infinite", minimal(`,"monitorPort":"inf"`), `must be a whole number of 32 bits`},
		{"no number", minimal(`,"monitorPort":"nan"`), `must be a whole number of 32 bits`},
		{"properties", minimal(`,"jobProperties":null`), `jobProperties is "null", must be an object`},
		{"unknown property", minimal(`,"jobProperties":{"retries":"3"}`), `jobProperties.retries is "\"3\"", must not be there`},
		{"null property", minimal(`,"jobProperties":{"job_exception_handler":null}`), `jobProperties.job_exception_handler is "null", must be a string`},
		{"a number for a time", minimal(`,"startTime":1`), `startTime is "1", must be a time such as 2026-11-21T20:00:00Z`},
		{"no time", minimal(`,"endTime":"soon"`), `endTime is "\"soon\"", must be a time`},
		{"null time", minimal(`,"endTime":null`), `endTime is "null", must be a string`},
		{"settings", minimal(`,"props":{"http.uri":5}`), `props is "{\"http.uri\":\"***\"}", must be an object of strings`},
		{"null settings", minimal(`,"props":null`), `props is "null", must be an object of strings`},
		{"negative limit", minimal(`,"failoverLimit":-1`), `failoverLimit is "-1", must not be negative`},
		{"negative number", minimal(`,"misfireMax":-1`), `misfireMax is "-1", must not be negative`},
		{"negative pause", minimal(`,"retryBackoffSeconds":-1`), `retryBackoffSeconds is "-1", must not be negative`},
		{"type", minimal(`,"jobType":"HTTP"`), `jobType is "\"HTTP\"", must be one of ["SIMPLE" "DATAFLOW" "SCRIPT"]; HTTP is a jobClass, with the jobType SIMPLE`},
		{"another type", minimal(`,"jobType":"CRON"`), `jobType is "\"CRON\"", must be one of ["SIMPLE" "DATAFLOW" "SCRIPT"]`},
		{"a type that is no text", minimal(`,"jobType":7`), `jobType is "7", must be one of ["SIMPLE" "DATAFLOW" "SCRIPT"]`},
		{"no type", strings.Replace(minimal(``), `"jobType":"SIMPLE",`, ``, 1), `jobType is "", must be one of`},
		{"no class", minimal(`,"jobClass":""`), `jobClass is "", must not be empty`},
		{"no name", minimal(`,"jobName":""`), `jobName is "", must not be empty`},
		{"no cron", minimal(`,"cron":""`), `cron is "", must not be empty`},
		{"no items", minimal(`,"shardingTotalCount":0`), `shardingTotalCount is "0", must be between 1 and 100000`},
		{"too many items", minimal(`,"shardingTotalCount":100001`), `shardingTotalCount is "100001"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := jobtree.DecodeConfig(configNode(test.text))
			require.ErrorIs(t, err, jobtree.ErrInvalidValue)
			require.ErrorContains(t, err, "/orders/config: ")
			require.ErrorContains(t, err, test.want)
			require.Zero(t, c)
		})
	}
}

func TestEncodeConfigRefusesWhatStopsJava(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*job.Config){
		`jobName is ""`:                         func(c *job.Config) { c.Name = "" },
		`cron is ""`:                            func(c *job.Config) { c.Cron = "" },
		`jobType is "HTTP"`:                     func(c *job.Config) { c.Type = "HTTP" },
		`shardingTotalCount is "0"`:             func(c *job.Config) { c.ShardingTotalCount = 0 },
		`Unknown is "\"x\"", must be members`:   func(c *job.Config) { c.Unknown = `"x"` },
		`Unknown is " ", must be members`:       func(c *job.Config) { c.Unknown = " " },
		`must be members of a JSON object`:      func(c *job.Config) { c.Unknown = `"x":1}{` },
		`Unknown is "\"cron\":1", must not`:     func(c *job.Config) { c.Unknown = `"x":1,"cron":1` },
		`Unknown is "\"\\u0063ron\":1", must n`: func(c *job.Config) { c.Unknown = `"\u0063ron":1` },
	} {
		c := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 1}
		change(&c)
		text, err := jobtree.EncodeConfig(c)
		require.ErrorIs(t, err, jobtree.ErrInvalidValue)
		require.ErrorContains(t, err, want)
		require.Empty(t, text)
	}
}

// drawProps draws settings; none are nil.
func drawProps(t *rapid.T) map[string]string {
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.SampledFrom([]string{"env:A", "env: a", "file:/a", "<&='\u2028\">"}))
	settings := rapid.MapOfN(text, text, 0, 3).Draw(t, "props")
	if len(settings) == 0 {
		return nil
	}
	return settings
}

// drawConfig draws configurations in the form in which they are read: a default is the zero value.
func drawConfig(t *rapid.T) job.Config {
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringMatching(`[<>&='"\\ -~]{1,9}`))
	filled := text.Filter(func(s string) bool { return s != "" })
	number := rapid.IntRange(-1<<31, 1<<31-1)
	limit := rapid.OneOf(rapid.Just(0), rapid.IntRange(-1, 1<<31-1))
	but := func(numbers *rapid.Generator[int], standard int) *rapid.Generator[int] {
		return numbers.Filter(func(n int) bool { return n != standard })
	}
	span := func(label string, unit time.Duration, standard int, special ...time.Duration) time.Duration {
		some := but(rapid.IntRange(-100_000_000, 100_000_000), standard)
		part := rapid.Int64Range(1, int64(100_000_000*unit)).Filter(func(n int64) bool { return n%int64(unit) != 0 && !slices.Contains(special, time.Duration(n)) })
		return rapid.OneOf(
			rapid.SampledFrom(append(special, 0)), rapid.Map(some, func(n int) time.Duration { return time.Duration(n) * unit }),
			rapid.Map(part, func(n int64) time.Duration { return time.Duration(n) }),
		).Draw(t, label)
	}
	instant := rapid.OneOf(rapid.Just(time.Time{}), rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC()
	}))
	c := job.Config{
		Name: filled.Draw(t, "name"), Class: filled.Draw(t, "class"), Cron: filled.Draw(t, "cron"),
		Type:                   rapid.SampledFrom([]job.Type{job.TypeSimple, job.TypeDataflow, job.TypeScript}).Draw(t, "type"),
		ShardingTotalCount:     rapid.IntRange(1, job.MaxShardingTotalCount).Draw(t, "total"),
		ShardingItemParameters: text.Draw(t, "parameters"),
		JobParameter:           text.Draw(t, "parameter"),
		Failover:               rapid.Bool().Draw(t, "failover"),
		Description:            text.Draw(t, "description"),
		ErrorHandler:           text.Draw(t, "handler"),
		ExecutorServiceHandler: text.Draw(t, "executor"),
		Unmonitored:            rapid.Bool().Draw(t, "unmonitored"),
		MaxTimeDiff:            span("difference", time.Second, -1, time.Nanosecond),
		ShardingStrategy:       text.Draw(t, "strategy"),
		ReconcileInterval:      span("reconcile", time.Minute, 10, -1),
		Java:                   job.Java{MonitorPort: number.Draw(t, "port"), Overwrite: rapid.Bool().Draw(t, "overwrite")},
		Disabled:               rapid.Bool().Draw(t, "disabled"),
		TimeZone:               text.Draw(t, "zone"),
		DaylightSaving:         job.DaylightSaving(text.Draw(t, "saving")),
		FailoverScope:          job.FailoverScope(text.Draw(t, "scope")),
		FailoverLimit:          but(limit, job.DefaultFailoverLimit).Draw(t, "limit"),
		Misfire:                job.MisfirePolicy(rapid.OneOf(text, rapid.SampledFrom([]string{"skip", "all"})).Draw(t, "misfire")),
		MisfireMax:             but(limit, job.DefaultMisfireMax).Draw(t, "misfire max"),
		MisfireWindow:          span("misfire window", time.Second, 0),
		Timeout:                span("timeout", time.Second, 0),
		Retries:                number.Draw(t, "retries"),
		RetryBackoff:           max(-1, span("backoff", time.Second, 1)),
		ClockPolicy:            job.ClockPolicy(text.Draw(t, "clock policy")),
		StartTime:              instant.Draw(t, "start"),
		EndTime:                instant.Draw(t, "end"),
		Jitter:                 span("jitter", time.Second, 0),
		Offset:                 span("offset", time.Second, 0),
		Props:                  drawProps(t),
		MaxConcurrentItems:     number.Draw(t, "concurrent"),
		Unknown:                rapid.SampledFrom([]string{"", `"a":1`, `"a":"},{","b": [ {} ]`}).Draw(t, "unknown"),
	}
	switch c.Type {
	case job.TypeDataflow:
		c.StreamingProcess = rapid.Bool().Draw(t, "streaming")
	case job.TypeScript:
		c.ScriptCommandLine = text.Draw(t, "script")
	}
	return c
}

func TestDecodeConfigReadsWhatIsEncoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawConfig(t)
		text, err := jobtree.EncodeConfig(want)
		require.NoError(t, err)
		got, err := jobtree.DecodeConfig(configNode(text))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// What nothing is wrong with is stored as what it is, whether or not its defaults are spelt out.
func TestEveryValidNumberIsStored(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seconds := func(label string, least, most int) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, label)) * time.Second
		}
		want := job.Config{
			Name: "orders", Cron: "@every 24h", ShardingTotalCount: 1,
			Type:              rapid.SampledFrom([]job.Type{"", "SIMPLE"}).Draw(t, "type"),
			Misfire:           rapid.SampledFrom([]job.MisfirePolicy{"", "once", "skip", "all"}).Draw(t, "misfire"),
			FailoverScope:     rapid.SampledFrom([]job.FailoverScope{"", "running", "assigned"}).Draw(t, "scope"),
			ClockPolicy:       rapid.SampledFrom([]job.ClockPolicy{"", "warn", "refuse"}).Draw(t, "clock"),
			DaylightSaving:    rapid.SampledFrom([]job.DaylightSaving{"", "natural", "quartz"}).Draw(t, "saving"),
			FailoverLimit:     rapid.IntRange(-9, 9).Draw(t, "limit"),
			MisfireMax:        rapid.IntRange(-200, 200).Draw(t, "most"),
			MisfireWindow:     seconds("window", 0, 9),
			RetryBackoff:      rapid.OneOf(rapid.Just(time.Duration(-1)), rapid.Just(-time.Hour), rapid.Just(time.Second), rapid.Just(9*time.Second)).Draw(t, "backoff"),
			MaxTimeDiff:       seconds("difference", 0, 9),
			ReconcileInterval: rapid.OneOf(rapid.Just(time.Duration(-1)), rapid.Just(10*time.Minute), rapid.Just(-time.Hour)).Draw(t, "reconcile"),
			Java:              job.Java{MonitorPort: rapid.IntRange(-1, 9).Draw(t, "port")},
		}
		require.NoError(t, want.Validate())
		text, err := jobtree.EncodeConfig(want)
		require.NoError(t, err)
		got, err := jobtree.DecodeConfig(configNode(text))
		require.NoError(t, err)
		require.NoError(t, got.Validate())
		require.Empty(t, want.Differences(got))
		require.Empty(t, jobtree.Differences(want, got))
		again, err := jobtree.EncodeConfig(got)
		require.NoError(t, err)
		require.Equal(t, text, again)
	})
}

func TestNumbersAreStoredAsJavaAndOlderVersionsKnowThem(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		member string
		change func(*job.Config)
	}{
		"a time difference":    {`"maxTimeDiffSeconds":5`, func(c *job.Config) { c.MaxTimeDiff = 5 * time.Second }},
		"no time difference":   {`"maxTimeDiffSeconds":0`, func(c *job.Config) { c.MaxTimeDiff = time.Nanosecond }},
		"never reconciled":     {`"reconcileIntervalMinutes":0`, func(c *job.Config) { c.ReconcileInterval = -1 }},
		"never in Java's way":  {`"reconcileIntervalMinutes":-1`, func(c *job.Config) { c.ReconcileInterval = -time.Minute }},
		"reconciled":           {`"reconcileIntervalMinutes":3`, func(c *job.Config) { c.ReconcileInterval = 3 * time.Minute }},
		"any port":             {`"monitorPort":0`, func(c *job.Config) { c.Java.MonitorPort = -1 }},
		"a port":               {`"monitorPort":9888`, func(c *job.Config) { c.Java.MonitorPort = 9888 }},
		"unmonitored":          {`"monitorExecution":false`, func(c *job.Config) { c.Unmonitored = true }},
		"Java overwrites":      {`"overwrite":true`, func(c *job.Config) { c.Java.Overwrite = true }},
		"no failover limit":    {`"failoverLimit":0`, func(c *job.Config) { c.FailoverLimit = -1 }},
		"no missed fires kept": {`"misfireMax":0`, func(c *job.Config) { c.MisfireMax = -1 }},
		"no pause":             {`"retryBackoffSeconds":0`, func(c *job.Config) { c.RetryBackoff = -1 }},
		"skipped":              {`"misfire":false`, func(c *job.Config) { c.Misfire = job.MisfireSkip }},
		"all":                  {`"misfirePolicy":"all"`, func(c *job.Config) { c.Misfire = job.MisfireAll }},
		"a day":                {`"misfireWindowSeconds":86400`, func(c *job.Config) { c.MisfireWindow = 24 * time.Hour }},
	} {
		want := job.Config{Name: "orders", Class: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 1}
		test.change(&want)
		text, err := jobtree.EncodeConfig(want)
		require.NoError(t, err)
		require.Contains(t, text, test.member, name)
		got, err := jobtree.DecodeConfig(configNode(text))
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
}

func FuzzDecodeConfig(f *testing.F) {
	for _, g := range golden {
		f.Add(g.text)
	}
	f.Add(minimal(`,"timeoutSeconds":2,"timeoutExact":"1.5s","props":{"b":"env:B","a":"=","a":null}`))
	f.Add(minimal(`,"x":[{"y":"\"}"}],"monitorPort":"1"`))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := jobtree.DecodeConfig(configNode(text))
		if err != nil {
			require.ErrorIs(t, err, jobtree.ErrInvalidValue)
			return
		}
		encoded, err := jobtree.EncodeConfig(c)
		require.NoError(t, err)
		again, err := jobtree.DecodeConfig(configNode(encoded))
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}

func BenchmarkDecodeConfig(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jobtree.DecodeConfig(configNode(golden[0].text)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeConfig(b *testing.B) {
	c, err := jobtree.DecodeConfig(configNode(golden[0].text))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jobtree.EncodeConfig(c); err != nil {
			b.Fatal(err)
		}
	}
}
