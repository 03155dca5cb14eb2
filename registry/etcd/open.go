package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

const (
	// gRPC's own pauses between tries to connect grow to minutes; with these, everything goes on a few
	// milliseconds after a server is back.
	redialFirst = 100 * time.Millisecond
	redialLast  = 500 * time.Millisecond
	// A connection that went dead without a word is found by pings; gRPC allows none below 10 s.
	pingAfter  = 10 * time.Second
	pingAnswer = 3 * time.Second
	// A connection on which the other side's kernel acknowledges nothing any more is found sooner, in a third of the session's
	// time: another one may save the session. But a second is left to the network.
	acknowledgements = 3
	leastSilence     = time.Second
)

// mostSilence returns for how long what was sent on a connection may stay unacknowledged, and a ping unanswered.
func mostSilence(sessionTTL time.Duration) time.Duration {
	return min(pingAnswer, max(leastSilence, sessionTTL/acknowledgements))
}

// Open connects to a cluster and shows that it can be reached, that it accepts this client, and that
// the namespace may be read. The context and Config.DialTimeout bound that; nothing of the handle
// depends on the context afterwards.
//
// Errors: [registry.ErrInvalid] for every fault of the config that shows without connecting;
// [registry.ErrDenied] if the cluster refuses the user, the password or the certificate;
// [registry.ErrUnsupported] if the server is older than 3.5.13; otherwise [registry.ErrUnavailable], which
// names the endpoints and what the last try came to, also if that is an endpoint to which nobody can
// connect, such as one without a port, or that the endpoints that answer are of several clusters, none of
// which more than half of them all are of. On an error nothing is left behind.
func Open(ctx context.Context, config Config) (*Registry, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, remote.OpError(registry.OpOpen, "", err)
	}
	members := countAddresses(config.Endpoints)
	known := newMembers(func() int { return members }, config)
	client, server, err := connect(ctx, config, known)
	if err != nil {
		return nil, remote.OpError(registry.OpOpen, "", err)
	}
	r := newRegistry(client, true, known, config)
	r.see(server.reached)
	warnOfVersion(r.log, server.version)
	return r, nil
}

// countAddresses counts the members that endpoints name. gRPC makes one connection to an address that is named twice.
func countAddresses(endpoints []string) int {
	named := make(map[string]bool)
	for _, e := range endpoints {
		if _, rest, found := strings.Cut(e, "://"); found {
			e = rest
		}
		named[e] = true
	}
	return len(named)
}

// New makes a handle on a client that exists already and stays the caller's: Close does not close
// it, and must come before the client's own Close. Of the config, what concerns connecting is not
// used, and Endpoints may be empty; give TLS and RootCAs, which ServerTime needs. New does no I/O.
//
// The client's KV and Watcher may be others than etcd's own, such as those of etcd's package namespace. A view of such a
// Watcher may miss what is written just as it begins, while another one is waited for; see the package's documentation.
//
// Nor does anybody look at which cluster the members of such a client belong to, see [Config.Endpoints].
//
// Since nobody can tell of such a client which requests left it, a commit that is given up while no
// server can be reached has an unknown outcome rather than certainly none. And what a server or a proxy ends before its time,
// as canceled or with its deadline exceeded, etcd's client sends once more and does not tell: there, a transaction may be
// done twice that is not to be repeated.
func New(client *clientv3.Client, config Config) (*Registry, error) {
	if client == nil {
		return nil, remote.OpError(registry.OpOpen, "", fmt.Errorf("%w: the client is nil", registry.ErrInvalid))
	}
	if len(config.Endpoints) == 0 {
		config.Endpoints = client.Endpoints()
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, remote.OpError(registry.OpOpen, "", err)
	}
	known := newMembers(func() int { return len(client.Endpoints()) }, config)
	return newRegistry(client, false, known, config), nil
}

// serverState is what a server says of itself.
type serverState struct {
	reached int64  // the revision of the store
	version string // empty if it is not told
}

func connect(caller context.Context, config Config, known *members) (*clientv3.Client, serverState, error) {
	ctx, cancel := context.WithTimeout(caller, config.DialTimeout)
	defer cancel()
	var last error
	for retry := (retryPolicy{}); ; {
		client, server, err := connectOnce(ctx, config, known)
		if err == nil {
			return client, server, nil
		}
		if hopeless := unreachable(err); hopeless != nil {
			if errors.Is(hopeless, registry.ErrDenied) && refusal(err) != nil {
				hopeless = lacks(hopeless, config.Username, "read", keysBetween(newNamespace(config.Namespace).below(registry.Root)))
			}
			return nil, serverState{}, fmt.Errorf("%w (endpoints %s)", hopeless, strings.Join(config.Endpoints, ", "))
		}
		if last == nil || !tookTooLong(err) { // what failed says more than that time ran out
			last = err
		}
		retry.noteFailure(err)
		if !remote.Sleep(ctx, retry.backoff()) {
			if caller.Err() != nil {
				return nil, serverState{}, fmt.Errorf("%w: no answer from %s before the context ended (%w): %w",
					registry.ErrUnavailable, strings.Join(config.Endpoints, ", "), context.Cause(caller), last)
			}
			return nil, serverState{}, fmt.Errorf("%w: no answer from %s within %s: %w",
				registry.ErrUnavailable, strings.Join(config.Endpoints, ", "), config.DialTimeout, last)
		}
	}
}

// connectOnce makes a client, has it read from the namespace and returns what the server says.
func connectOnce(ctx context.Context, config Config, known *members) (*clientv3.Client, serverState, error) {
	if config.Username != "" {
		if err := checkReachable(ctx, config, known); err != nil {
			return nil, serverState{}, err
		}
	}
	client, err := newClient(ctx, config, known)
	if err != nil {
		return nil, serverState{}, err
	}
	var server serverState
	if err = known.agree(ctx, client.ActiveConnection()); err == nil {
		server, err = checkServer(ctx, client, config)
	}
	if err != nil {
		return nil, serverState{}, errors.Join(rpctypes.Error(err), ignoreCanceled(client.Close()))
	}
	return client, server, nil
}

// checkReachable tells why no server can be reached. Asking for a token would only tell that time ran out. A
// server that refuses a client without a name is one that can be reached.
func checkReachable(ctx context.Context, config Config, known *members) error {
	config.Username, config.Password, config.PasswordFunc = "", "", nil
	client, _, err := connectOnce(ctx, config, known)
	switch {
	case err == nil:
		return ignoreCanceled(client.Close())
	case errors.Is(refusal(err), registry.ErrDenied):
		return nil
	default:
		return err
	}
}

// checkServer shows that the client may read the namespace, and that the server is not too old. It does
// without the client's own methods, which would hide why connections fail.
func checkServer(ctx context.Context, client *clientv3.Client, config Config) (serverState, error) {
	some, err := firstRead(ctx, client, config)
	if err != nil {
		return serverState{}, err
	}
	server := serverState{reached: some.Header.Revision}
	status, err := pb.NewMaintenanceClient(client.ActiveConnection()).Status(ctx, new(pb.StatusRequest))
	switch {
	case errors.Is(refusal(err), registry.ErrDenied): // 3.6.0 to 3.6.8 tell their version to root alone; older ones deny it to nobody
		return server, nil
	case err != nil:
		return serverState{}, err
	}
	server.version = status.Version
	return server, checkVersion(status.Version)
}

// firstRead reads from the namespace. A member that leaves that without an answer is passed over in the next try. The last
// one has all the time that is left, as the store may be slow.
func firstRead(ctx context.Context, client *clientv3.Client, config Config) (*pb.RangeResponse, error) {
	start, end := newNamespace(config.Namespace).below(registry.Root)
	read := func(ctx context.Context) (*pb.RangeResponse, error) {
		return pb.NewKVClient(client.ActiveConnection()).Range(ctx, &pb.RangeRequest{
			Key: []byte(start), RangeEnd: []byte(end), Limit: 1, KeysOnly: true,
		})
	}
	tries := len(config.Endpoints)
	if tries == 1 { // there is no other member
		tries = 0
	}
	for range tries {
		try, cancel := context.WithTimeout(ctx, config.RequestTimeout)
		some, err := read(try)
		cancel()
		if err == nil || !tookTooLong(err) {
			return some, err
		}
	}
	return read(ctx)
}

func newClient(ctx context.Context, config Config, known *members) (*clientv3.Client, error) {
	deadline, _ := ctx.Deadline()
	options := []grpc.DialOption{
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: redialFirst, MaxDelay: redialLast,
				Multiplier: backoff.DefaultConfig.Multiplier, Jitter: backoff.DefaultConfig.Jitter,
			},
			MinConnectTimeout: pingAnswer,
		}),
		grpc.WithChainUnaryInterceptor(newLogin(config).share, noteSent),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newCodec())),
	}
	if config.PasswordFunc != nil {
		config.Password = "asked for" // at each login; without any, etcd's client would not log in
	}
	return clientv3.New(clientv3.Config{
		Endpoints: config.Endpoints,
		TLS:       config.TLS,
		Username:  config.Username,
		Password:  config.Password,
		// Only bounds how long the password is checked.
		DialTimeout:          max(time.Until(deadline), time.Millisecond),
		DialKeepAliveTime:    pingAfter,
		DialKeepAliveTimeout: mostSilence(config.SessionTTL),
		DialOptions:          slices.Concat(options, config.askRootCAs(), config.DialOptions, known.balance()),
		Logger:               zap.NewNop(),
	})
}

// unreachable tells what repeating would not change about a failure to connect.
func unreachable(err error) error {
	if refused := refusal(err); refused != nil {
		return refused
	}
	if errors.Is(err, registry.ErrUnsupported) {
		return err
	}
	_, text := describe(err)
	switch {
	case strings.Contains(text, "remote error: tls:"):
		return fmt.Errorf("%w: the server does not accept this client's certificate, or has none for this name: %w", registry.ErrDenied, err)
	case handshakeRefused(text):
		return fmt.Errorf("%w: TLS: %w", registry.ErrUnavailable, err)
	default:
		return nil
	}
}

// handshakeRefused tells whether this side does not take what the other one showed in a handshake, or has no authorities to
// judge it by. gRPC says that a handshake failed also if the connection was lost meanwhile, as one to a server that is about to
// start: the next one may do.
func handshakeRefused(text string) bool {
	_, why, failed := strings.Cut(text, "authentication handshake failed: ")
	return failed && slices.ContainsFunc([]string{"tls: ", "x509: ", "credentials: ", noAuthorities},
		func(refusal string) bool { return strings.Contains(why, refusal) })
}

func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
