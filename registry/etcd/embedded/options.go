package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"golang.org/x/crypto/bcrypt"

	"github.com/elasticron/elasticron/internal/option"
)

// ErrInvalidOption says that an option has a value that is not allowed. It is one error in all packages of this
// module with options: errors.Is finds it by the name that any of them gives it.
var ErrInvalidOption = option.ErrInvalid

// Option changes how a server is started.
type Option func(*options) error

type options struct {
	dir         string // empty = a temporary one
	address     string // of the clients' port; empty = a free port of 127.0.0.1
	tickMs      uint
	electionMs  uint
	bcryptCost  uint
	noFsync     bool
	quota       int64
	retention   time.Duration
	maxTxnOps   uint
	tls         transport.TLSInfo
	logger      *slog.Logger
	lastWords   func(error)
	exit        func(status int)
	httpAddress string                 // where HTTP is answered apart from gRPC; empty = on the clients' port
	free        func() (string, error) // finds an address of the loopback that nobody listens on
	closeTime   time.Duration          // how long a stop waits for connections that have said nothing
	stopTime    time.Duration          // how long it then waits for the server, without them
}

func newOptions(opts []Option) (*options, error) {
	o := &options{
		tickMs: 100, electionMs: 1000, bcryptCost: uint(bcrypt.DefaultCost),
		retention: 10 * time.Minute, maxTxnOps: embed.DefaultMaxTxnOps,
		lastWords: func(err error) { fmt.Fprintln(os.Stderr, err) }, exit: os.Exit,
		free: freeAddress, closeTime: 2 * time.Second, stopTime: 15 * time.Second,
	}
	faults := option.Apply(o, opts)
	if o.address != "" && !o.tls.ClientCertAuth && !onLoopback(o.address) {
		faults = append(faults, fmt.Errorf("%w: address %q is not of the loopback, such as 127.0.0.1:2379: everybody who reaches it could write; want that, or WithTLS with a clientCA",
			ErrInvalidOption, o.address))
	}
	return o, errors.Join(faults...)
}

// onLoopback tells whether only this machine can connect to an address.
func onLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// WithDir keeps the data in dir, which is created if need be and stays when the server is closed.
// The default is a temporary folder that Close removes. Two servers must not share a folder: one that finds another
// there waits three seconds for its end, and then returns [ErrInUse]. A server has its data in the folder member1 of it, and one
// that finds data beside that, but none of its own, returns [ErrMisplaced].
func WithDir(dir string) Option {
	return func(o *options) error {
		if dir == "" {
			return fmt.Errorf("%w: the folder of WithDir is empty", ErrInvalidOption)
		}
		o.dir = dir
		return nil
	}
}

// WithAddress has clients connect to address, a host and port such as "127.0.0.1:2379". The default
// is a free port of 127.0.0.1. An address that is not of the loopback interface is refused, unless [WithTLS] asks clients for
// certificates: whoever reaches the server may write. It is not for clusters.
func WithAddress(address string) Option {
	return func(o *options) error {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Errorf("%w: address %q is not host:port: %w", ErrInvalidOption, address, err)
		}
		o.address = address
		return nil
	}
}

// WithFastTest trades safety for speed, for tests: heartbeats each 10 ms and elections after 100 ms,
// so that a server is ready in less than 0.1 s and leases of 1 s are possible; no fsync, so that a
// crash of the machine loses data; passwords hashed cheaply. The defaults are etcd's: 100 ms, 1 s,
// fsync.
func WithFastTest() Option {
	return func(o *options) error {
		o.tickMs, o.electionMs, o.noFsync, o.bcryptCost = 10, 100, true, uint(bcrypt.MinCost)
		return nil
	}
}

// WithHeartbeat sets the heartbeat interval and the election timeout, of 1 ms resolution. The
// shortest lease that such a server grants is one and a half election timeouts, rounded up to
// seconds. The default is 100 ms and 1 s.
func WithHeartbeat(interval, election time.Duration) Option {
	return func(o *options) error {
		if interval < time.Millisecond || election < 5*interval {
			return fmt.Errorf("%w: heartbeat %s and election %s: want at least 1ms, and five heartbeats an election",
				ErrInvalidOption, interval, election)
		}
		o.tickMs, o.electionMs = uint(interval.Milliseconds()), uint(election.Milliseconds())
		return nil
	}
}

// WithQuota bounds the database to that many bytes; a full one refuses every write but deletes. The
// default, 0, is etcd's 2 GiB.
func WithQuota(bytes int64) Option {
	return func(o *options) error {
		if bytes < 0 {
			return fmt.Errorf("%w: quota %d is negative", ErrInvalidOption, bytes)
		}
		o.quota = bytes
		return nil
	}
}

// WithRetention keeps that much history of overwritten values; older history is compacted away by
// itself. The default is 10 minutes; 0 turns compaction off, and the database then only grows.
func WithRetention(d time.Duration) Option {
	return func(o *options) error {
		if d != 0 && d < time.Second {
			return fmt.Errorf("%w: retention %s: want 0 or at least 1s", ErrInvalidOption, d)
		}
		o.retention = d
		return nil
	}
}

// WithMaxTxnOps sets how many conditions or operations a transaction may hold. The default is 128.
func WithMaxTxnOps(n int) Option {
	return func(o *options) error {
		if n < 1 {
			return fmt.Errorf("%w: at most %d operations in a transaction: want at least 1", ErrInvalidOption, n)
		}
		o.maxTxnOps = uint(n)
		return nil
	}
}

// WithTLS has clients connect by TLS with the server's certificate and key, given as PEM files. With
// a clientCA, also a file, only clients with a certificate of that authority are served; empty asks
// for none. The default is no TLS.
func WithTLS(certFile, keyFile, clientCA string) Option {
	return func(o *options) error {
		if certFile == "" || keyFile == "" {
			return fmt.Errorf("%w: TLS needs a certificate %q and a key %q", ErrInvalidOption, certFile, keyFile)
		}
		o.tls = transport.TLSInfo{
			CertFile: certFile, KeyFile: keyFile, TrustedCAFile: clientCA, ClientCertAuth: clientCA != "",
		}
		return nil
	}
}

// WithSeparateHTTP answers HTTP on another port than gRPC, as installations do that shield the one
// from the other. Clients that use the endpoint for gRPC then find no HTTP there.
func WithSeparateHTTP() Option {
	return func(o *options) error {
		address, err := freeAddress()
		o.httpAddress = address
		return err
	}
}

// WithLogger has the server's warnings and errors, and what it is about to do, written to logger.
// The default is silence.
func WithLogger(logger *slog.Logger) Option {
	return func(o *options) error {
		if logger == nil {
			return fmt.Errorf("%w: the logger is nil", ErrInvalidOption)
		}
		o.logger = logger
		return nil
	}
}

// WithLastWords has say called with the reason when the server cannot go on, as on a full disk. Then the process ends with the
// status 1, as a program etcd does, or by a panic of etcd: nothing in it can rely on the server any more. say has a second, and
// should write to a log that keeps nothing back. The default writes a line to standard error.
func WithLastWords(say func(err error)) Option {
	return func(o *options) error {
		if say == nil {
			return fmt.Errorf("%w: the function of WithLastWords is nil", ErrInvalidOption)
		}
		o.lastWords = say
		return nil
	}
}
