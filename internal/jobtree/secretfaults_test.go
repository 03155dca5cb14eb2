package jobtree_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Errors go to logs and reports, so what is wrong with a configuration is said without what nobody is to see.
func TestFaultsOfAConfigShowNoSecrets(t *testing.T) {
	t.Parallel()
	good, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 2})
	require.NoError(t, err)
	for name, test := range map[string]struct{ text, want string }{
		"no JSON":         {`{"jobName":"orders","jobParameter":"hunter2",`, " bytes"},
		"no object":       {`["hunter2"]`, `"11 bytes"`},
		"no UTF-8":        {"{\"jobParameter\":\"hunter2\",\"x\":\"\xff\"}", " bytes"},
		"YAML of 3.x":     {"jobName: orders\njobParameter: hunter2\n", " bytes"},
		"another kind":    {strings.Replace(good, `"jobParameter":""`, `"jobParameter":["hunter2"]`, 1), `jobParameter is "***"`},
		"item parameters": {strings.Replace(good, `"shardingItemParameters":""`, `"shardingItemParameters":"hunter2"`, 1), `shardingItemParameters is "***"`},
		"too many":        {strings.Replace(good, `"shardingItemParameters":""`, `"shardingItemParameters":"7=hunter2"`, 1), `shardingItemParameters is "***"`},
		"unknown":         {strings.Replace(good, `{`, `{"password":"hunter2",`, 1), `password is`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, test.text, "hunter2")
			c, err := jobtree.DecodeConfig(registry.Node{Path: "/orders/config", Value: test.text, Revision: 1, Created: 1})
			text := ""
			if err != nil {
				text = err.Error()
			} else {
				warnings, faulty := jobtree.CheckConfig("orders", c)
				for _, err := range []error{warnings, faulty} {
					if err != nil {
						text += err.Error()
					}
				}
			}
			require.Contains(t, text, test.want)
			require.NotContains(t, text, "hunter2")
		})
	}
}
