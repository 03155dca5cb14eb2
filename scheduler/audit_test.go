package scheduler_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// weighed counts what the views of a handle bring.
type weighed struct {
	*memory.Registry
	changes, bytes, audit *atomic.Int64
}

func (w weighed) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	view, err := w.Registry.View(ctx, path, except...)
	if err == nil {
		view.Subscribe(func(s registry.Step) {
			for _, c := range s.Changes {
				w.changes.Add(1)
				w.bytes.Add(int64(len(c.New.Value)))
				if strings.HasSuffix(c.Path(), "/operated") {
					w.audit.Add(1)
				}
			}
		})
	}
	return view, err
}

// What operators did costs the processes nothing: no view of a process keeps it or is told of it, neither of a job that
// code declares nor of one that is data.
func TestAuditCostsProcessesNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := weighed{c.server.Open("test"), new(atomic.Int64), new(atomic.Int64), new(atomic.Int64)}
		data := job.Config{Name: "data", Cron: "0 0 0 1 7 ?", ShardingTotalCount: 3, Class: "Data"}
		long := strings.Repeat("x", jobtree.MaxOperatedText)
		text, err := jobtree.EncodeConfig(data)
		require.NoError(t, err)
		put(t, c.server, "/data/config", text)
		put(t, c.server, "/data/operated", long)
		nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithHandler("Data", nothing))
		require.NoError(t, err)
		declared, err := s.Add(t.Context(), job.Config{Name: "code", Cron: "0 0 0 1 7 ?", ShardingTotalCount: 3}, nothing)
		require.NoError(t, err)
		c.run(s, reg.Registry)
		synctest.Wait()
		require.Positive(t, reg.changes.Load(), "the views are weighed")
		before, bytes := reg.changes.Load(), reg.bytes.Load()
		for range 100 {
			put(t, c.server, "/code/operated", long)
			put(t, c.server, "/data/operated", long)
		}
		synctest.Wait()
		require.Zero(t, reg.changes.Load()-before, "changes")
		require.Zero(t, reg.bytes.Load()-bytes, "bytes")
		require.Zero(t, reg.audit.Load(), "nor was any shown at first")
		dump, err := declared.Dump(t.Context())
		require.NoError(t, err)
		for _, n := range dump.Nodes {
			require.True(t, n.Agrees(), "%s", n.Path)
		}
	})
}
