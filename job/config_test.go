package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

func TestNewConfigHasTheDefaultsOfJava(t *testing.T) {
	t.Parallel()
	require.Equal(t, job.Config{
		Name:                     "orders",
		Type:                     job.TypeSimple,
		Cron:                     "0 0/5 * * * ?",
		ShardingTotalCount:       3,
		Misfire:                  true,
		MonitorExecution:         true,
		MaxTimeDiffSeconds:       -1,
		MonitorPort:              -1,
		ReconcileIntervalMinutes: 10,
		FailoverLimit:            3,
		MisfireMax:               100,
		RetryBackoffSeconds:      1,
	}, job.NewConfig("orders", "0 0/5 * * * ?", 3))
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

func TestConfigIsComparable(t *testing.T) {
	t.Parallel()
	a, b := job.NewConfig("a", "0 0 * * * ?", 1), job.NewConfig("a", "0 0 * * * ?", 1)
	require.True(t, a == b)
	b.Unknown = `"more":1`
	require.False(t, a == b)
}
