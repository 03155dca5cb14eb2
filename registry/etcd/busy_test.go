package etcd_test

import (
	"context"
	"fmt"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// What follows are stores that answer, but slowly, as they do on a machine that has too much to do.

// A server that takes long to check a password is given that time, however little a request has, and is
// asked once for all that wait.
func TestALoginTakesItsTime(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	enableAuth(t, adminOf(t, server))
	var slow atomic.Bool
	var asked atomic.Int64
	r, err := etcd.Open(t.Context(), etcd.Config{
		Endpoints: server.Endpoints(), Namespace: "ours", Username: "me", Password: "secret", DialTimeout: time.Minute,
		RequestTimeout: 50 * time.Millisecond, SessionTTL: time.Minute, // a try has at most 16 times as long
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if _, ok := req.(*pb.AuthenticateRequest); ok && slow.Load() {
					asked.Add(1)
					select {
					case <-time.After(3 * time.Second):
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				return invoke(ctx, method, req, reply, conn, opts...)
			},
		)},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	put(t, r, "/before", "")
	slow.Store(true)
	server.Stop()
	require.NoError(t, server.Restart(t.Context())) // it has forgotten who was logged in
	var all sync.WaitGroup
	errs := make([]error, 20)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range errs {
		all.Go(func() {
			_, errs[i] = r.Commit(ctx, registry.Txn{
				Then: []registry.Write{registry.Put(fmt.Sprintf("/after/%d", i), "")}, Repeat: registry.RepeatHarmless,
			})
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.LessOrEqual(t, asked.Load(), int64(8))
}

// slowAnswers delays the answers to keep-alives.
type slowAnswers struct {
	grpc.ClientStream
	by *atomic.Int64
}

func (s slowAnswers) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	time.Sleep(time.Duration(s.by.Load()))
	return err
}

// A store that takes two fifths of the TTL to answer a keep-alive, and not a third, has still kept the session.
func TestSlowKeepAlivesKeepTheSession(t *testing.T) {
	t.Parallel()
	var by atomic.Int64
	r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.SessionTTL = 12 * time.Second
		c.DialOptions = append(c.DialOptions, grpc.WithChainStreamInterceptor(
			func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
				stream, err := streamer(ctx, desc, conn, method, opts...)
				if err == nil && method == pb.Lease_LeaseKeepAlive_FullMethodName {
					stream = slowAnswers{stream, &by}
				}
				return stream, err
			},
		))
	})
	despiteStalls(t, sharedServer(t), time.Second, func() error {
		s := session(t, r)
		by.Store(int64(s.TTL() * 3 / 10))
		defer by.Store(0)
		return lost(s, s.TTL()*3/2)
	})
}

// lost returns why a session was lost within a time; nil if it was not.
func lost(s *registry.Session, within time.Duration) error {
	select {
	case <-s.Done():
		return s.Err()
	case <-time.After(within):
		return nil
	}
}

// While requests are under way, what waits goes by its turn; what is over, or whose caller has gone, is not
// sent, and says so at once. What was sent is settled, however late.
func TestWaitingCommitsGoByTheirTurns(t *testing.T) {
	t.Parallel()
	inTime(t, 6*time.Second, waitingCommitsGoByTheirTurns)
}

func waitingCommitsGoByTheirTurns(t *testing.T, lasts time.Duration) (inTime bool) {
	t.Helper()
	h := newHeldCommits(t, true)
	soon := time.Now().Add(lasts)
	if !h.sendAll(registry.Turn{Until: soon}) {
		h.letGo()
		return false
	}
	of := func(rank registry.Rank, share string) registry.Turn { return registry.Turn{Rank: rank, Share: share} }
	for i, c := range []struct {
		name string
		turn registry.Turn
	}{
		{"late", of(registry.RankBacklog, "a")},
		{"a1", of(registry.RankWork, "a")},
		{"a2", of(registry.RankWork, "a")},
		{"b1", of(registry.RankWork, "b")},
		{"end", of(registry.RankFirst, "")},
	} {
		h.commit(t.Context(), c.name, c.turn, nil)
		h.waits(i + 1) // so that they come in this order
	}
	given, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	gone := h.commit(given, "gone", of(registry.RankFirst, ""), context.Canceled)
	h.waits(6)
	over := h.commit(t.Context(), "over", registry.Turn{Until: soon}, registry.ErrNotSent)
	require.Eventually(t, func() bool { return h.r.Waiting() == 7 || isClosed(over) }, time.Minute, time.Millisecond)
	waited := !isClosed(over)
	giveUp()
	for _, settled := range []chan struct{}{gone, over} {
		select {
		case <-settled:
		case <-time.After(time.Minute):
			require.Fail(t, "it waits with the others")
		}
	}
	require.False(t, time.Now().Before(soon), "its turn is not over")
	if !waited {
		h.letGo()
		return false
	}
	var order []string
	for range 5 {
		h.allowed <- struct{}{}
		order = append(order, <-h.arrived)
	}
	close(h.allowed)
	h.all.Wait()
	require.Equal(t, []string{"end", "a1", "a2", "b1", "late"}, order)
	return true
}

// inTime tells a story that has to come to a certain place within a time. If it did not, as nobody gave it a
// processor, it is told anew with more time.
func inTime(t *testing.T, lasts time.Duration, story func(t *testing.T, lasts time.Duration) (inTime bool)) {
	t.Helper()
	for range 5 {
		if story(t, lasts) {
			return
		}
		lasts *= 2
	}
	require.Fail(t, "the time was always over", "at last %s", lasts/2)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// What is not sent any more does not wait with the others for a turn that may never come.
func TestWhatIsNotSentIsForgotten(t *testing.T) {
	t.Parallel()
	h := newHeldCommits(t, true)
	h.sendAll(registry.Turn{})
	given, giveUp := context.WithCancel(t.Context())
	for n := range 20 {
		last := registry.Turn{Rank: registry.RankLast, Share: fmt.Sprint(n % 3)}
		h.commit(given, "given up", last, context.Canceled)
		last.Until = time.Now().Add(100 * time.Millisecond)
		h.commit(t.Context(), "over", last, registry.ErrNotSent)
	}
	h.commit(t.Context(), "waits", registry.Turn{}, nil)
	giveUp()
	h.waits(1)
	close(h.allowed)
	require.Equal(t, "waits", <-h.arrived)
	h.all.Wait()
}

// heldCommits are commits that a handle sends and that wait for the test on their way.
type heldCommits struct {
	t       *testing.T
	r       *etcd.Registry
	arrived chan string   // the node of the first of each request
	allowed chan struct{} // lets one go on
	lose    chan struct{} // has the answer to one that goes on lost
	all     sync.WaitGroup
}

// newHeldCommits opens a handle whose requests are held from now on.
func newHeldCommits(t *testing.T, single bool) *heldCommits {
	t.Helper()
	h := &heldCommits{t: t, arrived: make(chan string), allowed: make(chan struct{}), lose: make(chan struct{}, 1)}
	var holding atomic.Bool
	h.r = open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.NoCoalescing, c.RequestTimeout = single, time.Minute
		c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if txn, ok := req.(*pb.TxnRequest); ok && holding.Load() {
					if !h.hold(ctx, firstNode(txn)) {
						_ = invoke(ctx, method, req, reply, conn, opts...)
						return status.Error(codes.Unavailable, "the answer was lost")
					}
				}
				return invoke(ctx, method, req, reply, conn, opts...)
			},
		))
	})
	put(t, h.r, "/before", "")
	for h.r.AtOnce() > etcd.BaseInFlight { // a machine that is busy makes the store look slow
		put(t, h.r, "/before", "")
	}
	holding.Store(true)
	return h
}

// sendAll has as many requests under way as may be. It is false if the turn of one was over before it was sent.
func (h *heldCommits) sendAll(turn registry.Turn) (sent bool) {
	h.t.Helper()
	for range etcd.BaseInFlight {
		if !h.send("under way", turn) {
			return false
		}
	}
	return true
}

// send has a commit under way that will be done. It is false if its turn was over before it was sent.
func (h *heldCommits) send(name string, turn registry.Turn) (sent bool) {
	h.t.Helper()
	outcome := make(chan error, 1)
	h.all.Go(func() { outcome <- h.put(h.t.Context(), name, turn) })
	select {
	case arrived := <-h.arrived:
		require.Equal(h.t, name, arrived)
		h.all.Go(func() { assert.NoError(h.t, <-outcome, name) })
		return true
	case err := <-outcome:
		require.ErrorIs(h.t, err, registry.ErrNotSent)
		require.False(h.t, turn.Until.IsZero() || time.Now().Before(turn.Until), "its turn is not over")
		return false
	}
}

// letGo lets all go on that is under way or waits, until it is settled.
func (h *heldCommits) letGo() {
	close(h.allowed)
	over := make(chan struct{})
	go func() { h.all.Wait(); close(over) }()
	for {
		select {
		case <-h.arrived:
		case <-over:
			return
		}
	}
}

// waits waits until so many commits wait to be sent.
func (h *heldCommits) waits(n int) {
	h.t.Helper()
	require.Eventually(h.t, func() bool { return h.r.Waiting() == n }, time.Minute, time.Millisecond)
}

// hold has a request wait until the test lets it go on. It is false for one whose answer gets lost.
func (h *heldCommits) hold(ctx context.Context, node string) bool {
	select {
	case h.arrived <- node:
	case <-ctx.Done():
	}
	select {
	case <-h.allowed:
	case <-ctx.Done():
	}
	select {
	case <-h.lose:
		return false
	default:
		return true
	}
}

// firstNode returns the name of the first node that a request writes.
func firstNode(txn *pb.TxnRequest) string {
	for _, op := range txn.Success {
		if nested := op.GetRequestTxn(); nested != nil {
			return firstNode(nested)
		}
		if put := op.GetRequestPut(); put != nil {
			return path.Base(string(put.GetKey()))
		}
	}
	return ""
}

// commit puts a node, and tells when it is settled.
func (h *heldCommits) commit(ctx context.Context, name string, turn registry.Turn, want error) (settled chan struct{}) {
	settled = make(chan struct{})
	h.all.Go(func() {
		defer close(settled)
		err := h.put(ctx, name, turn)
		if want == nil {
			assert.NoError(h.t, err, name)
		} else {
			assert.ErrorIs(h.t, err, want, name)
		}
	})
	return settled
}

func (h *heldCommits) put(ctx context.Context, name string, turn registry.Turn) error {
	_, err := h.r.Commit(ctx, registry.Txn{
		Then: []registry.Write{registry.Put("/"+name, "")}, Turn: turn, Repeat: registry.RepeatHarmless,
	})
	return err
}

// Whose answer was lost may have been done, so it is settled, although its turn is over by then.
func TestACommitThatMayHaveBeenDoneHasNoTurn(t *testing.T) {
	t.Parallel()
	inTime(t, 6*time.Second, func(t *testing.T, lasts time.Duration) (inTime bool) {
		t.Helper()
		h := newHeldCommits(t, true)
		until := time.Now().Add(lasts)
		if !h.send("lost", registry.Turn{Until: until}) {
			return false
		}
		time.Sleep(time.Until(until))
		h.lose <- struct{}{}
		h.allowed <- struct{}{}
		require.Equal(t, "lost", <-h.arrived, "asked again")
		close(h.allowed)
		h.all.Wait()
		return true
	})
}

// What may not travel with those before it goes with the next request, before all that come after it.
func TestWhatIsPassedOverGoesNext(t *testing.T) {
	t.Parallel()
	h := newHeldCommits(t, false)
	require.True(t, h.sendAll(registry.Turn{}))
	for i := range 2 {
		h.commit(t.Context(), "same", registry.Turn{}, nil)
		h.waits(i + 1)
	}
	txns := make([]registry.Txn, 400) // several requests full
	for i := range txns {
		txns[i] = registry.Txn{Then: []registry.Write{registry.Put(fmt.Sprint("/other ", i), "")}, Repeat: registry.RepeatHarmless}
	}
	h.all.Go(func() {
		for _, o := range h.r.CommitAll(t.Context(), txns) {
			assert.NoError(t, o.Err)
		}
	})
	h.waits(2 + len(txns))
	var order []string
	for range 2 {
		h.allowed <- struct{}{}
		order = append(order, <-h.arrived)
	}
	go func() {
		for range h.arrived { // the others
		}
	}()
	close(h.allowed)
	h.all.Wait()
	close(h.arrived)
	require.Equal(t, []string{"same", "same"}, order)
}
