package clustertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
)

// What changes between the time of a fire and its delayed begin decides about the fire: the fires are those that run.
func TestWhatChangesWhileAFireIsDelayed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *clustertest.Cluster){
		"an instance starts":     func(c *clustertest.Cluster) { c.Start("b") },
		"an item is disabled":    func(c *clustertest.Cluster) { c.DisableItem("invoices", 1) },
		"an item is enabled":     func(c *clustertest.Cluster) { c.EnableItem("invoices", 0) },
		"the job is disabled":    func(c *clustertest.Cluster) { c.Update("invoices", func(cfg *job.Config) { cfg.Disabled = true }) },
		"the server is disabled": func(c *clustertest.Cluster) { c.Instance("a").Disable("invoices") },
		"there is one item more": func(c *clustertest.Cluster) { c.Update("invoices", func(cfg *job.Config) { cfg.ShardingTotalCount++ }) },
		"the delay is longer": func(c *clustertest.Cluster) {
			c.Update("invoices", func(cfg *job.Config) { cfg.Jitter = 50 * time.Second })
		},
		"nothing":                  func(*clustertest.Cluster) {},
		"all are disabled, though": func(c *clustertest.Cluster) { c.DisableItem("invoices", 1); c.DisableItem("invoices", 2) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for second := 0; second < 60; second += 3 {
				clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
					cfg := job.Config{Name: "invoices", Cron: "0 * * * * ?", ShardingTotalCount: 3, Jitter: 30 * time.Second}
					c.Job(cfg, nil)
					c.AdvanceTo(clustertest.At(10 * time.Minute).Add(time.Duration(second) * time.Second / 2))
					c.Start("a") // a fire may be delayed now, too
					c.DisableItem("invoices", 0)
					c.AdvanceTo(clustertest.At(15 * time.Minute).Add(time.Duration(second) * time.Second))
					change(c)
					c.AdvanceTo(clustertest.At(20*time.Minute - time.Millisecond))
					ran, due := make(map[string]int), make(map[string]int)
					for _, e := range c.Executions("invoices") {
						ran[clustertest.Fire{Item: e.Item, Time: e.Fire}.String()]++
					}
					for _, f := range c.Fires("invoices") {
						due[f.String()]++
					}
					for f, times := range ran {
						if name == "the delay is longer" { // a fire that was to come, and whose new delay is over, runs at once
							break
						}
						require.Equal(t, due[f], times, "%s ran, after %d seconds", f, second)
					}
					for f, times := range due {
						require.Equal(t, times, ran[f], "%s was due, after %d seconds", f, second)
						require.Equal(t, 1, times)
					}
				})
			}
		})
	}
}
