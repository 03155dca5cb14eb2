package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// Whatever is called while Run begins and ends meets it at any moment. The race detector judges.
func TestCallsWhileRunBeginsAndEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*scheduler.Scheduler, context.CancelFunc){
		"drain":  func(_ *scheduler.Scheduler, cancel context.CancelFunc) { cancel() },
		"stop":   func(s *scheduler.Scheduler, _ context.CancelFunc) { s.StopNow() },
		"vanish": func(s *scheduler.Scheduler, _ context.CancelFunc) { s.Vanish() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range 60 {
				reg := memory.NewServer().Open("test")
				s, err := scheduler.New(slowViews{reg}, scheduler.WithHandler("index", nothing))
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				var calls sync.WaitGroup
				for n := range 4 {
					calls.Go(func() {
						time.Sleep(time.Duration(n) * 300 * time.Microsecond)
						j, err := s.Add(ctx, job.Config{Name: fmt.Sprintf("job%d", n), Cron: everyFive, ShardingTotalCount: 1}, nothing)
						if err != nil && !errors.Is(err, scheduler.ErrStopped) && !errors.Is(err, context.Canceled) {
							t.Error(err)
						}
						s.Health(ctx)
						if j != nil {
							_, _ = j.Statistics(ctx)
							_, _ = j.Dump(ctx)
							_, _ = j.Trigger(ctx)
						}
					})
				}
				calls.Go(func() {
					time.Sleep(time.Duration(i) * 16 * time.Microsecond)
					end(s, cancel)
					time.Sleep(time.Millisecond)
					cancel() // if Run was not there yet to be told
				})
				err = s.Run(ctx)
				if name == "vanish" && err != nil {
					require.ErrorIs(t, err, scheduler.ErrVanished)
				} else {
					require.NoError(t, err)
				}
				cancel()
				calls.Wait()
				require.NoError(t, reg.Close(context.Background()))
			}
		})
	}
}

// slowViews takes its time to open a view.
type slowViews struct{ *memory.Registry }

func (s slowViews) View(ctx context.Context, root string, except ...func(path string) bool) (*registry.View, error) {
	time.Sleep(100 * time.Microsecond)
	return s.Registry.View(ctx, root, except...)
}

// heldCommits are commits that wait for an answer, and say that they do.
type heldCommits struct {
	*memory.Registry
	asked  chan struct{}
	answer chan error // nil: the commit is done, whoever waits for it by then
}

func (h heldCommits) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	h.asked <- struct{}{}
	if err := <-h.answer; err != nil {
		return 0, err
	}
	return h.Registry.Commit(context.WithoutCancel(ctx), txn)
}

// Of two declarations of a job at once one wins, and the other has stored nothing, though its code
// wins over the registry.
func TestOneOfSeveralDeclarationsIsStored(t *testing.T) {
	t.Parallel()
	errFull := errors.New("no space")
	for name, test := range map[string]struct {
		answer    error // to the first
		patience  time.Duration
		want      error // of the second
		wantItems int   // that are stored; 0 = nothing is
	}{
		"the first wins":               {patience: time.Hour, want: scheduler.ErrDeclared, wantItems: 5},
		"the first fails":              {answer: errFull, patience: time.Hour, wantItems: 7},
		"the second does not wait":     {patience: time.Second, want: context.DeadlineExceeded, wantItems: 5},
		"neither is stored in the end": {answer: errFull, patience: time.Second, want: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				reg := heldCommits{c.server.Open("test"), make(chan struct{}), make(chan error)}
				defer func() { require.NoError(t, reg.Close(context.Background())) }()
				s, err := scheduler.New(reg)
				require.NoError(t, err)
				first, second := make(chan error, 1), make(chan error, 1)
				go func() {
					first <- errOf(s.Add(t.Context(), jobOf(5), nothing, scheduler.OnConflict(scheduler.CodeWins)))
				}()
				<-reg.asked
				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), test.patience)
					defer cancel()
					second <- errOf(s.Add(ctx, jobOf(7), nothing, scheduler.OnConflict(scheduler.CodeWins)))
				}()
				select {
				case <-reg.asked:
					reg.answer <- errFull
					require.Fail(t, "the second is about to store")
				case <-time.After(2 * time.Second):
				}
				reg.answer <- test.answer
				require.ErrorIs(t, <-first, test.answer)
				select {
				case <-reg.asked:
					reg.answer <- nil
					err = <-second
				case err = <-second:
				}
				require.ErrorIs(t, err, test.want)
				if test.wantItems == 0 {
					require.Empty(t, stored(t, c.server))
					return
				}
				require.Contains(t, stored(t, c.server)["/orders/config"], fmt.Sprintf(`"shardingTotalCount":%d,`, test.wantItems))
				require.ErrorIs(t, errOf(s.Add(t.Context(), jobOf(9), nothing)), scheduler.ErrDeclared)
			})
		})
	}
}

// A declaration that Run's end overtakes is refused, and says why.
func TestADeclarationThatRunsEndOvertakes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := heldCommits{c.server.Open("test"), make(chan struct{}), make(chan error)}
		defer func() { require.NoError(t, reg.Close(context.Background())) }()
		s, err := scheduler.New(reg)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		<-s.Ready()
		added := make(chan error, 1)
		go func() { added <- errOf(s.Add(t.Context(), jobOf(5), nothing)) }()
		<-reg.asked
		cancel()
		require.NoError(t, <-done)
		reg.answer <- nil
		require.ErrorIs(t, <-added, scheduler.ErrStopped)
		require.Contains(t, stored(t, c.server), "/orders/config", "others may rely on it by now")
	})
}
