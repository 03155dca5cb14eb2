package javarules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// Quartz looks for ever for a working day that lies before a short month: for 28 days and more before its
// end. What is less, and what is no working day, it finds.
func TestCronsForJava(t *testing.T) {
	t.Parallel()
	for cron, want := range map[string]string{
		"0 0 0 * * ?":       "",
		"0 0 0 * * ? 2030":  "",
		"0 0 * * *":         "6 or 7 fields",
		"@daily":            "6 or 7 fields",
		"0 0 0 L-27W * ?":   "",
		"0 0 0 L-28W * ?":   "never returns",
		"0 0 0 l-30w * ?":   "never returns",
		"0 0 0 L-28 * ?":    "",
		"0 0 0 L-30 * ?":    "",
		"0 0 0 LW * ?":      "",
		"0 0 0 28W * ?":     "",
		"0 0 0 L-2W,28 * ?": "", // is refused elsewhere
	} {
		if got := CronReason(cron); want == "" {
			require.Empty(t, got, cron)
		} else {
			require.Contains(t, got, want, cron)
		}
	}
}

func TestPathsForJava(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"orders": true, "B\u00fccher \u4f5c\u4e1a (v2.1)": true, "\u00a0": true, "\ud7ff": true, "\uf900": true, "\uffef": true,
		"a\x1f": false, "a\x7f": false, "a\u009f": false, "a\ue000": false, "a\uf8ff": false, "a\ufff0": false, "a\U00010000": false, "a\U0001f680": false,
	} {
		require.Equal(t, good, PathFault(text) == "", "%q", text)
	}
}

// The items of a job are assigned in one transaction, so the longer the names in it, the fewer items it has
// room for.
func TestTotalsForJava(t *testing.T) {
	t.Parallel()
	most := func(root, name, instance string) (most int) {
		cfg := job.Config{Name: name, Cron: "0 0 0 * * ?", ShardingTotalCount: job.MaxShardingTotalCount}
		var fault *job.FieldError
		require.ErrorAs(t, totalFault(root, instance, cfg), &fault)
		_, err := fmt.Sscanf(fault.Reason, "must be at most %d", &most)
		require.NoError(t, err)
		cfg.ShardingTotalCount = most
		require.NoError(t, totalFault(root, instance, cfg))
		cfg.ShardingTotalCount++
		require.Error(t, totalFault(root, instance, cfg))
		return most
	}
	short := most("/prod", "orders", "10.0.0.1@-@1-a")
	require.InDelta(t, 4000, short, 500)
	for name, longer := range map[string]int{
		"root":        most("/prod/of/a/company", "orders", "10.0.0.1@-@1-a"),
		"job":         most("/prod", "orders-of-a-company", "10.0.0.1@-@1-a"),
		"instance id": most("/prod", "orders", "10.0.0.1@-@"+strings.Repeat("a", 60)),
	} {
		require.Less(t, longer, short, name)
		require.Greater(t, longer, short/2, name)
	}
	require.Equal(t, short, most("/prod", "orders", "10.0.0.1@-@1-abcdef"), "other instances may have longer ids")
}
