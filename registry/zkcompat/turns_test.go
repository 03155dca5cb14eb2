package zkcompat_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// held is a connection whose answers can be held up.
type held struct {
	net.Conn
	answers *sync.RWMutex // locked while they are
}

func (c held) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.answers.RLock()
	defer c.answers.RUnlock()
	return n, err
}

// counting is such a connection, and counts what is sent on it.
type counting struct {
	held
	sent *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	c.sent.Add(1)
	return c.held.Write(p)
}

// While as many transactions are under way as may be, what waits goes by its turn, and what is over is not
// sent.
func TestWaitingCommitsGoByTheirTurns(t *testing.T) {
	t.Parallel()
	var answers sync.RWMutex
	var sent atomic.Int64
	r := open(t, func(c *zkcompat.Config) {
		c.SessionTimeout = time.Minute
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return counting{held{conn, &answers}, &sent}, err
		}
	})
	put(t, r, registry.Put("/before", ""))
	answers.Lock()
	var all sync.WaitGroup
	var mu sync.Mutex
	done := make(map[string]registry.Revision)
	errs := make(map[string]error)
	ended := make(chan string, 2_500)
	commit := func(name string, turn registry.Turn) {
		all.Go(func() {
			revision, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/"+name, "")}, Turn: turn, Repeat: registry.RepeatHarmless})
			mu.Lock()
			done[name], errs[name] = revision, err
			mu.Unlock()
			ended <- name
		})
	}
	const mayBeUnderWay = 256
	sent.Store(0)
	for i := range mayBeUnderWay + 44 {
		commit(fmt.Sprint("under way ", i), registry.Turn{})
	}
	// Each sends a request at first. Once so many have, no late one takes the place of one of these.
	require.Eventually(t, func() bool { return sent.Load() >= mayBeUnderWay }, time.Minute, time.Millisecond)
	const late = 6 * mayBeUnderWay
	for i := range late {
		commit(fmt.Sprint("late ", i), registry.Turn{Rank: registry.RankBacklog, Share: "a"})
	}
	commit("end", registry.Turn{})
	commit("over", registry.Turn{Until: time.Now().Add(3 * time.Second)})
	require.Equal(t, "over", <-ended, "nothing else is answered; by then all wait")
	answers.Unlock()
	all.Wait()
	require.ErrorIs(t, errs["over"], registry.ErrNotSent)
	delete(errs, "over")
	before := 0
	for name, err := range errs {
		require.NoError(t, err, name)
		if strings.HasPrefix(name, "late") && done[name] < done["end"] {
			before++
		}
	}
	// It takes several requests, and those that are under way with it meanwhile share its connection.
	require.Less(t, before, 2*mayBeUnderWay, "that came before it, and are less urgent")
	_, err := r.Get(t.Context(), "/over")
	require.ErrorIs(t, err, registry.ErrNotFound)
}
