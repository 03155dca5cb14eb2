package zkcompat_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// cutting is a connection that is cut when what a test holds up is sent.
type cutting struct {
	net.Conn
	wire *proxy.Proxy
}

func (c cutting) Write(frame []byte) (int, error) {
	if bytes.Contains(frame, []byte("held up")) {
		c.wire.CutUp()
	}
	return c.Conn.Write(frame)
}

// The server knows nothing of a session that was given up, and does what comes late in it. Nobody may say before that
// it was not done.
func TestWhatWasSentInAnAbandonedSessionMayStillBeDone(t *testing.T) {
	t.Parallel()
	for name, viewed := range map[string]bool{"by itself": false, "from a view": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := proxy.Start(t, sharedServer(t).Address()), proxy.Start(t, sharedServer(t).Address())
			var now atomic.Pointer[proxy.Proxy]
			now.Store(first)
			r := open(t, steadily, func(c *zkcompat.Config) {
				c.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, network, now.Load().Address())
					return cutting{conn, first}, err
				}
			})
			put(t, r, registry.Put("/item/record", ""))
			session, err := r.Session(t.Context())
			require.NoError(t, err)
			if viewed {
				_, err := r.View(t.Context(), registry.Root)
				require.NoError(t, err)
			}
			seen := first.Sees("held up")
			result := make(chan error, 1)
			go func() {
				_, err := r.Commit(t.Context(), registry.Txn{
					Then:   []registry.Write{registry.PutOwned("/item/running", "held up", session)},
					Repeat: registry.RepeatOwned,
				})
				result <- err
			}()
			<-seen
			now.Store(second)
			session.Abandon(errors.New("for this test"))
			err = <-result
			require.ErrorIs(t, err, registry.ErrUnknownOutcome)
			require.ErrorIs(t, err, registry.ErrSessionLost)
			first.Heal() // and then it comes
			require.Eventually(t, func() bool {
				running, err := r.Get(t.Context(), "/item/running")
				return err == nil && running.Session == session.ID()
			}, time.Minute, 10*time.Millisecond)
		})
	}
}
