package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// base is larger than any revision of a test.
const base = 1 << 40

// setTokens writes the tokens node of the job as migrations do: together with the config node.
func (c *cluster) setTokens(value string) {
	c.t.Helper()
	reg := c.server.Open("test")
	tree := jobtree.For("orders")
	config, err := reg.Get(c.t.Context(), tree.Config())
	require.NoError(c.t, err)
	_, err = reg.Commit(c.t.Context(), registry.Txn{
		If:   []registry.Condition{registry.Unchanged(tree.Config(), config.Revision)},
		Then: []registry.Write{registry.Put(tree.Config(), config.Value), registry.Put(tree.Tokens(), value)},
	})
	require.NoError(c.t, err)
	require.NoError(c.t, reg.Close(c.t.Context()))
}

func TestTokensStartAboveTheirBase(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(2))
		sleepUntil(6 * time.Second)
		for _, r := range c.take() {
			require.Less(t, r.sc.Token, int64(base))
		}
		c.setTokens(jobtree.EncodeTokens(jobtree.Tokens{Base: base}))
		sleepUntil(11 * time.Second)
		runs := c.take()
		require.Len(t, runs, 2)
		state := c.state()
		for _, r := range runs {
			// What the registry keeps stays a revision of its own.
			require.Equal(t, base+state.Item(r.sc.Item).Record.Value.Current.Token, r.sc.Token)
		}
	})
}

func TestALostExecutionsRerunHasATokenAboveTheBase(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", hang, failoverOf(1))
		c.setTokens(jobtree.EncodeTokens(jobtree.Tokens{Base: base}))
		sleepUntil(6 * time.Second)
		c.start("b", nil, failoverOf(1))
		a.crash(t)
		sleepUntil(20 * time.Second)
		runs := c.take()
		require.Len(t, runs, 2)
		require.Equal(t, job.Failover, runs[1].sc.Source)
		require.Greater(t, runs[0].sc.Token, int64(base))
		require.Greater(t, runs[1].sc.Token, runs[0].sc.Token)
	})
}

// An instance that has not heard of a new base yet must not be granted a token by the old one.
func TestAnInstanceThatHasNotHeardOfTheNewBaseDoesNotBegin(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		sleepUntil(4900 * time.Millisecond)
		a.registry.SetLatency(200 * time.Millisecond) // what is written now, it sees after its fire
		c.setTokens(jobtree.EncodeTokens(jobtree.Tokens{Base: base}))
		sleepUntil(9 * time.Second)
		runs := c.take()
		require.Len(t, runs, 1)
		require.Equal(t, bubbleStart.Add(5*time.Second), runs[0].sc.Fire)
		require.Greater(t, runs[0].sc.Token, int64(base))
	})
}

// A process that never knew where the tokens start begins nothing until it does.
func TestNothingBeginsWhileTheBaseIsNotKnown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.store(jobOf(2))
		c.setTokens(`{"base":`)
		sleepUntil(2 * time.Second)
		c.start("a", nil, jobOf(2))
		sleepUntil(6500 * time.Millisecond)
		require.Empty(t, c.take())
		c.setTokens(jobtree.EncodeTokens(jobtree.Tokens{Base: base}))
		sleepUntil(16 * time.Second)
		runs := c.take()
		require.NotEmpty(t, runs)
		for _, r := range runs {
			require.Greater(t, r.sc.Token, int64(base))
		}
	})
}

// Whoever remembers where the tokens start puts the node back for a leader that never knew it.
func TestWhoeverRemembersPutsTheBaseBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(2))
		good := jobtree.EncodeTokens(jobtree.Tokens{Base: base})
		sleepUntil(6 * time.Second)
		c.setTokens(good) // nothing begins above it before it is gone
		sleepUntil(7 * time.Second)
		put(t, c.server, orders.Server(jobtree.ServerOf(fullID("a"))), jobtree.EncodeServer(true))
		put(t, c.server, orders.Tokens(), "{")
		<-c.launchWith("b", nil, []scheduler.Option{scheduler.WithInstanceID("10.0.0.2@-@b")}, nil, jobOf(2)).Ready()
		sleepUntil(9 * time.Second)
		require.Equal(t, good, stored(t, c.server)[orders.Tokens()])
		sleepUntil(16 * time.Second)
		ran := make(map[string]int)
		for _, r := range c.take() {
			if ran[r.instance]++; r.instance != "a" {
				require.Greater(t, r.sc.Token, int64(base))
			}
		}
		require.Equal(t, map[string]int{"a": 2, "b": 4}, ran)
	})
}

// When all processes are new, the items' records tell where the tokens start, and nobody waits for ever.
func TestTheRecordsRememberTheBase(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"deleted": "", "spoilt": "{", "lowered": `{"base":1}`} {
		for _, start := range []int64{0, base} {
			t.Run(fmt.Sprint(name, start), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					a := c.start("a", nil, jobOf(2))
					c.setTokens(jobtree.EncodeTokens(jobtree.Tokens{Base: start}))
					sleepUntil(6 * time.Second)
					a.crash(t)
					if value == "" {
						remove(t, c.server, orders.Tokens())
					} else {
						put(t, c.server, orders.Tokens(), value)
					}
					c.start("b", nil, jobOf(2))
					sleepUntil(41 * time.Second)
					last := make(map[int]int64)
					for _, r := range c.take() {
						require.Greater(t, r.sc.Token, max(start, last[r.sc.Item]))
						last[r.sc.Item] = r.sc.Token
					}
					require.Len(t, last, 2)
					sleepUntil(46 * time.Second)
					require.Equal(t, []string{"item 0 fire 45s scheduled on b", "item 1 fire 45s scheduled on b"}, c.shown())
					if start != 0 {
						require.Equal(t, jobtree.EncodeTokens(jobtree.Tokens{Base: start}), stored(t, c.server)[orders.Tokens()])
					}
				})
			})
		}
	}
}

// Of a job whose tokens start at nothing the node is put right at once, also if a session owns it, which nobody can write.
func TestABaseOfNothingIsPutRight(t *testing.T) {
	t.Parallel()
	for name, borrowed := range map[string]bool{"spoilt": false, "spoilt in a session": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.start("a", nil, jobOf(2))
				sleepUntil(6 * time.Second)
				hand := c.server.Open("test", memory.WithTTL(time.Hour))
				defer hand.Vanish()
				write := registry.Put(orders.Tokens(), "{")
				if borrowed {
					session, err := hand.Session(t.Context())
					require.NoError(t, err)
					write = registry.PutOwned(orders.Tokens(), "{", session)
				}
				_, err := hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{write}})
				require.NoError(t, err)
				sleepUntil(7 * time.Second)
				require.NotEqual(t, "{", stored(t, c.server)[orders.Tokens()])
				sleepUntil(11 * time.Second)
				require.Contains(t, c.shown(), "item 0 fire 10s scheduled on a")
			})
		})
	}
}

// Where the tokens start is not forgotten because somebody deletes or spoils the node: it is put back, and
// no token goes back meanwhile.
func TestTheBaseOutlivesItsNode(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"deleted": "", "spoilt": "{", "lowered": `{"base":1}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.start("a", nil, jobOf(2))
				c.start("b", nil, jobOf(2))
				good := jobtree.EncodeTokens(jobtree.Tokens{Base: base})
				c.setTokens(good)
				for at := 6 * time.Second; at < time.Minute; at += 5 * time.Second {
					sleepUntil(at)
					if value == "" {
						remove(t, c.server, orders.Tokens())
					} else {
						put(t, c.server, orders.Tokens(), value)
					}
					sleepUntil(at + time.Second)
					require.Equal(t, good, stored(t, c.server)[orders.Tokens()])
				}
				runs := c.take()
				require.Len(t, runs, 2*11)
				for _, r := range runs {
					require.Greater(t, r.sc.Token, int64(base))
				}
			})
		})
	}
}
