package scheduler

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// smallRegistry is one that finds records too large that tell what an error says.
type smallRegistry struct {
	*memory.Registry
	refused int
}

func (r *smallRegistry) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := make([]registry.Outcome, len(txns))
	for i, txn := range txns {
		if slices.ContainsFunc(txn.Then, func(w registry.Write) bool { return strings.Contains(w.Value, "a long story") }) {
			r.refused++
			outcomes[i].Err = registry.ErrTooLarge
			continue
		}
		outcomes[i] = r.Registry.CommitAll(ctx, []registry.Txn{txn})[0]
	}
	return outcomes
}

// Ends that the registry refuses for good, one after the other, leave a doubt about the last mark alone.
func TestDoubtsOfRefusedEndsDoNotGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := &smallRegistry{Registry: memory.NewServer().Open("test")}
		s, err := New(reg, WithInstanceID(myself))
		require.NoError(t, err)
		j, err := s.Add(t.Context(), job.Config{Name: "orders", Cron: "* * * * * ?", ShardingTotalCount: 2},
			job.HandlerFunc(func(context.Context, job.ShardingContext) error { return errors.New("a long story") }))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		<-s.Ready()
		time.Sleep(time.Minute)
		doubts := make(chan int)
		j.r.box.Post(func() { doubts <- len(*j.r.departure.unsettled) })
		assert.LessOrEqual(t, <-doubts, 4, "two items, and two that have just ended")
		cancel()
		require.NoError(t, <-done)
		require.Greater(t, reg.refused, 100)
		require.NoError(t, reg.Close(context.Background()))
	})
}
