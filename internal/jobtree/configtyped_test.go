package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// What a job of another type would heed is told of where it says something.
func TestMembersOfAnotherType(t *testing.T) {
	t.Parallel()
	const simple = `{"jobName":"orders","jobClass":"c","jobType":"SIMPLE","cron":"0 0 * * * ?","shardingTotalCount":1`
	for members, want := range map[string]string{
		``:                              "",
		`,"streamingProcess":false`:     "",
		`,"scriptCommandLine":""`:       "",
		`,"scriptCommandLine":"/opt/x"`: `scriptCommandLine is "***", must not be there, as the jobType is SIMPLE: want the jobType SCRIPT`,
		`,"streamingProcess":true`:      `streamingProcess is "true", must not be there, as the jobType is SIMPLE: want the jobType DATAFLOW`,
	} {
		err := jobtree.CheckTyped(configNode(simple + members + `}`))
		if want == "" {
			require.NoError(t, err, members)
			continue
		}
		require.ErrorContains(t, err, want)
		require.NoError(t, jobtree.CheckTyped(configNode(simple+members+`}`), "cron"), "it was not named")
	}
	require.NoError(t, jobtree.CheckTyped(configNode(
		`{"jobName":"orders","jobType":"SCRIPT","scriptCommandLine":"/opt/x","cron":"0 0 * * * ?","shardingTotalCount":1}`)))
	require.Error(t, jobtree.CheckTyped(configNode(`{`)))
}
