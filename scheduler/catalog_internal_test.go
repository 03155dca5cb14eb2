package scheduler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/memory"
)

// A view tells its subscribers of a step before it shows it. The catalog goes by what it was told.
func TestTheCatalogGoesByTheStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := memory.NewServer().Open("test")
		defer func() { require.NoError(t, reg.Close(context.Background())) }()
		s, err := New(reg, WithHandler("index", job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })))
		require.NoError(t, err)
		s.life, s.stop = t.Context(), t.Context()
		v, feed := backend.NewView("/", registry.NewSnapshot(1, nil), func(context.Context, registry.Revision) {}, func() {})
		c := newCatalog(s, t.Context(), v)
		v.Subscribe(func(step registry.Step) { c.box.Post(func() { c.apply(step) }) })
		v.Subscribe(func(registry.Step) { time.Sleep(time.Millisecond) }) // whoever feeds the view is held up
		cfg := job.Config{Name: "orders", Cron: "0/5 * * * * ?", ShardingTotalCount: 1}
		cfg.Class = "index"
		text, err := jobtree.EncodeConfig(cfg)
		require.NoError(t, err)
		path := jobtree.For("orders").Config()
		feed.Apply(2, []backend.Event{{Path: path, Node: registry.Node{Path: path, Value: text, Revision: 2, Created: 2}}})
		time.Sleep(time.Second)
		synctest.Wait()
		require.NotNil(t, c.mine["orders"], "never taken up")
		s.closeRunners()
	})
}
