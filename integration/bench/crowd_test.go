package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/scheduler"
)

// crowd is many jobs of one process that fire when they are told to.
type crowd struct {
	b       *testing.B
	process *process
	configs []job.Config
	rounds  *rounds
}

func newCrowd(b *testing.B, jobs, items int, monitored bool, adjust ...func(*etcd.Config)) *crowd {
	b.Helper()
	rs := newRounds(jobs * items)
	c := &crowd{b: b, rounds: rs, configs: make([]job.Config, jobs)}
	c.process = newProcess(b, openEtcd(b, newNamespace(), adjust...), scheduler.WithObserver(rs))
	var adds errgroup.Group
	adds.SetLimit(64)
	for i := range c.configs {
		cfg := yearly(fmt.Sprintf("job-%d", i), items)
		cfg.Unmonitored = !monitored
		c.configs[i] = cfg
		adds.Go(func() error {
			_, err := c.process.scheduler.Add(b.Context(), cfg, job.HandlerFunc(rs.work))
			return err
		})
	}
	require.NoError(b, adds.Wait())
	c.process.start()
	return c
}

// fire has every job fire once, all at the same full second, and returns what became of that.
func (c *crowd) fire() *round {
	c.b.Helper()
	began := time.Now()
	c.set("0 0 0 1 1 ? 2099")
	took := time.Since(began) // on this machine, as busy as it is
	at := time.Now().Add(4 * took).Truncate(time.Second).Add(2 * time.Second).UTC()
	c.set(at.Format("5 4 15 2 1 ? 2006"))
	require.True(c.b, time.Now().Before(at), "the machine is too slow to set the jobs before they fire")
	return receive(c.b, c.rounds.done)
}

// set gives every job a cron.
func (c *crowd) set(cron string) {
	c.b.Helper()
	txns := make([]registry.Txn, len(c.configs))
	for i, cfg := range c.configs {
		cfg.Cron = cron
		text, err := jobtree.EncodeConfig(cfg)
		require.NoError(c.b, err)
		txns[i].Then = []registry.Write{registry.Put(jobtree.For(cfg.Name).Config(), text)}
	}
	for _, outcome := range c.process.registry.CommitAll(c.b.Context(), txns) {
		require.NoError(c.b, outcome.Err)
	}
}
