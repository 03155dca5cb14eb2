package etcd_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// address is an address of which a test says what server is behind it.
type address struct {
	net.Listener
	mu     sync.Mutex
	target string
	conns  []net.Conn
}

func newAddress(t *testing.T, server *etcdserver.Server) *address {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	a := &address{Listener: listener}
	a.leadTo(t, server)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := a.Accept()
			if err != nil {
				return
			}
			served.Go(func() { a.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = a.Close()
		a.breakAll()
		served.Wait()
	})
	return a
}

func (a *address) endpoint() string { return "http://" + a.Addr().String() }

// leadTo puts a server there, as if the one before had died.
func (a *address) leadTo(t *testing.T, server *etcdserver.Server) {
	t.Helper()
	target, err := url.Parse(server.Endpoints()[0])
	require.NoError(t, err)
	a.mu.Lock()
	a.target = target.Host
	a.mu.Unlock()
	a.breakAll()
}

func (a *address) breakAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.conns {
		_ = c.Close()
	}
	a.conns = nil
}

func (a *address) serve(from net.Conn) {
	a.mu.Lock()
	to, err := net.Dial("tcp", a.target)
	if err != nil {
		_ = from.Close()
		a.mu.Unlock()
		return
	}
	a.conns = append(a.conns, from, to)
	a.mu.Unlock()
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_, _ = to.Close(), from.Close()
	}
	both.Go(func() { pass(to, from) })
	both.Go(func() { pass(from, to) })
	both.Wait()
}

func attributesOf(r slog.Record) map[string]string {
	all := make(map[string]string)
	r.Attrs(func(a slog.Attr) bool { all[a.Key] = a.Value.String(); return true })
	return all
}

// errorsIn returns the errors among what was logged so far.
func errorsIn(log told) (found []slog.Record) {
	for {
		select {
		case r := <-log.records:
			if r.Level == slog.LevelError {
				found = append(found, r)
			}
		default:
			return found
		}
	}
}

const (
	passedOver = "an endpoint belongs to another cluster and is passed over"
	moved      = "the endpoints belong to another cluster than before"
)

// A member that was set up afresh at its old address knows nothing of what the others know. It is asked nothing that counts, and
// costs no session; and it is asked again when it is one of them again.
func TestAMemberOfAnotherClusterIsPassedOver(t *testing.T) {
	t.Parallel()
	ours, other := startServer(t), startServer(t)
	log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 1024)}
	var endpoints []string
	var members []*address
	for range 3 {
		members = append(members, newAddress(t, ours))
		endpoints = append(endpoints, members[len(members)-1].endpoint())
	}
	r := open(t, endpoints, func(c *etcd.Config) { c.Logger = slog.New(log) })
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	v := view(t, r, "/")
	for round, member := range append(members[:3:3], members[0]) {
		member.leadTo(t, other)
		if round%2 == 1 { // nobody knows of any of them by then
			for _, m := range members {
				m.breakAll()
			}
		}
		var told []slog.Record
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/plain", "")}})
			assert.NoError(c, err)
			_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/owned", "", session)}})
			if err == nil {
				_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/owned")}})
			}
			assert.NoError(c, err)
			told = append(told, errorsIn(log)...)
			assert.NotEmpty(c, told)
		}, time.Minute, time.Millisecond)
		require.Len(t, told, 1)
		require.Equal(t, passedOver, told[0].Message)
		attrs := attributesOf(told[0])
		require.Equal(t, member.Addr().String(), attrs["endpoint"])
		require.NotEqual(t, attrs["cluster"], attrs["want"])
		for range 20 {
			put(t, r, "/a", strings.Repeat("x", round+1))
		}
		waitValue(t, v, "/a", strings.Repeat("x", round+1))
		member.leadTo(t, ours)
		require.EventuallyWithT(t, func(c *assert.CollectT) { // or it has never been back, to be told of anew
			_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/plain", "")}}) // asks members
			assert.NoError(c, err)
			assert.False(c, r.PassedOver(member.Addr().String()))
		}, time.Minute, time.Millisecond)
	}
	require.NoError(t, session.Err())
	require.Empty(t, errorsIn(log))
}

// At the start, most endpoints say which cluster is meant, whichever is asked first.
func TestOpenGoesByMostEndpoints(t *testing.T) {
	t.Parallel()
	ours, other := startServer(t), startServer(t)
	endpoints := []string{newAddress(t, other).endpoint(), newAddress(t, ours).endpoint(), newAddress(t, ours).endpoint()}
	for range 5 {
		log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 64)}
		r := open(t, endpoints, func(c *etcd.Config) { c.Logger, c.Namespace = slog.New(log), "most" })
		for range 6 {
			put(t, r, "/a", "1")
		}
		require.NoError(t, r.Close(t.Context()))
	}
	theirs := open(t, other.Endpoints(), func(c *etcd.Config) { c.Namespace = "most" })
	_, err := theirs.Get(t.Context(), "/a")
	require.ErrorIs(t, err, registry.ErrNotFound)
}

// Where as many endpoints are of one cluster as of another, nobody knows which one is meant. An endpoint that does not answer
// within a second, as on a busy machine, is not waited for.
func TestOpenRefusesEndpointsOfTwoClusters(t *testing.T) {
	t.Parallel()
	a, b := startServer(t), startServer(t)
	var err error
	for began := time.Now(); err == nil && time.Since(began) < time.Minute; {
		var r *etcd.Registry
		r, err = etcd.Open(t.Context(), etcd.Config{
			Endpoints: []string{a.Endpoints()[0], b.Endpoints()[0]}, Namespace: "two", DialTimeout: 4 * time.Second,
		})
		if err == nil {
			require.NoError(t, r.Close(t.Context()))
		}
	}
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, "the endpoints belong to different clusters: ")
	for _, server := range []*etcdserver.Server{a, b} {
		require.ErrorContains(t, err, strings.TrimPrefix(server.Endpoints()[0], "http://")+" of ")
	}
}

// An endpoint that is named twice is one: when its cluster has another id, the handle goes on with that.
func TestAnEndpointThatIsNamedTwiceBelongsToAnotherCluster(t *testing.T) {
	t.Parallel()
	before, after := startServer(t), startServer(t)
	a := newAddress(t, before)
	r := open(t, []string{a.endpoint(), a.Addr().String()})
	put(t, r, "/a", "1")
	a.leadTo(t, after)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/b", "1")}})
		assert.NoError(c, err)
	}, 20*time.Second, time.Millisecond)
}

// A store that was restored has another id everywhere. The handle goes on with it, as far as one can.
func TestAllMembersBelongToAnotherCluster(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"one": 1, "three": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := startServer(t), startServer(t)
			log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 1024)}
			var endpoints []string
			var members []*address
			for range n {
				members = append(members, newAddress(t, before))
				endpoints = append(endpoints, members[len(members)-1].endpoint())
			}
			r := open(t, endpoints, func(c *etcd.Config) { c.Logger = slog.New(log) })
			put(t, r, "/a", "1")
			require.Empty(t, errorsIn(log))
			for _, m := range members {
				m.leadTo(t, after)
			}
			require.EventuallyWithT(t, func(c *assert.CollectT) { // what was under way as the connections broke may be unknown
				_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/b", "1")}})
				assert.NoError(c, err)
			}, time.Minute, time.Millisecond)
			_, err := r.Get(t.Context(), "/a")
			require.ErrorIs(t, err, registry.ErrNotFound)
			var messages []string
			for _, line := range errorsIn(log) {
				messages = append(messages, line.Message)
			}
			require.Contains(t, messages, moved)
		})
	}
}
