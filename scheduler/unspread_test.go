package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// That a leader does not see an instance is told also while another one comes and goes, to whoever looks now and then.
func TestALeaderThatDoesNotSeeAnInstanceWhileOthersComeAndGo(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		other := c.server.Open("test")
		defer func() { require.NoError(t, other.Close(context.Background())) }()
		session, err := other.Session(t.Context())
		require.NoError(t, err)
		tree, leader := jobtree.For("orders"), "10.0.0.9@-@x"
		_, err = other.Commit(t.Context(), registry.Txn{Then: []registry.Write{
			registry.PutOwned(tree.Instance(leader), jobtree.InstanceIdle, session),
			registry.PutOwned(tree.Leader(), leader, session),
			registry.Put(tree.ItemInstance(0), leader), registry.Put(tree.ItemInstance(1), leader),
			registry.Put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: 1, Total: 2})),
		}})
		require.NoError(t, err)
		a := c.start("a", nil, jobOf(2))
		told := func() {
			time.Sleep(7 * time.Second)
			_, j := a.look(t)
			require.Equal(t, time.Since(bubbleStart) > 20*time.Second, j.Sharding != "", "at %s: %s", time.Since(bubbleStart), j.Sharding)
		}
		for range 4 {
			b := c.start("b", nil, jobOf(2))
			told()
			b.stop(t)
			told()
		}
	})
}

// Nothing of the kind is told of a leader that does its work, at whichever moment somebody looks.
func TestALeaderThatSpreadsThemWhileOthersComeAndGo(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(6))
		b := c.start("b", nil, jobOf(6))
		look := func(lasts time.Duration) {
			for end := time.Now().Add(lasts); time.Now().Before(end); time.Sleep(7 * time.Millisecond) {
				_, j := b.look(t)
				require.False(t, j.Leading)
				require.Empty(t, j.Sharding)
			}
		}
		for n := range 6 {
			x := c.launch(fmt.Sprint("x", n), nil, jobOf(6))
			look(8 * time.Second)
			x.stop(t)
			look(8 * time.Second)
		}
	})
}

// What a leader has not done yet for somebody who has gone again meanwhile is not held against it when somebody else joins,
// long after.
func TestALeaderNeedSpreadNothingOverOneThatHasGone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(6))
		b := c.start("b", nil, jobOf(6))
		other := c.server.Open("test")
		defer func() { require.NoError(t, other.Close(context.Background())) }()
		session, err := other.Session(t.Context())
		require.NoError(t, err)
		x := jobtree.For("orders").Instance("10.0.0.9@-@x")
		for range 2 {
			time.Sleep(time.Minute)
			_, err = other.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned(x, jobtree.InstanceIdle, session)}})
			require.NoError(t, err)
			time.Sleep(5 * time.Millisecond)
			_, j := b.look(t)
			require.False(t, j.Leading)
			require.Empty(t, j.Sharding)
			_, err = other.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(x)}})
			require.NoError(t, err)
		}
	})
}
