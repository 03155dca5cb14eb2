package memory

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A machine that stood still, server and clients together, costs nobody a session whose keep-alives go on.
func TestASessionOutlivesAStallOfTheMachine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := NewServer()
		id := server.grant(6 * time.Second)
		stallFor := func(d time.Duration) { // its timer fires so late
			server.mu.Lock()
			server.leases[id].until = time.Now().Add(-d)
			server.mu.Unlock()
			server.expire()
		}
		lives := func() bool {
			synctest.Wait()
			server.mu.Lock()
			defer server.mu.Unlock()
			return server.leases[id] != nil
		}
		stallFor(time.Second)
		require.True(t, server.renew(id))

		stallFor(time.Second)
		time.Sleep(2*time.Second - 1)
		require.True(t, lives())
		time.Sleep(time.Nanosecond)
		require.False(t, lives(), "nobody renewed it meanwhile")
	})
}
