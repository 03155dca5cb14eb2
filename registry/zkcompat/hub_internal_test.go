package zkcompat

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// The turn that learns that a copy could not be read may have nothing else to do. Somebody has to have the copy read
// again, or its views wait for ever.
func TestACopyThatCouldNotBeReadIsReadAgain(t *testing.T) {
	t.Parallel()
	h := newHub(nil)
	root := newRoot(newNamespace("shop"), "/shop/orders")
	root.state, root.number, root.ask = rootLoading, 1, true
	h.roots[root.path] = root
	h.done = []*loaded{{root: root, number: 1, err: zk.ErrConnectionClosed}}
	require.True(t, h.gather(nil, 0).empty())
	require.Equal(t, rootNew, root.state)
	select {
	case <-h.wake:
	default:
		t.Fatal("nobody wakes the hub")
	}
}
