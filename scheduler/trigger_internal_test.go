package scheduler

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// Whoever hears that a job has joined may trigger it, also if its view stands still before it shows that.
func TestAJobIsTriggeredBeforeItsViewShowsThatItHasJoined(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := memory.NewServer().Open("test", memory.WithLatency(100*time.Millisecond))
		s, err := New(reg)
		require.NoError(t, err)
		nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
		j, err := s.Add(t.Context(), job.Config{Name: "orders", Cron: "@triggered", ShardingTotalCount: 1}, nothing)
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- s.Run(t.Context()) }()
		<-j.r.opened.Done()
		var stands atomic.Bool
		goOn := make(chan struct{})
		j.r.view.Subscribe(func(registry.Step) {
			if stands.Load() {
				<-goOn
			}
		})
		stands.Store(true)
		<-s.Ready()
		require.Empty(t, j.r.view.Snapshot().Get(jobtree.For("orders").Instance(s.InstanceID())))
		_, err = j.Trigger(t.Context())
		require.NoError(t, err)
		close(goOn)
		s.Vanish()
		require.ErrorIs(t, <-done, ErrVanished)
		reg.Vanish()
	})
}
