package etcd_test

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/elasticron/elasticron/internal/standstill"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// through is a proxy before the server, which lets no request pass that it drops.
func through(drops func(req *pb.TxnRequest) error) func(*etcd.Config) {
	return func(c *etcd.Config) {
		c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if txn, is := req.(*pb.TxnRequest); is {
					if err := drops(txn); err != nil {
						_ = invoke(ctx, method, &pb.TxnRequest{}, new(pb.TxnResponse), conn, opts...) // it was sent
						return err
					}
				}
				return invoke(ctx, method, req, reply, conn, opts...)
			},
		))
	}
}

// answered tells of the transactions that the server has done.
func answered(tell func(req *pb.TxnRequest)) func(*etcd.Config) {
	return func(c *etcd.Config) {
		c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				err := invoke(ctx, method, req, reply, conn, opts...)
				if txn, is := req.(*pb.TxnRequest); is && err == nil {
					tell(txn)
				}
				return err
			},
		))
	}
}

// broken is what a call comes to whose stream something on the way has reset.
var broken = status.Error(codes.Internal, "stream terminated by RST_STREAM with error code: INTERNAL_ERROR")

// dropped are the requests with a write that something on the way never lets pass.
func dropped(req *pb.TxnRequest) error {
	if strings.Contains(req.String(), "/poison") {
		return broken
	}
	return nil
}

func putHarmless(path, value string) registry.Txn {
	return registry.Txn{Then: []registry.Write{registry.Put(path, value)}, Repeat: registry.RepeatHarmless}
}

// What is answered with errors on and on, though sessions may go on, does not wait in silence, and is done when that is over.
func TestARequestThatIsRefusedOnAndOnIsTold(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(ctx context.Context, r *etcd.Registry) error{
		"a commit": func(ctx context.Context, r *etcd.Registry) error {
			_, err := r.Commit(ctx, putHarmless("/poison", ""))
			return err
		},
		"a read": func(ctx context.Context, r *etcd.Registry) error {
			_, _, err := r.List(ctx, "/")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var corrupt atomic.Bool
			log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 1024)}
			r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
				c.SessionTTL, c.Logger = time.Second, slog.New(log)
				c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(
					func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
						if corrupt.Load() {
							return rpctypes.ErrGRPCCorrupt
						}
						return invoke(ctx, method, req, reply, conn, opts...)
					},
				))
			})
			corrupt.Store(true)
			ctx, over := within(t, time.Minute), make(chan error, 1)
			go func() { over <- ask(ctx, r) }()
			for line, tells := "", false; !tells; tells = strings.Contains(line, "corrupt cluster") {
				select {
				case record := <-log.records:
					if record.Message == "the registry does not do a request, trying on" {
						record.Attrs(func(a slog.Attr) bool { line += a.String(); return true })
					}
				case err := <-over:
					require.Fail(t, "it was not repeated", err)
				case <-ctx.Done():
					require.Fail(t, "nothing was told")
				}
			}
			corrupt.Store(false)
			require.NoError(t, <-over)
		})
	}
}

// What never gets an answer takes none of those with it that shared its request, whether or not anything else is asked of the
// store.
func TestWhatGetsNoAnswerDoesNotTakeItsNeighboursWithIt(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]bool{"while others are answered": true, "and nothing else is asked": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			despiteStalls(t, sharedServer(t), time.Second, func() error {
				if took := neighboursPass(t, others); took >= 5*time.Second {
					return fmt.Errorf("all neighbours passed after %s, want less than 5s", took)
				}
				return nil
			})
		})
	}
}

// neighboursPass returns how long a hundred commits took that were asked for together, of which one never gets an answer.
func neighboursPass(t *testing.T, others bool) (took time.Duration) {
	t.Helper()
	ctx, giveUp := context.WithCancel(within(t, time.Minute))
	defer giveUp()
	const many = 100
	stood := standstill.New(t)
	var mu sync.Mutex
	var began time.Time
	passed, neighbour := make(map[string]bool), regexp.MustCompile(`/neighbour/\d+`)
	r := open(t, sharedServer(t).Endpoints(), through(dropped), answered(func(req *pb.TxnRequest) {
		mu.Lock()
		defer mu.Unlock()
		before := len(passed)
		for _, path := range neighbour.FindAllString(req.String(), -1) {
			passed[path] = true
		}
		if len(passed) == many-1 && before < many-1 {
			took = stood.Elapsed(began)
			time.AfterFunc(2*time.Second, giveUp) // when the handle has seen the answer, too
		}
	}))
	began = time.Now()
	if others {
		var busy sync.WaitGroup
		defer busy.Wait()
		busy.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_, _ = r.Commit(ctx, putHarmless("/other", fmt.Sprint(n)))
			}
		})
	}
	txns := make([]registry.Txn, many)
	for i := range txns {
		txns[i] = putHarmless(fmt.Sprintf("/neighbour/%d", i), "")
	}
	txns[42] = putHarmless("/poison", "")
	for i, o := range r.CommitAll(ctx, txns) {
		if i == 42 {
			require.ErrorIs(t, o.Err, registry.ErrUnknownOutcome)
			continue
		}
		require.NoError(t, o.Err, i)
	}
	mu.Lock()
	defer mu.Unlock()
	return took
}

// Nor does it hold up what comes after it, however much of the like there is.
func TestWhatGetsNoAnswerHoldsUpNobody(t *testing.T) {
	t.Parallel()
	r := open(t, sharedServer(t).Endpoints(), through(dropped))
	stood, ctx := standstill.New(t), within(t, 6*time.Second)
	var all sync.WaitGroup
	defer all.Wait()
	for n := range 30 {
		all.Go(func() { _, _ = r.Commit(ctx, putHarmless(fmt.Sprintf("/poison/%d", n), "")) })
	}
	const writers = 50
	slowest := make([]time.Duration, writers)
	for n := range writers {
		all.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				began := time.Now()
				if _, err := r.Commit(ctx, putHarmless(fmt.Sprintf("/neighbour/%d", n), fmt.Sprint(k))); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				slowest[n] = max(slowest[n], stood.Elapsed(began))
			}
		})
	}
	all.Wait()
	for _, took := range slowest {
		require.Less(t, took, 3*time.Second)
	}
}

// Nor does what was merely its neighbour wait for ever behind more of the like, of a higher rank, than there are requests at a
// time.
func TestNeighboursOfWhatGetsNoAnswerPassIt(t *testing.T) {
	t.Parallel()
	const many = 30
	var mu sync.Mutex
	alone, passed := make(map[string]bool), make(map[string]bool)
	stuck, healed := make(chan struct{}), make(chan struct{})
	poison, neighbour := regexp.MustCompile(`/poison/first/\d+`), regexp.MustCompile(`/neighbour/\d+`)
	r := open(t, sharedServer(t).Endpoints(), through(func(req *pb.TxnRequest) error {
		mu.Lock()
		defer mu.Unlock()
		select {
		case <-healed:
			return nil
		default:
		}
		text := req.String()
		err := dropped(req)
		note := func(of map[string]bool, paths []string, all chan struct{}) {
			before := len(of)
			for _, path := range paths {
				of[path] = true
			}
			if len(of) == many && before < many {
				close(all)
			}
		}
		paths := slices.Compact(slices.Sorted(slices.Values(poison.FindAllString(text, -1))))
		switch {
		case err == nil:
			note(passed, neighbour.FindAllString(text, -1), healed)
		case len(paths) == 1:
			note(alone, paths, stuck)
		}
		return err
	}))
	ctx := within(t, 30*time.Second)
	putAll := func(rank registry.Rank, paths ...string) {
		var txns []registry.Txn
		for _, path := range paths {
			for n := range many {
				txn := putHarmless(fmt.Sprintf(path, n), "")
				txn.Turn.Rank = rank
				txns = append(txns, txn)
			}
		}
		for i, o := range r.CommitAll(ctx, txns) {
			assert.NoError(t, o.Err, i)
		}
	}
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { putAll(registry.RankFirst, "/poison/first/%d") })
	select {
	case <-stuck:
	case <-ctx.Done():
	}
	all.Go(func() { putAll(registry.RankWork, "/neighbour/%d", "/poison/later/%d") })
}

// What goes in small requests as nobody gets an answer goes in large ones again when the store is back: it shows then that none
// of it is to blame.
func TestWhatIsTriedByItselfWhileTheStoreIsAwayGoesTogetherAgain(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"reset": broken, "503": status.Error(codes.Unavailable, "503")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const commits = 2000
			var single, after atomic.Int64
			r := open(t, sharedServer(t).Endpoints(), through(func(req *pb.TxnRequest) error {
				if single.Load() >= 100 {
					after.Add(1)
					return nil
				}
				if len(req.Success) == 1 && req.Success[0].GetRequestPut() != nil {
					single.Add(1)
				}
				return err
			}))
			txns := make([]registry.Txn, commits)
			for i := range txns {
				txns[i] = putHarmless(fmt.Sprintf("/%d", i), "")
			}
			for _, o := range r.CommitAll(within(t, time.Minute), txns) {
				require.NoError(t, o.Err)
			}
			require.Less(t, after.Load(), int64(commits/10))
		})
	}
}

// A store that has too many requests gets no more of them for that: what it refuses goes together again.
func TestWhatABusyStoreRefusesStaysTogether(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	r := open(t, sharedServer(t).Endpoints(), through(func(*pb.TxnRequest) error {
		if requests.Add(1)%3 != 0 {
			return rpctypes.ErrGRPCRequestTooManyRequests
		}
		return nil
	}))
	txns := make([]registry.Txn, 1000)
	for i := range txns {
		txns[i] = putHarmless(fmt.Sprintf("/%d", i), "")
	}
	for _, o := range r.CommitAll(within(t, time.Minute), txns) {
		require.NoError(t, o.Err)
	}
	require.Less(t, requests.Load(), int64(100))
}

// Some proxies take bodies of 1 MiB, and a request that many transactions share is no larger.
func TestNoRequestIsTooLargeByItsCompany(t *testing.T) {
	t.Parallel()
	var large atomic.Int64
	r := open(t, sharedServer(t).Endpoints(), through(func(req *pb.TxnRequest) error {
		if proto.Size(req) > 1<<20 {
			large.Add(1)
			return broken
		}
		return nil
	}))
	for size := 9300; size < 9600; size += 20 { // about as many as fit into one request are 1 MiB
		txns := make([]registry.Txn, 120)
		for i := range txns {
			txns[i] = putHarmless(fmt.Sprintf("/%d", i), strings.Repeat("x", size))
		}
		for _, o := range r.CommitAll(t.Context(), txns) {
			require.NoError(t, o.Err)
		}
	}
	require.Zero(t, large.Load())
}

// A transaction that is too large for something on the way is refused as such, and its neighbours are done.
func TestTooLargeForAProxy(t *testing.T) {
	t.Parallel()
	r := open(t, sharedServer(t).Endpoints(), through(func(req *pb.TxnRequest) error {
		if dropped(req) == nil {
			return nil
		}
		return status.Error(codes.Unknown, "unexpected HTTP status code received from server: 413 (Request Entity Too Large)")
	}))
	outcomes := r.CommitAll(within(t, time.Minute), []registry.Txn{
		{Then: []registry.Write{registry.Put("/a", "")}}, {Then: []registry.Write{registry.Put("/poison", "")}},
	})
	require.NoError(t, outcomes[0].Err)
	require.ErrorIs(t, outcomes[1].Err, registry.ErrTooLarge)
}
