package jobtree_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// samples3 are what ElasticJob 3.x writes.
var samples3 = map[string]struct {
	root, text string
	config     job.Config
}{
	"all that a job may have": {
		root: "com.acme.OrderJob",
		text: `cron: 0/5 * * * * ?
description: ''
disabled: false
failover: true
jobErrorHandlerType: IGNORE
jobName: orders
jobParameter: ''
jobShardingStrategyType: ROUND_ROBIN
maxTimeDiffSeconds: -1
misfire: true
monitorExecution: true
overwrite: false
props:
  some.setting: 'true'
  streaming.process: 'true'
reconcileIntervalMinutes: 10
shardingItemParameters: 0=A,1=B
shardingTotalCount: 2
staticSharding: false
timeZone: GMT+08:00
`,
		config: job.Config{
			Name: "orders", Class: "com.acme.OrderJob", Type: job.TypeDataflow, Cron: "0/5 * * * * ?", Failover: true, StreamingProcess: true,
			ErrorHandler: "IGNORE", ShardingStrategy: "ROUND_ROBIN", ShardingItemParameters: "0=A,1=B", ShardingTotalCount: 2, TimeZone: "Etc/GMT-8",
			Props: map[string]string{"some.setting": "true"},
		},
	},
	"a script": {
		root: "SCRIPT",
		text: `cron: '* * * * * ?'
description: what it does
disabled: true
failover: false
jobName: orders
jobParameter: a=b
maxTimeDiffSeconds: 30
misfire: false
monitorExecution: false
overwrite: true
props:
  script.command.line: /opt/job.sh
reconcileIntervalMinutes: 0
shardingItemParameters: ''
shardingTotalCount: 3
staticSharding: false
`,
		config: job.Config{
			Name: "orders", Class: job.ScriptClass, Type: job.TypeScript, Cron: "* * * * * ?", Description: "what it does", Disabled: true, JobParameter: "a=b",
			Misfire: job.MisfireSkip, Unmonitored: true, MaxTimeDiff: 30 * time.Second, ReconcileInterval: -1, ShardingTotalCount: 3,
			ScriptCommandLine: "/opt/job.sh", Java: job.Java{Overwrite: true},
		},
	},
	"of one shot, with what is Java's own": {
		root: "com.acme.OrderJob",
		text: `description: ''
disabled: false
failover: false
jobExecutorServiceHandlerType: CPU
jobExtraConfigurations:
- !!org.apache.shardingsphere.elasticjob.tracing.yaml.YamlTracingConfiguration
  type: RDB
jobListenerTypes:
- a
- b
jobName: orders
jobParameter: ''
label: x
maxTimeDiffSeconds: -1
misfire: true
monitorExecution: true
overwrite: false
reconcileIntervalMinutes: 10
shardingItemParameters: ''
shardingTotalCount: 2
staticSharding: true
`,
		config: job.Config{
			Name: "orders", Class: "com.acme.OrderJob", Type: job.TypeSimple, Cron: cronexpr.Triggered, ShardingTotalCount: 2,
			Unknown: `"elasticJob3":"jobExecutorServiceHandlerType: CPU\njobExtraConfigurations:\n- !!org.apache.shardingsphere.elasticjob.tracing.yaml.YamlTracingConfiguration\n  type: RDB\njobListenerTypes:\n- a\n- b\nlabel: x\nstaticSharding: true\n"`,
		},
	},
}

func TestConfigOfElasticJob3(t *testing.T) {
	t.Parallel()
	for name, sample := range samples3 {
		read, err := jobtree.ElasticJob3.DecodeConfig(sample.root, config3(sample.text))
		require.NoError(t, err, name)
		require.Equal(t, sample.config, read, name)
		written, err := jobtree.ElasticJob3.EncodeConfig(read)
		require.NoError(t, err, name)
		require.Equal(t, sample.text, written, name)
		require.Empty(t, jobtree.ElasticJob3.PutConfig(orders, sample.root, written, read)[1:], name)
		require.Equal(t, registry.Put("/orders", sample.root), jobtree.ElasticJob3.PutConfig(orders, "", written, read)[1], name)
	}
}

func config3(text string) registry.Node {
	return registry.Node{Path: "/orders/config", Value: text, Created: 1, Revision: 1}
}

// Java's defaults for members that are missing are not those of a new job.
func TestConfigOfElasticJob3WithMembersMissing(t *testing.T) {
	t.Parallel()
	read, err := jobtree.ElasticJob3.DecodeConfig("", config3("jobName: orders\nshardingTotalCount: 1\ncron: 0 0 0 * * ?\n"))
	require.NoError(t, err)
	require.Equal(t, job.Config{
		Name: "orders", Type: job.TypeSimple, Cron: "0 0 0 * * ?", ShardingTotalCount: 1, Misfire: job.MisfireSkip, Unmonitored: true, ReconcileInterval: -1,
	}, read)
}

func TestWhatIsNoConfigOfElasticJob3(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"":                                   "must be YAML as ElasticJob 3.x writes it",
		`{"jobName":"orders"}`:               "Elastic-Job-Lite 2.1.5",
		"jobName: orders\njobName: orders\n": "twice",
		"unheard: of\n":                      "unheard",
		"staticSharding: maybe\n":            "staticSharding",
		"jobShardingStrategyType: SINGLE_SHARDING_BALANCE\n": "next-job-instance-ip",
		"timeZone: Europe/Berlin\n":                          "GMT+08:00",
		"timeZone: GMT+05:31\n":                              "all year",
		"timeZone: GMT+15\n":                                 "all year",
		"timeZone: GMTX\n":                                   "all year",
		"failover: maybe\n":                                  "failover",
		"shardingTotalCount: 1.5\n":                          "shardingTotalCount",
		"shardingTotalCount: 0\n":                            "shardingTotalCount",
		"props: x\n":                                         "props",
		"props:\n  a:\n    b: c\n":                           "props.a",
		"jobName: ''\n":                                      "jobName",
	} {
		text := change
		if change != "" && change[0] != '{' {
			for _, usual := range []string{"jobName: orders\n", "shardingTotalCount: 2\n"} {
				name, _, _ := strings.Cut(usual, ":")
				if !strings.Contains(change, name+":") {
					text += usual
				}
			}
		}
		_, err := jobtree.ElasticJob3.DecodeConfig("com.acme.OrderJob", config3(text))
		require.ErrorContains(t, err, want, "%q", change)
		require.ErrorContains(t, err, "/orders/config", "%q", change)
	}
}

// What Java writes for an offset, in each of its ways, is the zone that keeps this offset all year, and back.
func TestZonesOfElasticJob3(t *testing.T) {
	t.Parallel()
	for text, hours := range map[string]float64{
		"GMT": 0, "GMT0": 0, "GMT-00:00": 0, "GMT+8": 8, "GMT+0800": 8, "GMT+08:00": 8, "GMT-12:00": -12, "GMT+14:00": 14,
		"GMT-09:30": -9.5, "GMT+03:30": 3.5, "GMT+04:30": 4.5, "GMT+5:30": 5.5, "GMT+530": 5.5, "GMT+0545": 5.75, "GMT+06:30": 6.5,
		"GMT+08:45": 8.75, "GMT+09:30": 9.5,
	} {
		c, err := jobtree.ElasticJob3.DecodeConfig("com.acme.OrderJob", config3("jobName: orders\nshardingTotalCount: 2\ntimeZone: "+text+"\n"))
		require.NoError(t, err, text)
		zone, err := time.LoadLocation(c.TimeZone)
		require.NoError(t, err, text)
		for _, month := range []time.Month{time.January, time.April, time.July, time.October} {
			_, offset := time.Date(2030, month, 1, 0, 0, 0, 0, zone).Zone()
			require.Equal(t, int(hours*3600), offset, "%s is %s", text, c.TimeZone)
		}
		again, err := jobtree.ElasticJob3.EncodeConfig(c)
		require.NoError(t, err)
		want := "GMT"
		if hours != 0 {
			sign := '+'
			if hours < 0 {
				sign = '-'
			}
			minutes := int(math.Abs(hours) * 60)
			want = fmt.Sprintf("GMT%c%02d:%02d", sign, minutes/60, minutes%60)
		}
		require.Contains(t, again, "timeZone: "+want+"\n")
	}
}

// What ElasticJob 3.x could not store is refused by name, as it would refuse the whole configuration.
func TestWhatElasticJob3CannotStore(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*job.Config){
		"Timeout":            func(c *job.Config) { c.Timeout = time.Second },
		"Retries":            func(c *job.Config) { c.Retries = 1 },
		"Misfire":            func(c *job.Config) { c.Misfire = job.MisfireAll },
		"MaxTimeDiff":        func(c *job.Config) { c.MaxTimeDiff = 1500 * time.Millisecond },
		"timeZone":           func(c *job.Config) { c.TimeZone = "Europe/Berlin" },
		"MaxConcurrentItems": func(c *job.Config) { c.MaxConcurrentItems = 1 },
		"ExecutorService":    func(c *job.Config) { c.ExecutorServiceHandler = "CPU" },
		"Unknown":            func(c *job.Config) { c.Unknown = `"newer":1` },
		"Java.MonitorPort":   func(c *job.Config) { c.Java.MonitorPort = 9888 },
		"staticSharding":     func(c *job.Config) { c.Unknown = `"elasticJob3":"staticSharding: maybe\n"` },
		"shardingTotalCount": func(c *job.Config) { c.ShardingTotalCount = 0 },
	} {
		c := job.Config{Name: "orders", Class: "com.acme.OrderJob", Cron: "0 0 0 * * ?", ShardingTotalCount: 2}
		change(&c)
		_, err := jobtree.ElasticJob3.EncodeConfig(c)
		require.ErrorContains(t, err, field)
	}
}

func TestConfigsOfElasticJob3AreReadBack(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-zA-Z0-9 .:#'"\n=,作-]{0,100}`)
	rapid.Check(t, func(t *rapid.T) {
		c := job.Config{
			Name: "orders", Class: "com.acme.OrderJob", Type: job.TypeSimple, Cron: rapid.SampledFrom([]string{"0 0 0 * * ?", "* * * * * ?", cronexpr.Triggered}).Draw(t, "cron"),
			ShardingTotalCount: rapid.IntRange(1, 100).Draw(t, "total"), ShardingItemParameters: word.Draw(t, "parameters"),
			JobParameter: word.Draw(t, "parameter"), Description: word.Draw(t, "description"),
			Failover: rapid.Bool().Draw(t, "failover"), Misfire: rapid.SampledFrom([]job.MisfirePolicy{"", job.MisfireSkip}).Draw(t, "misfire"),
			Unmonitored: rapid.Bool().Draw(t, "unmonitored"), Disabled: rapid.Bool().Draw(t, "disabled"),
			TimeZone:          rapid.SampledFrom([]string{"", "Etc/GMT", "Etc/GMT-14", "Etc/GMT-1", "Etc/GMT+12", "Asia/Kolkata", "Pacific/Marquesas"}).Draw(t, "zone"),
			MaxTimeDiff:       time.Duration(rapid.IntRange(0, 100).Draw(t, "diff")) * time.Second,
			ReconcileInterval: rapid.SampledFrom([]time.Duration{0, -1, time.Minute, time.Hour}).Draw(t, "reconcile"),
		}
		if rapid.Bool().Draw(t, "with props") {
			c.Props = map[string]string{"a": word.Draw(t, "a"), "b.c": word.Draw(t, "b")}
		}
		text, err := jobtree.ElasticJob3.EncodeConfig(c)
		require.NoError(t, err)
		back, err := jobtree.ElasticJob3.DecodeConfig("com.acme.OrderJob", config3(text))
		require.NoError(t, err, text)
		require.Equal(t, c, back, text)
	})
}

func FuzzConfigOfElasticJob3(f *testing.F) {
	for _, sample := range samples3 {
		f.Add(sample.root, sample.text)
	}
	f.Fuzz(func(t *testing.T, root, text string) {
		c, err := jobtree.ElasticJob3.DecodeConfig(root, config3(text))
		if err != nil {
			return
		}
		again, err := jobtree.ElasticJob3.EncodeConfig(c)
		if err != nil {
			return // such as a text that is no UTF-8
		}
		back, err := jobtree.ElasticJob3.DecodeConfig(root, config3(again))
		require.NoError(t, err, again)
		require.Empty(t, c.Differences(back), again)
	})
}
