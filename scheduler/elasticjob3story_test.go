package scheduler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// What the stories about instances of ElasticJob 3.x are told with, in the words of their nodes.

// startBeside3 starts an instance of ours that knows of them.
func (c *cluster) startBeside3(id string, work job.HandlerFunc, configs ...job.Config) *instance {
	c.t.Helper()
	return c.startWith(id, work, []scheduler.Option{scheduler.WithElasticJob3Peers()}, configs...)
}

// state3 is the job as they read it.
func (c *cluster) state3() *jobtree.State {
	c.t.Helper()
	synctest.Wait()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	nodes, revision, err := reg.List(c.t.Context(), "/orders")
	require.NoError(c.t, err)
	return jobtree.ElasticJob3StateOf("orders", registry.NewSnapshot(revision, nodes))
}

func (c *cluster) owners3() map[string]int {
	owners, s := make(map[string]int), c.state3()
	for n := range s.Total() {
		owners[s.Owner(n)]++
	}
	return owners
}

// node returns what a path holds; the zero Node if nothing.
func (c *cluster) node(path string) registry.Node {
	c.t.Helper()
	synctest.Wait()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	n, err := reg.Get(c.t.Context(), path)
	if err != nil {
		require.ErrorIs(c.t, err, registry.ErrNotFound)
	}
	return n
}

// elasticJob3 is such an instance, or who else writes as one does.
type elasticJob3 struct {
	*java
	id string
}

func (c *cluster) elasticJob3(id string) *elasticJob3 {
	c.t.Helper()
	return &elasticJob3{c.java(), id}
}

func (c *cluster) elasticJob3Joins(id string) *elasticJob3 {
	c.t.Helper()
	j := c.elasticJob3(id)
	j.join()
	return j
}

// elasticJob3Leads connects one that stores the job and leads it.
func (c *cluster) elasticJob3Leads(cfg job.Config) *elasticJob3 {
	c.t.Helper()
	j := c.elasticJob3(javaID)
	j.store(cfg)
	j.do(registry.PutOwned(orders.Leader(), j.id, j.session))
	j.join()
	j.ask()
	return j
}

func (j *elasticJob3) store(cfg job.Config) {
	j.t.Helper()
	text, err := jobtree.ElasticJob3.EncodeConfig(cfg)
	require.NoError(j.t, err)
	j.do(registry.Put(orders.Config(), text), registry.Put(orders.Root(), cfg.Class))
}

// join asks for nothing: only leaders ask for a resharding.
func (j *elasticJob3) join() {
	j.t.Helper()
	j.do(registry.Put(orders.Server(jobtree.ServerOf(j.id)), "ENABLED"))
	j.do(registry.PutOwned(orders.Instance(j.id), jobtree.ElasticJob3.EncodeInstance(j.id), j.session))
}

// begin marks an item as running, in a node that outlives this instance if failover is on.
func (j *elasticJob3) begin(item int, failover bool) {
	if failover {
		j.do(registry.Put(orders.ItemRunning(item), j.id))
		return
	}
	j.do(registry.PutOwned(orders.ItemRunning(item), j.id, j.session))
}

// flag asks for a claimant of an item of a crashed instance, as each instance does that sees the crash.
func (j *elasticJob3) flag(item int) {
	j.do(registry.Put(orders.FailoverItem(item), ""))
	j.do(registry.Delete(orders.ItemRunning(item)))
}

// claim takes the first item if it is such a one, and endClaimed is the end of its run.
func (j *elasticJob3) claim() {
	j.do(registry.PutOwned(orders.ItemFailover(0), j.id, j.session))
	j.do(registry.Put(orders.ItemFailovering(0), j.id))
	j.do(registry.Delete(orders.FailoverItem(0)))
}

// claimIfWanted is claim if the item still asks for a claimant, which it tells. Real ones look and claim in a latch in
// which ours claim, too.
func (j *elasticJob3) claimIfWanted(item int) bool {
	j.t.Helper()
	_, err := j.registry.Commit(j.t.Context(), registry.Txn{
		If: []registry.Condition{registry.Present(orders.FailoverItem(item))},
		Then: []registry.Write{
			registry.PutOwned(orders.ItemFailover(item), j.id, j.session), registry.Put(orders.ItemFailovering(item), j.id),
			registry.Delete(orders.FailoverItem(item)),
		},
	})
	if err != nil {
		require.ErrorIs(j.t, err, registry.ErrConflict)
	}
	return err == nil
}

func (j *elasticJob3) endClaimed(item int) {
	j.end(item)
	j.do(registry.Delete(orders.ItemFailover(item)))
	j.do(registry.Delete(orders.ItemFailovering(item)))
}

// failingSlowly is [failingOver] with time between two fires for what happens then.
func failingSlowly(total int) job.Config {
	cfg := failingOver(total)
	cfg.Cron = "10 * * * * ?"
	return cfg
}

// requireNoMarks asserts that nothing is left of an item's executions and claims.
func requireNoMarks(t *testing.T, c *cluster, item int) {
	t.Helper()
	for _, path := range []string{orders.ItemRunning(item), orders.ItemFailover(item), orders.ItemFailovering(item), orders.FailoverItem(item)} {
		require.False(t, c.node(path).Exists(), path)
	}
}

// waitOut is when all that follows from a crash is over, and the next minute's fire has not come.
const waitOut = time.Minute
