package job_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

func plain() job.Config {
	return job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
}

func TestTheZeroValueIsTheDefault(t *testing.T) {
	t.Parallel()
	c := plain()
	require.NoError(t, c.Validate())
	require.Equal(t, job.TypeSimple, c.Type)
	require.True(t, c.Monitored())
	require.Equal(t, job.MisfireOnce, c.Misfire)
	require.Equal(t, job.FailoverRunning, c.FailoverScope)
	require.Equal(t, job.ClockWarn, c.ClockPolicy)
	require.Equal(t, job.DaylightSavingNatural, c.DaylightSaving)
}

func TestNegativeNumbersAreNone(t *testing.T) {
	t.Parallel()
	none := func(limit, most int, backoff, reconcile time.Duration) job.Config {
		c := plain()
		c.FailoverLimit, c.MisfireMax, c.RetryBackoff, c.ReconcileInterval = limit, most, backoff, reconcile
		require.NoError(t, c.Validate())
		return c
	}
	c := none(-1, -7, -time.Second, -1)
	require.Empty(t, c.Differences(none(-2, -1, -1, -time.Hour)))
	require.Equal(t, []string{"ReconcileInterval", "FailoverLimit", "MisfireMax", "RetryBackoff"}, c.Differences(plain()))
	require.Equal(t, []string{"ReconcileInterval", "FailoverLimit", "MisfireMax", "RetryBackoff"}, c.Differences(none(7, 8, 9*time.Second, time.Hour)))
}

// spelt has the defaults of [plain] in words.
func spelt() job.Config {
	return job.Config{
		Name: "orders", Class: "orders", Type: "SIMPLE", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3,
		Misfire: "once", FailoverScope: "running", ClockPolicy: "warn", DaylightSaving: "natural",
		FailoverLimit: job.DefaultFailoverLimit, MisfireMax: job.DefaultMisfireMax,
		RetryBackoff: job.DefaultRetryBackoff, ReconcileInterval: job.DefaultReconcileInterval,
	}
}

func TestADefaultMayBeSpeltOut(t *testing.T) {
	t.Parallel()
	require.NoError(t, spelt().Validate())
	require.Empty(t, spelt().Differences(plain()))
	require.Empty(t, plain().Differences(spelt()))
}

func TestWordsOfDefaults(t *testing.T) {
	t.Parallel()
	c := plain()
	for word, of := range map[string]interface{ String() string }{
		"SIMPLE": c.Type, "once": c.Misfire, "running": c.FailoverScope, "warn": c.ClockPolicy, "natural": c.DaylightSaving,
		"SCRIPT": job.TypeScript, "skip": job.MisfireSkip, "all": job.MisfireAll, "assigned": job.FailoverAssigned,
		"refuse": job.ClockRefuse, "quartz": job.DaylightSavingQuartz,
	} {
		require.Equal(t, word, of.String())
	}
}

func TestClassName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, class string
		kind        job.Type
		want        string
	}{
		{"the class if there is one", "com.acme.OrderJob", job.TypeSimple, "com.acme.OrderJob"},
		{"else the name of the job", "", job.TypeDataflow, "orders"},
		{"else that of all scripts", "", job.TypeScript, job.ScriptClass},
		{"which a script may override", "com.acme.Script", job.TypeScript, "com.acme.Script"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := job.Config{Name: "orders", Class: test.class, Type: test.kind}
			require.Equal(t, test.want, c.ClassName())
		})
	}
}
