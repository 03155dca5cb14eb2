package zkcompat_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// untelling is a connection to a server as those before 3.9 are: its events do not tell of which transaction they are.
type untelling struct {
	net.Conn
	in   *bufio.Reader
	rest bytes.Reader
}

func (c *untelling) Read(p []byte) (int, error) {
	for c.rest.Len() == 0 {
		frame, err := readFrame(c.in)
		if err != nil {
			return 0, err
		}
		if int32(binary.BigEndian.Uint32(frame[4:])) == -1 {
			binary.BigEndian.PutUint64(frame[8:], ^uint64(0)) // -1
		}
		c.rest.Reset(frame)
	}
	return c.rest.Read(p)
}

// A step may show that a mark and its instance are gone. It tells whether one transaction removed them, as at the end of a
// session, or the client took the mark away and left then.
func TestAStepTellsWhatWentTogether(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]struct{ old, broken bool }{
		"of 3.9": {}, "of 3.8": {old: true}, "after a break": {broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var answers sync.RWMutex
			var conn atomic.Pointer[net.Conn]
			r := open(t, func(c *zkcompat.Config) {
				c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					answers.RLock() // a broken connection is not replaced either
					defer answers.RUnlock()
					made, err := new(net.Dialer).DialContext(ctx, network, address)
					if err == nil && how.old {
						made = &untelling{Conn: made, in: bufio.NewReader(made)}
					}
					conn.Store(&made)
					return held{made, &answers}, err
				}
			})
			put(t, r, registry.Put("/job/sharding/1/instance", "a"))
			base := "/" + namespaceOf(t)
			create(t, java(t), base+"/job/instances")
			mark, instance := "/job/sharding/1/running", "/job/instances/a"
			ends := func(peer *zk.Conn, end func()) (removed []registry.Revision) {
				for _, path := range []string{mark, instance} {
					_, err := peer.Create(base+path, []byte{}, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
					require.NoError(t, err)
				}
				view, err := r.View(t.Context(), "/job")
				require.NoError(t, err)
				defer view.Close()
				require.True(t, view.Snapshot().Get(mark).Exists())
				steps := make(chan registry.Step, 16)
				defer view.Subscribe(func(step registry.Step) {
					if len(step.Changes) > 0 && step.Changes[0].Kind() == registry.Removed {
						steps <- step
					}
				})()
				answers.Lock()
				if how.broken {
					require.NoError(t, (*conn.Load()).Close())
				}
				end()
				answers.Unlock()
				step := <-steps
				require.Len(t, step.Changes, 2, "one step shows both")
				for _, change := range step.Changes {
					require.LessOrEqual(t, change.Removed, step.Snapshot.Revision())
					removed = append(removed, change.Removed)
				}
				return removed
			}
			leaves := java(t)
			removed := ends(leaves, func() {
				require.NoError(t, leaves.Delete(base+mark, -1))
				require.NoError(t, leaves.Delete(base+instance, -1))
			})
			require.NotZero(t, removed[0])
			require.NotZero(t, removed[1])
			require.NotEqual(t, removed[0], removed[1])
			dies := java(t)
			removed = ends(dies, dies.Close)
			require.NotZero(t, removed[0])
			require.Equal(t, removed[0], removed[1])
		})
	}
}
