package etcd_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/etcd"
)

// TestHundredItemsAreOneRequest begins the items of a round as the scheduler does: each with seven
// conditions, three of them on nodes that all items read, and three writes.
func TestHundredItemsAreOneRequest(t *testing.T) {
	t.Parallel()
	var sent counter
	r := open(t, sharedServer(t).Endpoints(), sent.on)
	s := session(t, r)
	config := put(t, r, "/job/config", "{}")
	_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/job/instances/me", "", s)}, Repeat: registry.RepeatOwned})
	require.NoError(t, err)
	me, err := r.Get(t.Context(), "/job/instances/me")
	require.NoError(t, err)

	txns := make([]registry.Txn, 100)
	for i := range txns {
		item := fmt.Sprintf("/job/sharding/%d", i)
		txns[i] = registry.Txn{
			If: []registry.Condition{
				registry.Absent(item + "/record"), registry.Absent(item + "/running"), registry.Absent(item + "/disabled"),
				registry.Absent(item + "/instance"), registry.Unchanged("/job/config", config),
				registry.CreatedAt("/job/instances/me", me.Created), registry.Absent("/job/leader/sharding/epoch"),
			},
			Then: []registry.Write{
				registry.PutOwned(item+"/running", "me", s), registry.Put(item+"/record", "running"), registry.Delete(item + "/misfire"),
			},
		}
	}
	txns[42].If = append(txns[42].If, registry.Present("/job/nothing"))
	before := sent.commits.Load()
	outcomes := r.CommitAll(t.Context(), txns)
	require.Equal(t, int64(1), sent.commits.Load()-before)
	for i, o := range outcomes {
		if i == 42 {
			require.ErrorIs(t, o.Err, registry.ErrConflict)
			continue
		}
		require.NoError(t, o.Err)
		require.Equal(t, outcomes[0].Revision, o.Revision)
	}
}

// TestRefusedRequestIsSplit has one transaction that the store refuses to judge travel with others.
func TestRefusedRequestIsSplit(t *testing.T) {
	t.Parallel()
	var sent counter
	r := open(t, sharedServer(t).Endpoints(), sent.on)
	foreign, _ := backend.NewSession(4711, 1<<40, backend.NewClock(), 0) // no such lease
	outcomes := r.CommitAll(t.Context(), []registry.Txn{
		{Then: []registry.Write{registry.Put("/a", "1")}},
		{Then: []registry.Write{registry.PutOwned("/b", "1", foreign)}},
		{Then: []registry.Write{registry.Put("/c", "1")}},
	})
	require.NoError(t, outcomes[0].Err)
	require.ErrorIs(t, outcomes[1].Err, registry.ErrSessionLost)
	require.NoError(t, outcomes[2].Err)
	require.Equal(t, int64(4), sent.commits.Load(), "together, and then each by itself")
}

// TestTooManyOpsAndTooLarge has the limits met by one transaction hurt no other.
func TestTooManyOpsAndTooLarge(t *testing.T) {
	t.Parallel()
	r := open(t, sharedServer(t).Endpoints(), new(counter).on)
	var crowd registry.Txn
	for i := range 129 {
		crowd.Then = append(crowd.Then, registry.Put(fmt.Sprintf("/crowd/%d", i), ""))
	}
	largest := registry.Txn{Then: crowd.Then[:128]}
	outcomes := r.CommitAll(t.Context(), []registry.Txn{
		{Then: []registry.Write{registry.Put("/a", "1")}},
		crowd,
		{Then: []registry.Write{registry.Put("/server", strings.Repeat("x", 3<<19))}}, // above 1.5 MiB
		{Then: []registry.Write{registry.Put("/client", strings.Repeat("x", 3<<20))}}, // above gRPC's limit
		{Then: []registry.Write{registry.Put("/b", "1")}},
		{Then: []registry.Write{registry.Put("/b/twice", "1"), registry.Put("/b/twice", "2")}},
	})
	for _, i := range []int{1, 2, 3} {
		require.ErrorIs(t, outcomes[i].Err, registry.ErrTooLarge)
	}
	require.ErrorIs(t, outcomes[5].Err, registry.ErrInvalid)
	require.NoError(t, outcomes[0].Err)
	require.NoError(t, outcomes[4].Err)
	_, err := r.Commit(t.Context(), largest)
	require.NoError(t, err)
}

// TestSmallerServerLimit has a server that allows fewer operations than is usual.
func TestSmallerServerLimit(t *testing.T) {
	t.Parallel()
	r := open(t, startServer(t, etcdserver.WithMaxTxnOps(16)).Endpoints(), new(counter).on)
	txns := make([]registry.Txn, 100)
	for i := range txns {
		txns[i].Then = []registry.Write{registry.Put(fmt.Sprintf("/a/%d", i), "")}
	}
	for _, o := range r.CommitAll(t.Context(), txns) {
		require.NoError(t, o.Err)
	}
	nodes, _, err := r.List(t.Context(), "/a")
	require.NoError(t, err)
	require.Len(t, nodes, 100)

	// What these looked at does not fit into one question.
	refused := make([]registry.Txn, 4)
	for i := range refused {
		for k := range 5 {
			refused[i].If = append(refused[i].If, registry.Absent(fmt.Sprintf("/b/%d-%d", i, k)))
		}
		refused[i].If = append(refused[i].If, registry.Absent("/a/0"))
		refused[i].Then = []registry.Write{registry.Put(fmt.Sprintf("/b/%d", i), "")}
	}
	for _, o := range r.CommitAll(t.Context(), refused) {
		var conflict *registry.ConflictError
		require.ErrorAs(t, o.Err, &conflict)
		require.Equal(t, registry.Absent("/a/0"), conflict.Condition)
	}
}

// TestBurstTravelsTogether commits from many goroutines at once.
func TestBurstTravelsTogether(t *testing.T) {
	t.Parallel()
	const n = 400
	for _, alone := range []bool{false, true} {
		t.Run(fmt.Sprintf("alone=%v", alone), func(t *testing.T) {
			t.Parallel()
			var sent counter
			r := open(t, sharedServer(t).Endpoints(), sent.on, func(c *etcd.Config) { c.NoCoalescing = alone })
			var burst sync.WaitGroup
			errs := make([]error, n)
			for i := range n {
				burst.Go(func() {
					_, errs[i] = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(fmt.Sprintf("/%d", i), "")}, Repeat: registry.RepeatHarmless})
				})
			}
			burst.Wait()
			for _, err := range errs {
				require.NoError(t, err)
			}
			if alone {
				require.GreaterOrEqual(t, sent.commits.Load(), int64(n))
			} else {
				require.Less(t, sent.commits.Load(), int64(n/4))
			}
		})
	}
}

// TestUnknownOutcomeOfALostSession has a commit in a session that ends while nobody knows whether the
// commit was done.
func TestUnknownOutcomeOfALostSession(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	wire := newProxy(t, server.Endpoints()[0])
	r := open(t, []string{wire.endpoint()}, func(c *etcd.Config) { c.SessionTTL = testTTL })
	s := session(t, r)
	wire.Cut()
	_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/mine", "", s)}, Repeat: registry.RepeatOwned})
	require.ErrorIs(t, err, registry.ErrUnknownOutcome)
	require.ErrorIs(t, err, registry.ErrSessionLost)
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/mine", "", s)}, Repeat: registry.RepeatOwned})
	require.ErrorIs(t, err, registry.ErrSessionLost)
	require.NotErrorIs(t, err, registry.ErrUnknownOutcome)
	wire.Heal()
}

// TestCommitWhileTheServerIsDown certainly changes nothing, and says so.
func TestCommitWhileTheServerIsDown(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	r := open(t, server.Endpoints())
	put(t, r, "/a", "1")
	server.Stop()
	second := registry.Txn{Then: []registry.Write{registry.Put("/a", "2")}}
	_, err := r.Commit(within(t, time.Second), second) // the connection may break under this one
	require.Error(t, err)
	_, err = r.Commit(within(t, 300*time.Millisecond), second)
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.NoError(t, server.Restart(t.Context()))
	put(t, r, "/a", "2")
}

// TestGivenClient uses a client that exists already.
func TestGivenClient(t *testing.T) {
	t.Parallel()
	client := adminOf(t, sharedServer(t))
	r, err := etcd.New(client, etcd.Config{Namespace: "given/client"})
	require.NoError(t, err)
	put(t, r, "/a", "1")
	require.NoError(t, r.Close(t.Context()))
	got, err := client.Get(t.Context(), "/given/client/", clientv3.WithPrefix())
	require.NoError(t, err, "the client is still open")
	require.Equal(t, "/given/client/a", string(got.Kvs[0].Key))

	_, err = etcd.New(nil, etcd.Config{Namespace: "a"})
	require.ErrorIs(t, err, registry.ErrInvalid)
	_, err = etcd.New(client, etcd.Config{Namespace: "a//b"})
	require.ErrorIs(t, err, registry.ErrInvalid)
}
