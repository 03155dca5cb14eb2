package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// A store that drops a live session, as etcd does when a leader that stood still goes on, removes its
// instance. The process sees that, registers again, and so learns at once that its session is gone: it
// does not wait for the next keep-alive while others run its items.
func TestADroppedSessionIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.launchOver(c.server.Open("test", memory.WithTTL(time.Minute)), "a", untilDone, jobOf(1))
		<-a.Ready()
		sleepUntil(6 * time.Second)
		session, err := a.registry.Session(t.Context())
		require.NoError(t, err)
		a.registry.Expire()
		sleepUntil(6100 * time.Millisecond)
		require.ErrorIs(t, session.Err(), registry.ErrSessionLost)
		runs := c.take()
		require.Len(t, runs, 1)
		require.ErrorIs(t, runs[0].cause, registry.ErrSessionLost)
		require.Len(t, c.state().Instances, 1, "it takes part again")
	})
}
