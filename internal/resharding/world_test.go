package resharding_test

import (
	"context"
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory" //nolint:depguard // tests judge plans by committing them
	"github.com/elasticron/elasticron/sharding"
)

// tb is what [testing.T] and rapid.T have in common.
type tb interface {
	require.TestingT
	Helper()
	Context() context.Context
	Cleanup(func())
}

var tree = jobtree.For("orders")

// instanceID is the id of an instance on a server of its own.
func instanceID(server string) string { return server + "@-@1" }

// world is the job "orders" in a registry, with a leader that reshards when a test says so.
type world struct {
	tb
	registry *memory.Registry
	session  *registry.Session // of every instance: only its nodes matter here
	term     registry.Revision // of the leader
	cfg      job.Config
}

// newWorld makes a job that has a leader and as many items, and no instances yet.
func newWorld(tb tb, total int) *world {
	tb.Helper()
	w := &world{tb: tb, registry: memory.NewServer().Open("test", memory.WithTTL(time.Hour))}
	w.Cleanup(func() { _ = w.registry.Close(context.Background()) })
	var err error
	w.session, err = w.registry.Session(w.Context())
	require.NoError(w, err)
	w.cfg = job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: total}
	w.configure(func(*job.Config) {})
	w.lead()
	return w
}

// do makes a change that nothing guards.
func (w *world) do(writes ...registry.Write) registry.Revision {
	w.Helper()
	revision, err := w.registry.Commit(w.Context(), registry.Txn{Then: writes})
	require.NoError(w, err)
	return revision
}

func (w *world) configure(change func(*job.Config)) {
	w.Helper()
	change(&w.cfg)
	text, err := jobtree.EncodeConfig(w.cfg)
	require.NoError(w, err)
	w.do(registry.Put(tree.Config(), text))
}

// lead begins a new leader's term.
func (w *world) lead() {
	w.Helper()
	w.do(registry.Delete(tree.Leader()))
	w.term = w.do(registry.PutOwned(tree.Leader(), "leader@-@1", w.session))
}

func (w *world) join(servers ...string) {
	w.Helper()
	for _, server := range servers {
		w.do(registry.PutOwned(tree.Instance(instanceID(server)), "", w.session))
	}
}

func (w *world) leave(server string) { w.do(registry.Delete(tree.Instance(instanceID(server)))) }

func (w *world) disable(server string) { w.do(registry.Put(tree.Server(server), "DISABLED")) }

// rewrite writes a node again as it is, or anew: a change to all who go by revisions.
func (w *world) rewrite(path string) {
	w.Helper()
	n, err := w.registry.Get(w.Context(), path)
	if err != nil {
		require.ErrorIs(w, err, registry.ErrNotFound)
	}
	w.do(registry.Put(path, n.Value))
}

func (w *world) state() *jobtree.State {
	w.Helper()
	nodes, revision, err := w.registry.List(w.Context(), tree.Root())
	require.NoError(w, err)
	return jobtree.StateOf("orders", registry.NewSnapshot(revision, nodes))
}

// owners are the owners in force of all items that count.
func (w *world) owners() sharding.Assignment {
	w.Helper()
	return ownersOf(w.state())
}

func ownersOf(s *jobtree.State) sharding.Assignment {
	owners := sharding.NewAssignment(s.Total())
	for item := range owners {
		owners[item] = s.Owner(item)
	}
	return owners
}

func (w *world) plan(strategy sharding.Strategy) resharding.Plan {
	w.Helper()
	plan, err := resharding.PlanOf(w.state(), strategy, w.term)
	require.NoError(w, err)
	return plan
}

// commit commits transactions one by one, and returns the guard that refused one; nil if none did.
func (w *world) commit(txns ...registry.Txn) *registry.Condition {
	w.Helper()
	for _, txn := range txns {
		_, err := w.registry.Commit(w.Context(), txn)
		var conflict *registry.ConflictError
		if errors.As(err, &conflict) {
			return &conflict.Condition
		}
		require.NoError(w, err)
	}
	return nil
}

// tidy clears up, and tells whether there was anything.
func (w *world) tidy() bool {
	w.Helper()
	txns := resharding.Tidy(w.state(), w.term)
	require.Nil(w, w.commit(txns...))
	return len(txns) > 0
}

// reshard does what a leader does, to the end, and returns the plan.
func (w *world) reshard(strategy sharding.Strategy) resharding.Plan {
	w.Helper()
	w.tidy()
	plan := w.plan(strategy)
	if plan.Needed {
		require.Nil(w, w.commit(plan.Parts...))
		require.Nil(w, w.commit(plan.Txn))
	}
	w.tidy()
	return plan
}
