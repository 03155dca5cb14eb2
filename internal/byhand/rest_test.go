package byhand_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/byhand"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// crowd is a registry in which many Java instances share the job.
type crowd struct {
	*testing.T
	*memory.Registry
	session *registry.Session
	asked   map[string]int // how often, by path
	dies    int            // after so many transactions, once; 0 = never
	between func()         // before transactions are sent, once
}

func newCrowd(t *testing.T, many int) *crowd {
	t.Helper()
	c := &crowd{T: t, Registry: memory.NewServer().Open("test"), asked: make(map[string]int)}
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	var err error
	c.session, err = c.Session(t.Context())
	require.NoError(t, err)
	for _, n := range stored(t, nil)[:1] {
		c.do(registry.Put(n.Path, n.Value))
	}
	c.join(ours)
	for n := range many {
		c.join(javaID(n))
	}
	return c
}

func javaID(n int) string { return fmt.Sprintf("10.0.1.%d@-@7", n) }

func (c *crowd) do(writes ...registry.Write) registry.Revision {
	c.Helper()
	revision, err := c.Commit(c.Context(), registry.Txn{Then: writes})
	require.NoError(c, err)
	return revision
}

func (c *crowd) join(id string) {
	c.Helper()
	c.do(registry.PutOwned(tree.Instance(id), "", c.session))
}

func (c *crowd) look(ctx context.Context, at registry.Revision) (*jobtree.State, error) {
	nodes, revision, err := c.List(ctx, tree.Root())
	require.GreaterOrEqual(c, revision, at)
	return jobtree.SharedStateOf("orders", registry.NewSnapshot(revision, nodes)), err
}

// request makes a request of the whole job, but for those who are asked afterwards.
func (c *crowd) request() registry.Revision {
	c.Helper()
	s, err := c.look(c.Context(), 0)
	require.NoError(c, err)
	r, err := byhand.Decide(s, byhand.Ask{Within: time.Hour, Java: true}, noon)
	require.NoError(c, err)
	revision, err := c.Commit(c.Context(), registry.Txn{If: r.Compare, Then: r.Writes})
	require.NoError(c, err)
	c.note(r.Writes)
	return revision
}

func (c *crowd) note(writes []registry.Write) {
	for _, w := range writes {
		if w.Value == jobtree.InstanceTriggered {
			c.asked[w.Path]++
		}
	}
}

func (c *crowd) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	if fn := c.between; fn != nil {
		c.between = nil
		fn()
	}
	outcomes := make([]registry.Outcome, len(txns))
	for i, txn := range txns {
		if c.dies != 0 && i >= c.dies {
			outcomes[i].Err = &registry.OpError{Op: "commit", Err: registry.ErrUnavailable}
			continue
		}
		if outcomes[i].Revision, outcomes[i].Err = c.Commit(ctx, txn); outcomes[i].Err == nil {
			c.note(txn.Then)
		}
	}
	c.dies = 0
	return outcomes
}

// everybodyOnce asserts that all who lived were asked once, but for some.
func (c *crowd) everybodyOnce(many int, but ...string) {
	c.Helper()
	want := make(map[string]int)
	for n := range many {
		want[tree.Instance(javaID(n))] = 1
	}
	for _, id := range but {
		delete(want, tree.Instance(id))
	}
	require.Equal(c, want, c.asked)
}

// Whoever asks dies after some; another goes on, and asks nobody who was asked, also if that one has answered.
func TestTheRestIsAskedOnceAlthoughSomebodyDies(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 130)
	request := c.request()
	require.Len(t, c.asked, 100)
	c.dies = 12
	require.ErrorIs(t, byhand.AskRest(t.Context(), c, c.look, request), registry.ErrUnavailable)
	require.Len(t, c.asked, 112)
	for path := range c.asked {
		c.do(registry.Update(path, "")) // they have answered
	}
	c.join("10.0.2.1@-@7") // after the request, which it does not concern
	require.NoError(t, byhand.AskRest(t.Context(), c, c.look, request))
	c.everybodyOnce(130)
	require.NoError(t, byhand.AskRest(t.Context(), c, c.look, request))
	c.everybodyOnce(130)
}

// What changes while the rest is asked is looked at again: one is gone, one was asked by the console.
func TestTheRestIsAskedAsItIs(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 130)
	request := c.request()
	var left []string
	for n := range 130 {
		if c.asked[tree.Instance(javaID(n))] == 0 {
			left = append(left, javaID(n))
		}
	}
	require.Len(t, left, 30)
	c.between = func() {
		c.do(registry.Delete(tree.Instance(left[3])))
		c.do(registry.Update(tree.Instance(left[4]), jobtree.InstanceTriggered))
	}
	require.NoError(t, byhand.AskRest(t.Context(), c, c.look, request))
	c.everybodyOnce(130, left[3], left[4])
}

// Nobody is asked for a request that another has replaced, not even while the asking goes on.
func TestTheRestIsNotAskedForAReplacedRequest(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]bool{"before": false, "meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, 130)
			request := c.request()
			replace := func() { c.do(registry.Put(tree.Triggered(), `{"until":"2030-01-01T00:00:00Z"}`)) }
			if c.between = replace; !between {
				c.between = nil
				replace()
			}
			require.NoError(t, byhand.AskRest(t.Context(), c, c.look, request))
			require.Len(t, c.asked, 100)
		})
	}
}

func TestTheRestCannotBeSeen(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1)
	fail := func(context.Context, registry.Revision) (*jobtree.State, error) { return nil, registry.ErrUnavailable }
	err := byhand.AskRest(t.Context(), c, fail, 1)
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.True(t, strings.HasPrefix(err.Error(), "the request is made"))
}
