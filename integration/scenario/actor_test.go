package scenario_test

import (
	"context"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/registrytest"
	"github.com/elasticron/elasticron/scheduler"
)

// actor is one process of a story: a participant of the store and a scheduler on it.
type actor struct {
	*registrytest.Participant
	s         *stage
	scheduler *scheduler.Scheduler
	cancel    context.CancelFunc
	running   sync.WaitGroup
	ended     sync.Once
}

// enter has a process take part, and returns when it does.
func (s *stage) enter(id string) *actor {
	s.Helper()
	p := &actor{Participant: s.store.Open(s, s.namespace), s: s}
	var err error
	p.scheduler, err = scheduler.New(p.Participant, scheduler.WithInstanceID(id))
	require.NoError(s, err)
	code := func(ctx context.Context, sc job.ShardingContext) error { return s.execute(ctx, id, sc) }
	_, err = p.scheduler.Add(s.Context(), s.cfg, job.HandlerFunc(code))
	require.NoError(s, err)
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(s.Context()))
	p.running.Go(func() { _ = p.scheduler.Run(ctx) })
	s.Cleanup(p.crash) // for stories that fail, and those that leave it running
	select {
	case <-p.scheduler.Ready():
	case <-s.Context().Done():
	}
	return p
}

// stop ends the process gracefully.
func (p *actor) stop() {
	p.ended.Do(func() {
		p.cancel()
		p.running.Wait()
		require.NoError(p.s, p.Close(context.WithoutCancel(p.s.Context())))
	})
}

// crash ends the process without a word.
func (p *actor) crash() {
	p.ended.Do(func() {
		p.Vanish()
		p.scheduler.Vanish()
		p.cancel()
		p.running.Wait()
	})
}
