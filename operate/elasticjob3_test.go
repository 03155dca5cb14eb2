package operate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// What is written here for jobs of ours, or of 2.1.5, an instance of ElasticJob 3.x could not read, or would read as
// something else.
func TestAJobOfElasticJob3IsLeftToItsConsole(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	text, err := jobtree.ElasticJob3.EncodeConfig(g.config(func(cfg *job.Config) { cfg.Class = "com.acme.Orders" }))
	require.NoError(t, err)
	g.do(registry.Put(nodes.Config(), text), registry.Put(nodes.Server("10.0.0.1"), "ENABLED"))
	before := g.all()
	ctx := t.Context()
	for verb, err := range map[string]error{
		"trigger":        errOf(g.op.Trigger(ctx, theJob, operate.Trigger{}, silent())),
		"disable":        errOf(g.op.DisableJob(ctx, theJob, silent())),
		"disable server": errOf(g.op.DisableServer(ctx, theJob, "10.0.0.1", silent())),
		"enable server":  errOf(g.op.EnableServer(ctx, theJob, "10.0.0.1", silent())),
		"disable item":   errOf(g.op.DisableItem(ctx, theJob, 0, silent())),
		"shut down":      errOf(g.op.ShutDown(ctx, theJob, first, silent())),
		"reshard":        errOf(g.op.Reshard(ctx, theJob, silent())),
		"settings":       errOf(g.op.ChangeSettings(ctx, theJob, operate.Settings{Change: func(cfg *job.Config) error { cfg.Cron = "@daily"; return nil }}, operate.Options{Force: true})),
		"remove":         errOf(g.op.Remove(ctx, theJob, operate.Options{Force: true})),
	} {
		require.Contains(t, g.refused(operate.CauseUnusable, err).Error(), "ElasticJob 3.x", verb)
	}
	require.Equal(t, before, g.all())
}
