package job_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 3}
	a.StartTime = noon
	b := a
	b.StartTime = noon.In(time.FixedZone("", 3600))
	b.Class, b.Java.Overwrite, b.Unknown = "orders", true, `"x":1`
	require.Empty(t, a.Differences(b))
	b.Cron, b.ShardingTotalCount, b.TimeZone = "@hourly", 4, "Europe/Berlin"
	require.Equal(t, []string{"Cron", "ShardingTotalCount", "TimeZone"}, a.Differences(b))
	require.Equal(t, []string{"Cron", "ShardingTotalCount", "TimeZone"}, b.Differences(a))
}

func TestDifferencesOfWhatOnlyJavaReads(t *testing.T) {
	t.Parallel()
	a, b := plain(), plain()
	b.Java.MonitorPort, b.ReconcileInterval = 9888, -1
	require.Equal(t, []string{"ReconcileInterval", "Java.MonitorPort"}, a.Differences(b))
	a.ReconcileInterval = -time.Hour
	require.Equal(t, []string{"Java.MonitorPort"}, a.Differences(b), "never is never")
}
