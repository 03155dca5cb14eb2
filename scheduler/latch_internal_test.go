package scheduler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// slowLatch is a registry whose latches are had after a while.
type slowLatch struct {
	registry.Registry
	after time.Duration
	held  bool
}

func (s *slowLatch) Latch(ctx context.Context, path string, fn func(context.Context) error) error {
	select {
	case <-time.After(s.after):
	case <-ctx.Done():
		return registry.ErrUnavailable
	}
	s.held = true
	defer func() { s.held = false }()
	return s.Registry.Latch(ctx, path, fn)
}

// How long a latch was waited for takes nothing of the time that what it is for has.
func TestALatchTakesNoTimeOfWhatItIsFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after   time.Duration
		inLatch bool
	}{
		"had late": {latchWait - 100*time.Millisecond, true},
		"not had":  {latchWait + 100*time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reg := &slowLatch{Registry: memory.NewServer().Open("test"), after: test.after}
				defer func() { require.NoError(t, reg.Close(context.Background())) }()
				s, err := New(reg)
				require.NoError(t, err)
				commits := 0
				require.NoError(t, s.latched(t.Context(), "/latch", func(ctx context.Context) error {
					require.Equal(t, test.inLatch, reg.held)
					commits++
					select {
					case <-time.After(10 * time.Second): // the registry is slow
						return nil
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				}))
				require.Equal(t, 1, commits)
			})
		})
	}
}

// slowRelease is a registry that takes long to let go of a latch.
type slowRelease struct{ registry.Registry }

func (s *slowRelease) Latch(ctx context.Context, _ string, fn func(context.Context) error) error {
	err := fn(ctx)
	select {
	case <-time.After(time.Minute): // the store is away
	case <-ctx.Done():
	}
	return err
}

// What was committed in a latch is known soon, even if the store does not take the latch back.
func TestALatchIsLetGoOfInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := &slowRelease{memory.NewServer().Open("test")}
		defer func() { require.NoError(t, reg.Close(context.Background())) }()
		s, err := New(reg)
		require.NoError(t, err)
		began := time.Now()
		require.NoError(t, s.latched(t.Context(), "/latch", func(context.Context) error { return nil }))
		require.LessOrEqual(t, time.Since(began), 2*latchWait)
	})
}
