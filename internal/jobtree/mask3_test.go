package jobtree_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// secret3 is a configuration of ElasticJob 3.x with all that may be secret in one.
const secret3 = `cron: 0 0/5 * * * ?
description: |-
  what it does

  and why
disabled: false
jobExtraConfigurations:
- !!org.apache.shardingsphere.elasticjob.tracing.yaml.YamlTracingConfiguration
  password: geheim
  type: RDB
jobListenerTypes:
- PEER
- com.acme.Listener$Inner
jobName: orders
jobParameter: 'geheim
  too'
label: test
props:
  email.host: example.com
  email.password: geheim
  note: |-
    one
    two
  script.command.line: curl -u me:geheim x
  webhook: ''
shardingItemParameters: 1=geheim, 0=geheim2
shardingTotalCount: 2
staticSharding: false
`

// Only the secrets go; who operates still sees which items have parameters.
const masked3 = `cron: 0 0/5 * * * ?
description: |-
  what it does

  and why
disabled: false
jobExtraConfigurations: '***'
jobListenerTypes:
- PEER
- com.acme.Listener$Inner
jobName: orders
jobParameter: '***'
label: test
props:
  email.host: example.com
  email.password: '***'
  note: |-
    one
    two
  script.command.line: '***'
  webhook: ''
shardingItemParameters: 0=***,1=***
shardingTotalCount: 2
staticSharding: false
`

func maskedSecrets(path, value string) string {
	return jobtree.MaskSecrets(registry.Node{Path: path, Value: value}).Value
}

func TestMaskOfElasticJob3(t *testing.T) {
	t.Parallel()
	require.Equal(t, masked3, maskedSecrets("/orders/config", secret3))
	shown := strings.Replace(masked3, "0=***,1=***", "'***'", 1)
	require.Equal(t, shown, jobtree.Mask("/orders/config", secret3))
	require.Equal(t, shown, jobtree.Mask("/orders/config", masked3))

	before := jobtree.Operated{Operations: []jobtree.Operation{{ID: "x", Verb: "change settings", Who: "anna", Before: secret3}}}
	require.Equal(t, shown, jobtree.MaskOperated(before).Operations[0].Before, "what operators changed")

	for name, test := range map[string]struct{ stored, want string }{
		"empty":                  {"jobName: a\njobParameter: ''\nprops: {}\n", "jobName: a\njobParameter: ''\nprops: {}\n"},
		"without a value":        {"jobName: a\njobParameter:\nlabel:\n", "jobName: a\njobParameter:\nlabel:\n"},
		"no line break":          {"jobName: a\njobParameter: x", "jobName: a\njobParameter: '***'\n"},
		"comments":               {"---\n# geheim\njobName: a\n# geheim\nlabel: b\n", "jobName: a\nlabel: b\n"},
		"a list by hand":         {"jobName: a\njobListenerTypes: [a, b]\n", "jobName: a\njobListenerTypes: [a, b]\n"},
		"a list of others":       {"jobName: a\njobListenerTypes:\n- {password: x}\n", "jobName: a\njobListenerTypes: '***'\n"},
		"no list":                {"jobName: a\njobExtraConfigurations: []\n", "jobName: a\njobExtraConfigurations: '***'\n"},
		"a mapping of Java's":    {"jobName: a\nlabel:\n  password: x\n", "jobName: a\nlabel: '***'\n"},
		"what nobody knows":      {"jobName: a\nunheardOf: 1\nsomeToken: 2\n", "jobName: a\nunheardOf: 1\nsomeToken: '***'\n"},
		"settings without lines": {"jobName: a\nprops: {password: x}\n", jobtree.Hidden},
		"an open quote":          {"jobName: a\njobParameter: 'x\nlabel: geheim'\n", jobtree.Hidden},
		"an open bracket":        {"jobName: a\njobExtraConfigurations: [x,\nlabel: geheim]\n", jobtree.Hidden},
		"an anchor":              {"jobName: a\njobParameter: &x y\n", jobtree.Hidden},
		"twice":                  {"jobName: a\njobName: b\n", jobtree.Hidden},
		"no mapping":             {"jobName: a\n- geheim\n{}\n", jobtree.Hidden},
	} {
		require.Equal(t, test.want, maskedSecrets("/a/config", test.stored), name)
		require.Equal(t, test.want, jobtree.Mask("/a/config", test.stored), name)
	}
}

// Whoever judges a job by what is shown to people who may not see secrets comes to the same as whoever sees all.
func TestAMaskedConfigOfElasticJob3IsRead(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-zA-Z0-9 .:#'"\n=,作-]{0,100}`)
	rapid.Check(t, func(t *rapid.T) {
		const secret = "Geheim"
		c := job.Config{
			Name: "orders", Class: "com.acme.OrderJob", Type: job.TypeSimple, Cron: "0 0 0 * * ?", ShardingTotalCount: 3,
			Description: word.Draw(t, "description"), JobParameter: secret + word.Draw(t, "parameter"), ShardingItemParameters: "0=" + secret,
			Props: map[string]string{"a": word.Draw(t, "a"), "db.password": word.Draw(t, "password") + secret},
		}
		if rapid.Bool().Draw(t, "script") {
			c.Type, c.Class, c.ScriptCommandLine = job.TypeScript, job.ScriptClass, secret
		}
		if rapid.Bool().Draw(t, "more of Java's") {
			c.Unknown = `"elasticJob3":"jobExtraConfigurations:\n- !!com.acme.Tracing\n  password: Geheim\njobListenerTypes:\n- PEER\n"`
		}
		text, err := jobtree.ElasticJob3.EncodeConfig(c)
		require.NoError(t, err)
		want, err := jobtree.ElasticJob3.DecodeConfig(c.Class, registry.Node{Path: "/orders/config", Value: text})
		require.NoError(t, err)

		masked := maskedSecrets("/orders/config", text)
		require.NotContains(t, masked, secret)
		require.Equal(t, jobtree.ElasticJob3, jobtree.LayoutOfConfig(masked))
		shown, err := jobtree.ElasticJob3.DecodeConfig(c.Class, registry.Node{Path: "/orders/config", Value: masked})
		require.NoError(t, err, "%s", masked)
		want.JobParameter, want.ShardingItemParameters, want.Props = jobtree.Hidden, "0="+jobtree.Hidden, maps.Clone(want.Props)
		want.Props["db.password"] = jobtree.Hidden
		if c.Type == job.TypeScript {
			want.ScriptCommandLine = jobtree.Hidden
		}
		want.Unknown, shown.Unknown = "", ""
		require.Equal(t, want, shown)
		require.Equal(t, jobtree.Mask("/orders/config", text), jobtree.Mask("/orders/config", masked))
	})
}
