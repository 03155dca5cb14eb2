package migrate_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// world is a source and a target, each a store of its own.
type world struct {
	testing.TB
	source, target *memory.Registry
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	open := func() *memory.Registry {
		reg := memory.NewServer().Open("shop", memory.WithTTL(time.Hour)) // so that a busy machine ends no session
		tb.Cleanup(func() { require.NoError(tb, reg.Close(context.Background())) })
		return reg
	}
	return &world{TB: tb, source: open(), target: open()}
}

// has writes nodes, given as pairs of path and value. A path that ends in "!" is of a session.
func (w *world) has(reg *memory.Registry, pairs ...string) {
	w.Helper()
	session, err := reg.Session(w.Context())
	require.NoError(w, err)
	for i := 0; i < len(pairs); i += 2 {
		path, value := pairs[i], pairs[i+1]
		write := registry.Put(path, value)
		if name := path[:len(path)-1]; path[len(path)-1] == '!' {
			write = registry.PutOwned(name, value, session)
		}
		_, err := reg.Commit(w.Context(), registry.Txn{Then: []registry.Write{write}})
		require.NoError(w, err)
	}
}

// nodes returns what a registry holds, by path.
func (w *world) nodes(reg registry.Reader) map[string]string {
	w.Helper()
	all, _, err := reg.List(w.Context(), registry.Root)
	require.NoError(w, err)
	nodes := make(map[string]string)
	for _, n := range all {
		nodes[n.Path] = n.Value
	}
	return nodes
}

// ofJava is a registry whose jobs Java instances may share.
type ofJava struct{ *memory.Registry }

func (ofJava) JavaLayout() (string, bool) { return "/shop", true }

// run migrates, and holds that the source stays as it is to the last revision.
func (w *world) run(opts migrate.Options) migrate.Report {
	w.Helper()
	before, _, err := w.source.List(w.Context(), registry.Root)
	require.NoError(w, err)
	report, err := migrate.Run(w.Context(), ofJava{w.source}, w.target, opts)
	require.NoError(w, err)
	after, _, err := w.source.List(w.Context(), registry.Root)
	require.NoError(w, err)
	require.Equal(w, before, after)
	return report
}

// one is run for a namespace of one job.
func (w *world) one(opts migrate.Options) migrate.Job {
	w.Helper()
	report := w.run(opts)
	require.Len(w, report.Jobs, 1)
	return report.Jobs[0]
}

// apply writes, with nothing else said.
var apply = migrate.Options{Apply: true}

// configOf returns the config text of a job "orders" of four items.
func configOf(tb testing.TB, change func(*job.Config)) string {
	tb.Helper()
	c := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}
	c.Class, c.TimeZone = "com.acme.OrderJob", "Europe/Berlin"
	if change != nil {
		change(&c)
	}
	text, err := jobtree.EncodeConfig(c)
	require.NoError(tb, err)
	return text
}

// base returns where the tokens of the job "orders" start in the target.
func (w *world) base() int64 {
	w.Helper()
	n, err := w.target.Get(w.Context(), jobtree.For("orders").Tokens())
	require.NoError(w, err)
	tokens, err := jobtree.DecodeTokens(n)
	require.NoError(w, err)
	return tokens.Base
}
