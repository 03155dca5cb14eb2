package etcd_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/registrytest"
)

const (
	// testTTL leaves room for a busy machine: what is missed for so long is taken for an outage.
	testTTL   = 4 * time.Second
	steadyTTL = time.Minute // of sessions that no test ends
	fullQuota = 16 << 20
)

// description describes a store of one server to the conformance suite.
func description() registrytest.Backend {
	return registrytest.Backend{
		Start: func(tb testing.TB, needs []registrytest.Ability) *registrytest.Store {
			tb.Helper()
			server := serverFor(tb, needs)
			return newStore(tb, []*etcdserver.Server{server}, server.Restart, etcd.Config{SessionTTL: testTTL, DialTimeout: time.Minute}, needs)
		},
		Lacks:    map[registrytest.Ability]string{registrytest.Deny: "users belong to a server of their own: see TestAViewThatIsDenied"},
		Idle:     2 * time.Second,
		MaxOps:   128,
		MaxBytes: 3 << 19,
	}
}

// serverFor returns the shared server, or one of the case's own if the case breaks it.
func serverFor(tb testing.TB, needs []registrytest.Ability) *etcdserver.Server {
	tb.Helper()
	for _, fault := range []registrytest.Ability{registrytest.Restart, registrytest.Compact, registrytest.Full} {
		if slices.Contains(needs, fault) {
			return startServer(tb, etcdserver.WithQuota(fullQuota))
		}
	}
	return sharedServer(tb)
}

func startServer(tb testing.TB, opts ...etcdserver.Option) *etcdserver.Server {
	tb.Helper()
	server, err := etcdserver.Start(tb.Context(), append([]etcdserver.Option{etcdserver.WithFastTest()}, opts...)...)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, server.Close()) })
	return server
}

// startDurableServer starts one with etcd's own settings.
func startDurableServer(tb testing.TB) *etcdserver.Server {
	tb.Helper()
	server, err := etcdserver.Start(tb.Context())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, server.Close()) })
	return server
}

// newStore describes a store of these servers; restart starts them when they are down. The config
// holds what its handles have in common.
func newStore(tb testing.TB, servers []*etcdserver.Server, restart func(context.Context) error, common etcd.Config, needs []registrytest.Ability) *registrytest.Store {
	tb.Helper()
	if slices.Contains(needs, registrytest.Steady) {
		// Nor is any request given up: what is not declared to be repeated would have no outcome then.
		common.SessionTTL, common.RequestTimeout = steadyTTL, steadyTTL/2
	}
	admin := connect(tb, servers)
	return &registrytest.Store{
		TTL: common.SessionTTL,
		Open: func(tb testing.TB, namespace string) *registrytest.Participant {
			tb.Helper()
			config := common
			config.Endpoints, config.Namespace = endpointsOf(servers), namespace
			return participant(tb, config, admin, needs)
		},
		OpenSteady: func(tb testing.TB, namespace string) *registrytest.Participant {
			tb.Helper()
			config := common
			config.Endpoints, config.Namespace = endpointsOf(servers), namespace
			config.SessionTTL = steadyTTL
			return participant(tb, config, admin, needs)
		},
		Restart: func(down time.Duration) {
			for _, s := range servers {
				s.Kill()
			}
			time.Sleep(down)
			require.NoError(tb, restart(context.WithoutCancel(tb.Context())))
		},
		Compact: func() { compact(tb, admin) },
		Fill:    func() { fill(tb, admin) },
		Free:    func() { free(tb, admin) },
	}
}

// participant opens a handle, behind proxies if the case breaks connections.
func participant(tb testing.TB, config etcd.Config, admin *clientv3.Client, needs []registrytest.Ability) *registrytest.Participant {
	tb.Helper()
	var proxies []*wire
	if slices.Contains(needs, registrytest.Cut) || slices.Contains(needs, registrytest.BreakWatch) {
		for i, e := range config.Endpoints {
			p := newProxy(tb, e)
			proxies = append(proxies, p)
			config.Endpoints[i] = p.endpoint()
		}
	}
	var loss answerLoss
	hold := holdBack{admin: admin}
	tb.Cleanup(hold.timers.Wait)
	config.DialOptions = []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(loss.intercept, hold.intercept), grpc.WithChainStreamInterceptor(overtake),
	}
	r, err := etcd.Open(tb.Context(), config)
	require.NoError(tb, err)
	return &registrytest.Participant{
		Registry:   r,
		Cut:        func() { each(proxies, (*wire).Cut) },
		Heal:       func() { each(proxies, (*wire).Heal) },
		BreakWatch: func() { each(proxies, (*wire).Break) },
		Expire:     func() { expire(tb, r, admin) },
		LoseAnswer: func() { loss.armed.Store(true) },
		HoldBack:   func(late time.Duration) { hold.late.Store(int64(late)) },
		Vanish:     r.Vanish,
	}
}

func each(proxies []*wire, do func(*wire)) {
	for _, p := range proxies {
		do(p)
	}
}

func endpointsOf(servers []*etcdserver.Server) []string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Endpoints()...)
	}
	return all
}

func connect(tb testing.TB, servers []*etcdserver.Server) *clientv3.Client {
	tb.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpointsOf(servers), Logger: zap.NewNop()})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// answerLoss loses the answer of one commit that the store has done.
type answerLoss struct{ armed atomic.Bool }

func (l *answerLoss) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, conn, opts...)
	if writes(req) && l.armed.CompareAndSwap(true, false) {
		return status.Error(codes.Unavailable, "the answer was lost")
	}
	return err
}

// holdBack keeps one commit and sends it later, as a member does that has lost touch with the others.
type holdBack struct {
	admin  *clientv3.Client
	late   atomic.Int64 // how long to keep the next one; 0 = not at all
	timers sync.WaitGroup
}

func (h *holdBack) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if !writes(req) {
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	late := time.Duration(h.late.Swap(0))
	if late == 0 {
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	// Another request takes its way, so that it counts as sent.
	due := time.Now().Add(late)
	asked := &pb.RangeRequest{Key: []byte(ballast)}
	if err := invoke(ctx, "/etcdserverpb.KV/Range", asked, &pb.RangeResponse{}, conn, opts...); err != nil {
		h.late.Store(int64(late)) // the next one is held back: this one may not count as sent
		return err
	}
	h.timers.Go(func() {
		time.Sleep(time.Until(due))
		later, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_, _ = pb.NewKVClient(h.admin.ActiveConnection()).Txn(later, req.(*pb.TxnRequest)) // refused, if all is well
	})
	return status.Error(codes.Unavailable, "held back")
}

func writes(req any) bool {
	txn, ok := req.(*pb.TxnRequest)
	if !ok {
		return false
	}
	for _, op := range txn.Success {
		if op.GetRequestRange() == nil {
			return true
		}
	}
	return false
}

// expire has the store drop the handle's session behind its back.
func expire(tb testing.TB, r registry.Sessioner, admin *clientv3.Client) {
	tb.Helper()
	s, err := r.Session(tb.Context())
	require.NoError(tb, err)
	_, err = admin.Revoke(tb.Context(), clientv3.LeaseID(s.ID()))
	require.NoError(tb, err)
}

func compact(tb testing.TB, admin *clientv3.Client) {
	tb.Helper()
	now, err := admin.Get(tb.Context(), "/")
	require.NoError(tb, err)
	_, err = admin.Compact(tb.Context(), now.Header.Revision, clientv3.WithCompactPhysical())
	require.NoError(tb, err)
}

const ballast = "/ballast"

// fill writes until the store has no space left.
func fill(tb testing.TB, admin *clientv3.Client) {
	tb.Helper()
	stone := strings.Repeat("x", 1<<20)
	var err error
	for range 4 * fullQuota >> 20 {
		if _, err = admin.Put(tb.Context(), ballast, stone); err != nil {
			break
		}
	}
	require.ErrorContains(tb, err, "database space exceeded")
}

// free makes room as an operator would.
func free(tb testing.TB, admin *clientv3.Client) {
	tb.Helper()
	_, err := admin.Delete(tb.Context(), ballast)
	require.NoError(tb, err)
	compact(tb, admin)
	for _, endpoint := range admin.Endpoints() {
		_, err = admin.Defragment(tb.Context(), endpoint)
		require.NoError(tb, err)
	}
	_, err = admin.AlarmDisarm(tb.Context(), &clientv3.AlarmMember{})
	require.NoError(tb, err)
}
