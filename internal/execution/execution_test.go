package execution_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/execution"
)

// Code is told to come to an end by its channel or by a stop, and by nothing else that ends its context.
func TestWhoIsToldToComeToAnEnd(t *testing.T) {
	t.Parallel()
	open, closed := make(chan struct{}), make(chan struct{})
	close(closed)
	ended := func(by error) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(by)
		return ctx
	}
	for name, test := range map[string]struct {
		ctx   context.Context
		yield <-chan struct{}
		told  bool
	}{
		"nobody said so":                         {t.Context(), open, false},
		"outside of a scheduler":                 {t.Context(), nil, false},
		"the channel":                            {t.Context(), closed, true},
		"a stop":                                 {ended(execution.ErrStopped), open, true},
		"a stop, without a channel":              {ended(execution.ErrStopped), nil, true},
		"both":                                   {ended(execution.ErrStopped), closed, true},
		"a timeout, and the channel":             {ended(context.DeadlineExceeded), closed, true},
		"a timeout":                              {ended(context.DeadlineExceeded), open, false},
		"the end of the session":                 {ended(errors.New("session lost")), open, false},
		"a context of the code's own, in a stop": {execution.With(ended(execution.ErrStopped)), open, true},
	} {
		require.Equal(t, test.told, execution.Told(test.ctx, test.yield), name)
	}
}

// session is one that ends when it is told to.
type session struct {
	done chan struct{}
	held time.Duration
}

func (s *session) Done() <-chan struct{} { return s.done }
func (s *session) Held() time.Duration   { return s.held }

// What goes on when its context has ended is ended before others may run its item, and not without need.
func TestBeforeOthers(t *testing.T) {
	t.Parallel()
	lost := errors.New("session lost")
	taken := fmt.Errorf("%w: %w", lost, execution.ErrTaken)
	type story struct {
		s       *session
		end     context.CancelCauseFunc // of the execution
		attempt context.CancelCauseFunc
	}
	const never = -time.Second
	for name, test := range map[string]struct {
		happens func(s story)
		want    time.Duration
	}{
		"nothing": {func(story) {}, never},
		"its session is over": {func(s story) {
			close(s.s.done)
			s.end(lost)
		}, 3 * time.Second},
		"its session is over, and others may begin": {func(s story) {
			s.s.held = 0
			close(s.s.done)
			s.end(lost)
		}, 0},
		"its session is over when its time is": {func(s story) {
			s.attempt(context.DeadlineExceeded)
			time.Sleep(time.Second)
			close(s.s.done)
			s.end(lost)
		}, 4 * time.Second},
		"its session is over in a stop": {func(s story) {
			s.end(execution.ErrStopped)
			time.Sleep(time.Second)
			close(s.s.done)
		}, 4 * time.Second},
		"its item is taken away":                     {func(s story) { s.end(taken) }, 0},
		"its item is taken away when its time is up": {func(s story) { s.attempt(context.DeadlineExceeded); s.end(taken) }, 0},
		"a stop":           {func(s story) { s.end(execution.ErrStopped) }, never},
		"its time is over": {func(s story) { s.attempt(context.DeadlineExceeded) }, never},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := story{s: &session{make(chan struct{}), 4 * time.Second}}
				var of, attempt context.Context
				of, s.end = context.WithCancelCause(execution.WithSession(t.Context(), s.s))
				attempt, s.attempt = context.WithCancelCause(execution.With(of))
				began, did := time.Now(), never
				off := execution.BeforeOthers(attempt, func() { did = time.Since(began) })
				test.happens(s)
				time.Sleep(time.Minute)
				require.Equal(t, test.want != never, off() != nil, "it has a cause if it was called")
				require.Equal(t, test.want, did)
			})
		})
	}
	off := execution.BeforeOthers(t.Context(), func() { t.Error("nobody takes anything") })
	require.NoError(t, off())
}

// Who is done in time is not ended.
func TestBeforeOthersIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &session{make(chan struct{}), 4 * time.Second}
		off := execution.BeforeOthers(execution.WithSession(t.Context(), s), func() { t.Error("it was called all the same") })
		close(s.done)
		time.Sleep(time.Second)
		require.NoError(t, off())
		time.Sleep(time.Minute)
	})
}

// What was ended before its execution is cancelled is not over before that: it has not failed.
func TestBeforeOthersWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &session{make(chan struct{}), 0}
		of, end := context.WithCancelCause(execution.WithSession(t.Context(), s))
		did := make(chan struct{})
		off := execution.BeforeOthers(execution.With(of), func() { close(did) })
		close(s.done)
		<-did
		caused := make(chan error, 1)
		go func() { caused <- off() }()
		synctest.Wait()
		require.Empty(t, caused)
		lost := errors.New("session lost")
		end(lost)
		require.Equal(t, lost, <-caused)
	})
}
