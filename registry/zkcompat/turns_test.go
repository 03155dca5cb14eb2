package zkcompat_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
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

// While as many transactions are under way as may be, what waits goes by its turn, and what is over is not
// sent.
func TestWaitingCommitsGoByTheirTurns(t *testing.T) {
	t.Parallel()
	var answers sync.RWMutex
	r := open(t, func(c *zkcompat.Config) {
		c.SessionTimeout = time.Minute
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return held{conn, &answers}, err
		}
	})
	put(t, r, registry.Put("/before", ""))
	answers.Lock()
	var all sync.WaitGroup
	var mu sync.Mutex
	done := make(map[string]registry.Revision)
	errs := make(map[string]error)
	ended := make(chan string, 2_000)
	var begun sync.WaitGroup
	commit := func(name string, turn registry.Turn) {
		begun.Add(1)
		all.Go(func() {
			begun.Done()
			revision, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/"+name, "")}, Turn: turn, Repeat: registry.RepeatHarmless})
			mu.Lock()
			done[name], errs[name] = revision, err
			mu.Unlock()
			ended <- name
		})
	}
	for i := range 300 { // more than may be under way
		commit(fmt.Sprint("under way ", i), registry.Turn{})
	}
	begun.Wait() // or else late ones could be under way
	const late = 600
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
	// They share the connection with it, and on a busy machine some get on their way before those that came first.
	require.Less(t, before, late*2/3, "that came before it, and are less urgent")
	_, err := r.Get(t.Context(), "/over")
	require.ErrorIs(t, err, registry.ErrNotFound)
}
