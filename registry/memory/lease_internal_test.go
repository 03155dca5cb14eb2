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
		server.leases[id].until = time.Now().Add(-time.Second) // its timer fires a second late
		server.expire()
		require.True(t, server.renew(id))

		server.leases[id].until = time.Now().Add(-time.Second)
		server.expire()
		time.Sleep(2*time.Second - 1)
		synctest.Wait()
		require.Contains(t, server.leases, id)
		time.Sleep(1)
		synctest.Wait()
		require.NotContains(t, server.leases, id, "nobody renewed it meanwhile")
	})
}
