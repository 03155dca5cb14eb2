package mixed

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// What Go stored counts for Java, and what only Go knows of it does not disturb.
func configOfGoIsReadByJava(t *testing.T, j java) {
	c := j.newCluster(t, "config_of_go")
	cfg := c.config(everySecond, 3)
	cfg.ShardingItemParameters, cfg.JobParameter = "0=Berlin,1=Oslo,2=Köln", `x<y & 'z'="q"`
	cfg.Failover, cfg.FailoverLimit, cfg.Timeout, cfg.Misfire = true, 7, 30*time.Second, job.MisfireAll
	cfg.Unknown = `"ofANewerVersion":{"a":[1,2]}`
	c.startGo(cfg)
	stored := c.state().Config.Value
	require.Equal(t, 7, stored.FailoverLimit)

	belief, err := j.last.Join(c.java(), javapeer.NewJob(c.job, never, 9))
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.last.Console(c.java()).Shutdown(c.job, "") })
	read, err := jobtree.DecodeConfig(registry.Node{Path: c.tree.Config(), Value: belief.Config})
	require.NoError(t, err)
	want := job.Config{Name: c.job, Cron: everySecond, ShardingTotalCount: 3}
	want.Class, want.Failover = javapeer.Class, true
	want.ShardingItemParameters, want.JobParameter = cfg.ShardingItemParameters, cfg.JobParameter
	require.Equal(t, want, read, "what Java knows of it")
	events := j.last.WaitEvents(c.job, began(0, 0))
	e := events[slices.IndexFunc(events, func(e javapeer.Event) bool { return e.Kind == javapeer.EventBegin && e.Item == 0 })]
	require.Equal(t, 3, e.Total)
	require.Equal(t, "Berlin", e.ItemParameter)
	require.Equal(t, cfg.JobParameter, e.JobParameter)
	require.Equal(t, stored, c.state().Config.Value, "Java left it as it was")
}

// What Java stored counts for Go, and written again it is the same to the byte.
func configOfJavaIsReadByGo(t *testing.T, j java) {
	c := j.newCluster(t, "config_of_java")
	spec := javapeer.NewJob(c.job, everySecond, 3)
	spec.ItemParameters, spec.JobParameter = "0=Berlin,1=Oslo,2=Köln", `x<y & 'z'="q"`
	c.joinJava(j.first, spec)
	g := c.startGo(c.config(never, 9))
	runs := g.wait("an item", ran(0, 0))
	sc := runs[slices.IndexFunc(runs, func(sc job.ShardingContext) bool { return sc.Item == 0 })]
	require.Equal(t, 3, sc.TotalCount)
	require.Equal(t, "Berlin", sc.ItemParameter)
	require.Equal(t, spec.JobParameter, sc.JobParameter)

	script := j.newCluster(t, "script_of_java")
	spec = javapeer.NewJob(script.job, never, 2)
	spec.Script, spec.Disabled = `/bin/echo "a b"`, true
	script.joinJava(j.first, spec)
	require.Equal(t, job.TypeScript, script.state().Config.Value.Type)
	for _, c := range []*cluster{c, script} {
		node, err := c.registry.Get(t.Context(), c.tree.Config())
		require.NoError(t, err)
		text, err := c.layout.EncodeConfig(c.state().Config.Value)
		require.NoError(t, err)
		require.Equal(t, node.Value, text)
	}
}
