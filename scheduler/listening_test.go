package scheduler_test

import (
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// startWith is [cluster.start] with options of the process.
func (c *cluster) startWith(id string, work job.HandlerFunc, options []scheduler.Option, configs ...job.Config) *instance {
	c.t.Helper()
	i := c.launchWith(id, work, options, nil, configs...)
	<-i.Ready()
	return i
}

// launchWith is [cluster.launch] with options of the process and of its jobs.
func (c *cluster) launchWith(id string, work job.HandlerFunc, options []scheduler.Option, declared []scheduler.JobOption, configs ...job.Config) *instance {
	c.t.Helper()
	reg := c.server.Open("test")
	s, err := scheduler.New(reg, append([]scheduler.Option{scheduler.WithInstanceID(fullID(id))}, options...)...)
	require.NoError(c.t, err)
	for _, cfg := range configs {
		require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record(id, work), declared...)))
	}
	return c.run(s, reg)
}
