package scheduler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
)

// Code hears that its process vanished also if Run is faster than the one who has it vanish, and ends before that has
// told the code.
func TestCodeHearsWhyRunEndsBeforeVanishHasToldIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := memory.NewServer().Open("test")
		s, err := New(reg)
		require.NoError(t, err)
		heard := make(chan error, 1)
		_, err = s.Add(t.Context(), job.Config{Name: "orders", Cron: "* * * * * ?", ShardingTotalCount: 1},
			job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
				<-ctx.Done()
				heard <- context.Cause(ctx)
				return nil
			}))
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- s.Run(t.Context()) }()
		time.Sleep(2500 * time.Millisecond)
		s.mu.Lock()
		s.fail(ErrVanished) // Vanish stands still after this
		s.mu.Unlock()
		require.ErrorIs(t, <-done, ErrVanished)
		require.ErrorIs(t, <-heard, ErrVanished)
		reg.Vanish()
	})
}
