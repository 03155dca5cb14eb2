package zkcompat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
)

// Config says which ensemble to use, as whom, and how patiently. The zero value of every field but
// Servers and Namespace stands for its default.
type Config struct {
	// Servers are "host:port" of the servers of the ensemble; the port may be left out for 2181, but after an IPv6 address
	// ("[::1]:2181"). Name all of them: a connection that breaks is made again to another one. At least one.
	Servers []string

	// Namespace is the first part of every path: the node "/orders/config" of the namespace "prod" is
	// the znode "/prod/orders/config". It may have inner slashes ("acme/prod"). Required. It is what
	// Java's ZookeeperConfiguration calls namespace.
	Namespace string

	// SessionTimeout is for how long the server keeps the nodes of this process when it hears nothing
	// of it. The server grants what is nearest within its own bounds, 2 to 20 of its ticks, which is 4
	// to 40 s by default. The default is 10 s, the least 200 ms. Java's default is 60 s, of which
	// servers usually grant 40. All servers must grant the same, see "Sessions" of the package.
	SessionTimeout time.Duration

	// ConnectionTimeout is how long Open tries to reach the ensemble. The default is 15 s, as Java's.
	ConnectionTimeout time.Duration

	// DialTimeout bounds one try to connect to one server, the exchange of greetings included. The
	// default is 3 s. While there is a session that another connection may save, a try takes no more than
	// a fourth of the session's timeout, either, or twice as long as the last one if that took all its time.
	DialTimeout time.Duration

	// Digest is "user:password" of ZooKeeper's digest scheme. With it every node is created for this
	// user alone, as Java does; without it the world may do everything. All processes of a namespace
	// need the same. The default is none.
	Digest string

	// Logger hears of lost sessions, broken connections and the like. Nothing waits for it, as for that of a
	// scheduler. The default is silence.
	Logger *slog.Logger

	// Dial makes a connection to a server, for TLS or for a proxy. The default is a TCP connection.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// The defaults of [Config].
const (
	DefaultSessionTimeout    = 10 * time.Second
	DefaultConnectionTimeout = 15 * time.Second
	DefaultDialTimeout       = 3 * time.Second
)

const leastSessionTimeout = 200 * time.Millisecond

// withDefaults returns a copy in which zero values are replaced, or every fault of the config.
func (c Config) withDefaults() (Config, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{registry.ErrInvalid}, args...)...))
	}
	if len(c.Servers) == 0 {
		fault("Servers is empty: want host:port of every server of the ensemble")
	}
	for i, s := range c.Servers {
		if err := checkServer(s); err != nil {
			fault("Servers[%d] is %q: %w", i, s, err)
		}
	}
	if err := checkNamespace(c.Namespace); err != nil {
		faults = append(faults, err)
	}
	if c.SessionTimeout != 0 && c.SessionTimeout < leastSessionTimeout {
		fault("SessionTimeout is %s: want 0 or at least %s", c.SessionTimeout, leastSessionTimeout)
	}
	if c.ConnectionTimeout < 0 {
		fault("ConnectionTimeout is %s: want 0 or more", c.ConnectionTimeout)
	}
	if c.DialTimeout < 0 {
		fault("DialTimeout is %s: want 0 or more", c.DialTimeout)
	}
	if c.Digest != "" && !strings.Contains(c.Digest, ":") {
		fault("Digest has no colon: want user:password") // the value is a secret
	}
	c.SessionTimeout = orDefault(c.SessionTimeout, DefaultSessionTimeout)
	c.ConnectionTimeout = orDefault(c.ConnectionTimeout, DefaultConnectionTimeout)
	c.DialTimeout = orDefault(c.DialTimeout, DefaultDialTimeout)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	return c, errors.Join(faults...)
}

// checkServer tells what is wrong with the address of a server.
func checkServer(s string) error {
	_, port, err := net.SplitHostPort(s)
	switch {
	case strings.Contains(s, "/"):
		return errors.New("want one host:port, or one host; a path, as of a connect string of Java's (chroot), goes before the namespace")
	case s == "" || strings.ContainsAny(s, ", "):
		return errors.New("want one host:port, or one host")
	case err == nil && port == "":
		return errors.New("want a port after the colon, or no colon")
	case err != nil && strings.Contains(s, ":"):
		return errors.New("want an IPv6 address with its port, as in [::1]:2181")
	}
	return nil
}

func checkNamespace(namespace string) error {
	if namespace == "" {
		return fmt.Errorf("%w: Namespace is empty: want the first part of every path", registry.ErrInvalid)
	}
	if err := registry.CheckPath(registry.Root + namespace); err != nil {
		return fmt.Errorf("namespace %q: %w", namespace, err)
	}
	if first, _, _ := strings.Cut(namespace, "/"); first == "zookeeper" {
		return fmt.Errorf("%w: Namespace is %q: ZooKeeper keeps its own nodes there", registry.ErrInvalid, namespace)
	}
	return nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// acl is what every node is created with.
func (c Config) acl() []zk.ACL {
	if c.Digest == "" {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.AuthACL(zk.PermAll)
}
