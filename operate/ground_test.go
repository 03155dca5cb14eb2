package operate_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

const (
	theJob = "orders"
	first  = "10.0.0.1@-@a-1"
	second = "10.0.0.2@-@b-2"
	aJava  = "10.0.0.3@-@33"
)

var nodes = jobtree.For(theJob)

// ground is a registry with the job "orders" of four items, on which instances live that do nothing.
type ground struct {
	testingT
	server   *memory.Server
	registry *memory.Registry
	store    *between
	op       *operate.Operator
	sessions map[string]*registry.Session
	life     context.Context // of requests; nil = the test's
}

// Context is the context of requests.
func (g *ground) Context() context.Context {
	if g.life != nil {
		return g.life
	}
	return g.testingT.Context()
}

// testingT is what [testing.T] and rapid.T have in common.
type testingT interface {
	require.TestingT
	Helper()
	Context() context.Context
	Cleanup(func())
}

func newGround(t testingT) *ground {
	t.Helper()
	g := bareGround(t)
	g.do(registry.Put(nodes.Config(), g.text(nil)))
	g.join(first)
	g.join(second)
	g.do(registry.PutOwned(nodes.Leader(), first, g.sessions[first]))
	g.assign(second, second, first, first) // as average allocation does it
	return g
}

// bareGround is an empty registry.
func bareGround(t testingT) *ground {
	t.Helper()
	g := &ground{testingT: t, server: memory.NewServer(), sessions: make(map[string]*registry.Session)}
	g.registry = g.open()
	g.store = &between{Registry: g.registry}
	g.op = g.operator("anna")
	return g
}

func (g *ground) operator(who string) *operate.Operator {
	g.Helper()
	op, err := operate.New(g.store, operate.By(who, "test"))
	require.NoError(g, err)
	return op
}

func (g *ground) open() *memory.Registry {
	g.Helper()
	r := g.server.Open("test", memory.WithTTL(time.Hour), memory.WithTryTimeout(time.Minute))
	g.Cleanup(func() { _ = r.Close(context.Background()) })
	return r
}

// config is the configuration of the job, changed.
func (g *ground) config(change func(*job.Config)) job.Config {
	g.Helper()
	cfg := job.Config{Name: theJob, Cron: "0 0/5 * * * ?", ShardingTotalCount: 4, Props: map[string]string{"email.password": "geheim"}}
	if change != nil {
		change(&cfg)
	}
	return cfg
}

func (g *ground) text(change func(*job.Config)) string {
	g.Helper()
	text, err := jobtree.EncodeConfig(g.config(change))
	require.NoError(g, err)
	return text
}

// join has an instance live.
func (g *ground) join(id string) {
	g.Helper()
	if g.sessions[id] == nil {
		session, err := g.open().Session(g.Context())
		require.NoError(g, err)
		g.sessions[id] = session
	}
	g.do(registry.PutOwned(nodes.Instance(id), "", g.sessions[id]))
}

func (g *ground) leave(id string) { g.Helper(); g.do(registry.Delete(nodes.Instance(id))) }

// assign gives the items their owners, in order.
func (g *ground) assign(owners ...string) {
	g.Helper()
	writes := []registry.Write{registry.Put(nodes.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: 1, Total: len(owners)}))}
	for item, owner := range owners {
		writes = append(writes, registry.Put(nodes.ItemInstance(item), owner))
	}
	g.do(writes...)
}

// begin makes item 1 run on the second instance.
func (g *ground) begin() {
	g.Helper()
	g.do(registry.PutOwned(nodes.ItemRunning(1), "", g.sessions[second]))
}

// do makes a change that nothing guards.
func (g *ground) do(writes ...registry.Write) registry.Revision {
	g.Helper()
	revision, err := g.registry.Commit(g.Context(), registry.Txn{Then: writes})
	require.NoError(g, err)
	return revision
}

func (g *ground) value(path string) string {
	g.Helper()
	return g.node(path).Value
}

func (g *ground) node(path string) registry.Node {
	g.Helper()
	n, err := g.registry.Get(g.Context(), path)
	if err != nil {
		require.ErrorIs(g, err, registry.ErrNotFound)
	}
	return n
}

// all are the nodes of the job.
func (g *ground) all() []registry.Node {
	g.Helper()
	list, _, err := g.registry.List(g.Context(), nodes.Root())
	require.NoError(g, err)
	return list
}

// tree is the state of the job.
func (g *ground) tree() *jobtree.State {
	g.Helper()
	list, revision, err := g.registry.List(g.Context(), nodes.Root())
	require.NoError(g, err)
	return jobtree.StateOf(theJob, registry.NewSnapshot(revision, list))
}

func (g *ground) operated() jobtree.Operated {
	g.Helper()
	operated, err := jobtree.DecodeOperated(g.node(nodes.Operated()))
	require.NoError(g, err)
	return operated
}

// refused asserts that an operation was refused for a cause, and wrote nothing.
func (g *ground) refused(cause operate.Cause, err error) *operate.Refusal {
	g.Helper()
	var r *operate.Refusal
	require.ErrorAs(g, err, &r)
	require.Equal(g, cause, r.Cause, err)
	require.NotEmpty(g, r.Verb)
	require.Contains(g, err.Error(), "refused")
	return r
}

// between is a registry that has something happen between the reading and the commit, and tells what is committed.
type between struct {
	*memory.Registry
	java     bool
	readOnly bool // its user may not write
	noTrees  int  // it takes no deletion of a tree that has more nodes than that

	mu     sync.Mutex
	before func(registry.Txn) registry.Txn // once

	beforeAll func() // before several are committed
	upTo      int    // of several, only so many are sent, once; 0 = all
	txns      []registry.Txn
	errs      []error
}

func (b *between) JavaLayout() (string, bool) { return "/", b.java }

// next has fn see, and perhaps change, the next transaction before it is sent.
func (b *between) next(fn func(registry.Txn) registry.Txn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before, b.txns, b.errs = fn, nil, nil
}

func (b *between) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	b.mu.Lock()
	before := b.before
	b.before = nil
	b.mu.Unlock()
	if before != nil {
		txn = before(txn)
	}
	if b.readOnly {
		return 0, &registry.OpError{Op: "commit", Path: txn.Then[0].Path, Err: registry.ErrDenied}
	}
	revision, err := registry.Revision(0), ctx.Err()
	switch {
	case err != nil:
		err = &registry.OpError{Op: "commit", Err: errors.Join(registry.ErrUnavailable, err)}
	case b.tooLarge(ctx, txn):
		err = &registry.OpError{Op: "commit", Path: txn.Then[0].Path, Err: registry.ErrTooLarge}
	default:
		revision, err = b.Registry.Commit(ctx, txn)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.txns, b.errs = append(b.txns, txn), append(b.errs, err)
	return revision, err
}

func (b *between) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	if b.beforeAll != nil {
		b.beforeAll()
	}
	some := len(txns)
	if b.upTo > 0 {
		some, b.upTo = min(some, b.upTo), 0
	}
	outcomes := b.Registry.CommitAll(ctx, txns[:some])
	for range txns[some:] {
		outcomes = append(outcomes, registry.Outcome{Err: &registry.OpError{Op: "commit", Err: registry.ErrUnavailable}})
	}
	return outcomes
}

// tooLarge tells whether a transaction is more than the registry takes.
func (b *between) tooLarge(ctx context.Context, txn registry.Txn) bool {
	for _, w := range txn.Then {
		if b.noTrees == 0 || w.Kind != registry.WriteDeleteTree {
			continue
		}
		if list, _, _ := b.List(ctx, w.Path); len(list) > b.noTrees {
			return true
		}
	}
	return false
}

// meanwhile has something happen between the next reading and its commit.
func (g *ground) meanwhile(fn func()) {
	g.store.next(func(txn registry.Txn) registry.Txn { fn(); return txn })
}

func silent() operate.Options { return operate.Options{} }

func because(reason string) operate.Options { return operate.Options{Reason: reason} }

func forced() operate.Options { return operate.Options{Force: true} }

func waiting() operate.Options { return operate.Options{Wait: true} }
