package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
)

// Config says which cluster to use, as whom, and how patiently. The zero value of every field but
// Endpoints and Namespace stands for its default.
type Config struct {
	// Endpoints are the client URLs of the cluster's members, such as "http://10.0.0.1:2379". Name
	// all of them: requests go round among those that answer, and pass over a member that
	// leaves them unanswered until it answers again. One that belongs to another cluster than most is passed over, and the
	// log says so. At least one.
	Endpoints []string

	// Namespace is the first part of every key: the node "/orders/config" of the namespace "prod" is
	// the key "/prod/orders/config". It may have inner slashes ("acme/prod"). Required.
	Namespace string

	// TLS is how to trust the servers and, with certificates, how to prove who this client is. The
	// default is nil: the system's authorities for https endpoints, no TLS for http.
	TLS *tls.Config

	// RootCAs is asked for the authorities whenever a connection by TLS begins, in the place of TLS.RootCAs, so that renewed ones
	// count from the next connection on: for requests, and for ServerTime, which connects each time. A nil pool stands for the
	// system's authorities, as in TLS; after an error nothing connects, as with a server that is not trusted. Several goroutines
	// may call it at the same time, and connections wait until it returns. The default is nil: TLS.RootCAs. For renewed
	// certificates of this client, there is TLS.GetClientCertificate.
	RootCAs func() (*x509.CertPool, error)

	// Username and Password identify the client where etcd's authentication is on. The default is
	// none. The user needs read and write permission on the range of the namespace,
	// ["/<namespace>/", "/<namespace>0").
	Username, Password string

	// PasswordFunc is asked for the password of Username before each login, in the place of Password, so that somebody can change
	// it while processes run. If etcd refuses the password, the last that it took is tried, too: etcd may hear of the change after
	// the process does. An error, or a panic, fails the login, and what needs it tries again. A call may take as long as the
	// login that waits for it, and several goroutines may make it at the same time. The default is nil: Password.
	PasswordFunc func(ctx context.Context) (string, error)

	// SessionTTL is for how long the store keeps the nodes of this process when it hears nothing of
	// it. It is rounded up to seconds, and the server may grant more than is asked for. The default is
	// 5 s, the least 1 s, the most 24 h. Below 3 s, a restart of the server is enough to lose the session. What
	// ran in a process that has crashed waits until the TTL is over.
	SessionTTL time.Duration

	// DialTimeout is how long Open tries to reach the cluster. The default is 5 s.
	DialTimeout time.Duration

	// RequestTimeout bounds one try of a request; when as many tries as there are endpoints took too
	// long, it is doubled with each that does, up to 16 times the value. It is stretched while the
	// store is slow for all. A try that fails is repeated until the context of the call ends; one that
	// took too long is repeated at another member, if one is connected. The default is 1 s.
	RequestTimeout time.Duration

	// NoCoalescing sends every transaction in a request of its own, also those that meet. It costs
	// most of the throughput of a burst, and is for measuring that. The default is false.
	NoCoalescing bool

	// Logger hears of lost sessions, broken watches and the like. Nothing waits for it, as for that of a
	// scheduler. The default is silence.
	Logger *slog.Logger

	// DialOptions are added to those of every connection. The default is none.
	DialOptions []grpc.DialOption
}

// The defaults of [Config].
const (
	DefaultSessionTTL     = 5 * time.Second
	DefaultDialTimeout    = 5 * time.Second
	DefaultRequestTimeout = time.Second
)

const (
	leastSessionTTL = time.Second
	// mostSessionTTL is far below what etcd refuses, and what the arithmetic of deadlines takes: no session would ever begin.
	mostSessionTTL = 24 * time.Hour
)

// withDefaults returns a copy in which zero values are replaced, or every fault of the config.
func (c Config) withDefaults() (Config, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{registry.ErrInvalid}, args...)...))
	}
	if len(c.Endpoints) == 0 {
		fault("Endpoints is empty: want the client URLs of the cluster")
	}
	for i, e := range c.Endpoints {
		if e == "" {
			fault("Endpoints[%d] is empty", i)
		}
	}
	if c.Namespace == "" {
		fault("Namespace is empty: want the first part of every key")
	} else if err := registry.CheckPath(registry.Root + c.Namespace); err != nil {
		faults = append(faults, fmt.Errorf("namespace %q: %w", c.Namespace, err))
	}
	switch given := c.Password != "" || c.PasswordFunc != nil; {
	case c.Username == "" == given:
		fault("Username and Password, or PasswordFunc, must be given together")
	case c.Password != "" && c.PasswordFunc != nil:
		fault("Password and PasswordFunc are both given: want one of them")
	}
	switch {
	case c.SessionTTL != 0 && c.SessionTTL < leastSessionTTL:
		fault("SessionTTL is %s: want 0 or at least %s", c.SessionTTL, leastSessionTTL)
	case c.SessionTTL > mostSessionTTL:
		fault("SessionTTL is %s: want at most %s", c.SessionTTL, mostSessionTTL)
	}
	for name, d := range map[string]time.Duration{"DialTimeout": c.DialTimeout, "RequestTimeout": c.RequestTimeout} {
		if d < 0 {
			fault("%s is %s: want 0 or more", name, d)
		}
	}
	if c.RootCAs != nil && c.TLS == nil {
		c.TLS = new(tls.Config) // without which etcd's client would make no TLS of endpoints without a scheme
	}
	c.SessionTTL = orDefault(c.SessionTTL, DefaultSessionTTL)
	c.DialTimeout = orDefault(c.DialTimeout, DefaultDialTimeout)
	c.RequestTimeout = orDefault(c.RequestTimeout, DefaultRequestTimeout)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(faults...)
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
