package jobtree_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// Each fault of what is to be stored is told once, without what may be secret.
func TestFaultsOfWhatIsToBeStored(t *testing.T) {
	t.Parallel()
	c := job.Config{
		Name: "bills", Cron: "0 61 * * * ?", ShardingTotalCount: 3, Timeout: -5 * time.Second,
		Props: map[string]string{"email.password": "geheim${"}, Unknown: `"shardingTotal":7`,
	}
	warnings, faulty := jobtree.CheckNewConfig("orders", c)
	require.ErrorIs(t, faulty, job.ErrInvalidConfig)
	told := make(map[string]int)
	for line := range strings.SplitSeq(faulty.Error(), "\n") {
		field, _, _ := strings.Cut(line, " is ")
		told[field]++
		require.NotContains(t, line, "geheim")
		require.LessOrEqual(t, strings.Count(line, `"0 61 * * * ?"`), 1, line)
	}
	for field, times := range told {
		require.Equal(t, 1, times, field)
	}
	require.Contains(t, told, "cron")
	require.Contains(t, told, "jobName")
	require.Contains(t, told, "timeoutSeconds")
	require.ErrorContains(t, warnings, `shardingTotal is "7", is no member that this version knows`)
}
