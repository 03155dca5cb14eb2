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

// crowd is many jobs that fire when they are told to.
type crowd struct {
	b       *testing.B
	process *process   // that tells them
	others  []*process // that share the items
	configs []job.Config
	rounds  *rounds
}

func newCrowd(b *testing.B, jobs, items int, monitored bool, adjust ...func(*etcd.Config)) *crowd {
	b.Helper()
	c := &crowd{b: b, rounds: newRounds(jobs * items), configs: yearlies(jobs, items, monitored)}
	c.process = c.join(openEtcd(b, newNamespace(), adjust...))
	return c
}

// newSharedCrowd makes a crowd of several processes.
func newSharedCrowd(b *testing.B, processes, jobs, items int, open func(b *testing.B) handle) *crowd {
	b.Helper()
	c := &crowd{b: b, rounds: newRounds(jobs * items), configs: yearlies(jobs, items, true)}
	c.process = c.join(open(b), named("bench-1"))
	for i := 1; i < processes; i++ {
		c.others = append(c.others, c.join(open(b), named(fmt.Sprintf("bench-%d", i+1))))
	}
	return c
}

// yearlies describes jobs that do not fire before they are told to.
func yearlies(jobs, items int, monitored bool) []job.Config {
	configs := make([]job.Config, jobs)
	for i := range configs {
		configs[i] = yearly(fmt.Sprintf("job-%d", i), items)
		configs[i].Unmonitored = !monitored
	}
	return configs
}

// join has one more process take part in all jobs.
func (c *crowd) join(reg handle, options ...scheduler.Option) *process {
	c.b.Helper()
	p := newProcess(c.b, reg, append(options, scheduler.WithObserver(c.rounds))...)
	var adds errgroup.Group
	adds.SetLimit(64)
	for _, cfg := range c.configs {
		adds.Go(func() error {
			_, err := p.scheduler.Add(c.b.Context(), cfg, job.HandlerFunc(c.rounds.work))
			return err
		})
	}
	require.NoError(c.b, adds.Wait())
	p.start()
	return p
}

// stop ends all processes.
func (c *crowd) stop() {
	c.b.Helper()
	for _, p := range append(c.others, c.process) {
		p.stop()
	}
}

// fire has every job fire once, all at the same full second, and returns what became of that.
func (c *crowd) fire() *round {
	c.b.Helper()
	c.aim()
	return receive(c.b, c.rounds.done)
}

// aim has every job fire once, at the same full second, and returns that.
func (c *crowd) aim() time.Time {
	c.b.Helper()
	began := time.Now()
	c.set("0 0 0 1 1 ? 2099")
	took := time.Since(began) // on this machine, as busy as it is
	at := time.Now().Add(4 * took).Truncate(time.Second).Add(2 * time.Second).UTC()
	c.set(at.Format("5 4 15 2 1 ? 2006"))
	require.True(c.b, time.Now().Before(at), "the machine is too slow to set the jobs before they fire")
	return at
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
