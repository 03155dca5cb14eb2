package scheduler

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
)

// A question behind the message with which a job is left has its answer: the job is not told of.
func TestHealthDoesNotWaitForAJobThatIsLeft(t *testing.T) {
	t.Parallel()
	inHeldRunner(t, func(t *testing.T, s *Scheduler, r *runner, letGo func()) {
		go s.dismiss(r)
		synctest.Wait()
		answer := askHealth(t, s)
		letGo()
		h, answered := <-answer
		require.True(t, answered)
		require.Empty(t, h.Jobs)
	})
}

// Nor does it wait for a job whose runner Run has closed before it came to the question.
func TestHealthDoesNotWaitForAJobThatRunHasEnded(t *testing.T) {
	t.Parallel()
	inHeldRunner(t, func(t *testing.T, s *Scheduler, _ *runner, letGo func()) {
		answer := askHealth(t, s)
		s.Vanish()
		synctest.Wait()
		letGo()
		h, answered := <-answer
		require.True(t, answered)
		require.Equal(t, []JobHealth{{Job: "orders"}}, h.Jobs)
	})
}

// inHeldRunner runs a test with a job whose runner is in a message until it is let go.
func inHeldRunner(t *testing.T, test func(t *testing.T, s *Scheduler, r *runner, letGo func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		reg := memory.NewServer().Open("test")
		s, err := New(reg)
		require.NoError(t, err)
		j, err := s.Add(t.Context(), job.Config{Name: "orders", Cron: "0 0 0 1 1 ?", ShardingTotalCount: 1},
			job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- s.Run(context.Background()) }()
		<-s.Ready()
		held := make(chan struct{})
		letGo := sync.OnceFunc(func() { close(held) })
		defer func() {
			letGo()
			s.Vanish()
			require.ErrorIs(t, <-done, ErrVanished)
			reg.Vanish()
		}()
		j.r.box.Post(func() { <-held })
		test(t, s, j.r, letGo)
	})
}

// askHealth asks for the health, and returns when the question is posted. The answer must come in a minute.
func askHealth(t *testing.T, s *Scheduler) <-chan Health {
	t.Helper()
	answer := make(chan Health, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	go func() {
		defer cancel()
		h := s.Health(ctx)
		if ctx.Err() == nil {
			answer <- h
		}
		close(answer)
	}()
	synctest.Wait()
	return answer
}

// What may still begin on time, and what the view shows a little later, is not overdue.
func TestWhatIsLateIsNotOverdueYet(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Jitter: 3 * time.Second}
	require.GreaterOrEqual(t, inforce.OverdueAfter(cfg), 2*policy.LateAfter+cfg.Jitter)
}
