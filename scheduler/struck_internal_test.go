package scheduler

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// deniesInTheEnd is a registry that takes its time to deny what is below a path.
type deniesInTheEnd struct {
	*memory.Registry
	path string
	deny chan struct{}
}

func (d *deniesInTheEnd) View(ctx context.Context, path string, except ...func(string) bool) (*registry.View, error) {
	if path == d.path {
		<-d.deny
		return nil, registry.ErrDenied
	}
	return d.Registry.View(ctx, path, except...)
}

// A job that cannot be started is taken off the list while a stop tells it to leave, or has told it and waits: there is nothing
// to leave, and the stop does not wait for that.
func TestAStopDoesNotWaitForAJobThatCouldNotStart(t *testing.T) {
	t.Parallel()
	for name, deniedAfter := range map[string]time.Duration{"at once": 0, "after the stop timeout": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reg := &deniesInTheEnd{Registry: memory.NewServer().Open("test"), path: "/late", deny: make(chan struct{})}
				s, err := New(reg, WithStopTimeout(30*time.Second))
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Run(ctx) }()
				<-s.Ready()
				added := make(chan error, 1)
				go func() {
					_, err := s.Add(context.Background(), job.Config{Name: "late", Cron: "0 0 0 1 1 ?", ShardingTotalCount: 1},
						job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
					added <- err
				}()
				synctest.Wait()
				s.mu.Lock()
				late := s.runners["late"]
				s.mu.Unlock()
				held := make(chan struct{})
				letGo := sync.OnceFunc(func() { close(held) })
				defer letGo()
				late.box.Post(func() { <-held }) // what is posted then waits in the mailbox
				cancel()
				synctest.Wait()
				time.Sleep(deniedAfter)
				synctest.Wait()
				close(reg.deny)
				synctest.Wait()
				letGo()
				select {
				case err := <-done:
					require.NoError(t, err)
				case <-time.After(time.Hour):
					t.Error("Run hangs")
					s.Vanish()
					require.ErrorIs(t, <-done, ErrVanished)
				}
				require.ErrorIs(t, <-added, ErrStopped)
				require.NoError(t, reg.Close(context.Background()))
			})
		})
	}
}
