package zkcompat_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// parted is an ensemble of three between whose servers there are proxies.
type parted struct {
	servers []*zookeeper.Server
	leader  int
	peers   map[int][]*proxy.Proxy // of each server: by which others reach it, and it reaches them
	to      map[int][]*proxy.Proxy // by which others reach it
}

func startParted(t *testing.T, tick time.Duration) *parted {
	t.Helper()
	p := &parted{peers: make(map[int][]*proxy.Proxy), to: make(map[int][]*proxy.Proxy)}
	p.servers = zookeeper.StartEnsemble(t, 3, zookeeper.WithTick(tick), zookeeper.WithPeersVia(func(from, to int, address string) string {
		between := proxy.StartPatient(t, address)
		p.peers[from], p.peers[to] = append(p.peers[from], between), append(p.peers[to], between)
		p.to[to] = append(p.to[to], between)
		return between.Address()
	}))
	p.leader = slices.IndexFunc(p.servers, func(s *zookeeper.Server) bool { return s.Leads(t.Context()) })
	require.GreaterOrEqual(t, p.leader, 0)
	return p
}

// followers returns the addresses of the servers that do not lead.
func (p *parted) followers() (addresses []string) {
	for i, s := range p.servers {
		if i != p.leader {
			addresses = append(addresses, s.Address())
		}
	}
	return addresses
}

// depose has the leader hear no more of the others, which find out at once, and elect another one.
func (p *parted) depose() {
	for _, between := range p.peers[p.leader] {
		between.Cut()
	}
	for _, between := range p.to[p.leader] {
		between.HangUp()
	}
}

// A leader that the others have deposed answers as before, until it notices. Whoever has a connection to it alone must not
// believe in a session that the new leader ends meanwhile: neither while the connection lasts, nor when a new one is greeted.
func TestADeposedLeaderProvesNothing(t *testing.T) {
	t.Parallel()
	const tick = 500 * time.Millisecond // the old leader notices after 20 of them
	ensemble := startParted(t, tick)
	steady := configOf(ensemble.servers[0], "deposed")
	steady.Servers, steady.SessionTimeout = ensemble.followers(), steadyTTL
	other, err := zkcompat.Open(t.Context(), steady)
	require.NoError(t, err)
	defer func() { assert.NoError(t, other.Close(context.Background())) }()
	view, err := other.View(t.Context(), registry.Root)
	require.NoError(t, err)

	wire := dials{wrap: func(_ int, conn net.Conn) net.Conn { return conn }}
	config := configOf(ensemble.servers[ensemble.leader], "deposed")
	config.SessionTimeout = 6 * tick
	wire.on(&config)
	r, err := zkcompat.Open(t.Context(), config)
	require.NoError(t, err)
	defer r.Vanish()
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	put(t, r, registry.PutOwned("/owned", "", session))
	_, err = view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Get("/owned").Exists() })
	require.NoError(t, err)

	ensemble.depose()
	var doubting sync.WaitGroup
	doubting.Go(func() {
		for session.Err() == nil {
			changed := session.Changed()
			if session.State() == registry.SessionSuspended {
				wire.cut()
			}
			<-changed
		}
	})
	_, err = view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return !s.Get("/owned").Exists() })
	require.NoError(t, err)
	require.ErrorIs(t, session.Err(), registry.ErrSessionLost, "the others may take over, and the session still counts")
	doubting.Wait()
}

// Nor does it know what is so. Its last proposals hold up what is asked after them, so none of them reaches it here.
func TestADeposedLeaderIsNotBelieved(t *testing.T) {
	t.Parallel()
	const tick = 500 * time.Millisecond
	ensemble := startParted(t, tick)
	var ballots atomic.Int64
	var drop atomic.Bool
	wire := dials{wrap: func(_ int, conn net.Conn) net.Conn { return balloting{conn, &ballots, &drop} }}
	config := configOf(ensemble.servers[ensemble.leader], "believed")
	config.SessionTimeout = time.Minute
	wire.on(&config)
	r, err := zkcompat.Open(t.Context(), config)
	require.NoError(t, err)
	defer r.Vanish()
	put(t, r, registry.Put("/value", "old"), registry.Put("/removed", ""))
	config = configOf(ensemble.servers[ensemble.leader], "believed")
	config.Servers, config.SessionTimeout = ensemble.followers(), steadyTTL
	other, err := zkcompat.Open(t.Context(), config)
	require.NoError(t, err)
	defer func() { assert.NoError(t, other.Close(context.Background())) }()

	drop.Store(true)
	ensemble.depose()
	require.Eventually(t, func() bool { // an answer may be lost in the election
		_, err := other.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/value", "new"), registry.Delete("/removed")}})
		return err == nil
	}, time.Minute, time.Millisecond)
	calls := map[string]func(ctx context.Context) error{
		"a read": func(ctx context.Context) error {
			_, err := r.Get(ctx, "/value")
			return err
		},
		"a list": func(ctx context.Context) error {
			_, _, err := r.List(ctx, registry.Root)
			return err
		},
		"a view": func(ctx context.Context) error {
			_, err := r.View(ctx, registry.Root)
			return err
		},
		"a refusal": func(ctx context.Context) error {
			_, err := r.Commit(ctx, registry.Txn{If: []registry.Condition{registry.Absent("/removed")}, Then: []registry.Write{registry.Put("/value", "newer")}})
			return err
		},
	}
	var asking sync.WaitGroup
	for name, call := range calls {
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*tick)
			defer cancel()
			assert.ErrorIs(t, call(ctx), registry.ErrUnavailable, name)
		})
	}
	asking.Wait()
}
