package zkcompat_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// narrow is a connection on which so many bytes come in a second.
type narrow struct {
	net.Conn
	rate int
}

func (n narrow) Read(p []byte) (int, error) {
	p = p[:min(len(p), n.rate/50)]
	got, err := n.Conn.Read(p)
	time.Sleep(time.Duration(got) * time.Second / time.Duration(n.rate))
	return got, err
}

// A subtree that takes longer to come than the session lasts comes all the same, and a session after it.
func TestASubtreeThatTakesLongerThanTheSessionIsShown(t *testing.T) {
	t.Parallel()
	writer := open(t)
	const nodes = 200
	for i := range nodes {
		put(t, writer, registry.Put(fmt.Sprintf("/large/%d", i), strings.Repeat("v", 20<<10)))
	}
	r := open(t, func(c *zkcompat.Config) {
		c.SessionTimeout = 3 * time.Second
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return narrow{conn, 1 << 20}, err
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	view, err := r.View(ctx, "/large")
	require.NoError(t, err)
	require.Equal(t, nodes, view.Snapshot().Len())
	_, err = r.Session(ctx)
	require.NoError(t, err)
}
