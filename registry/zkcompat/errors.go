package zkcompat

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// refusals are the answers of ZooKeeper that repeating does not change, and what they mean to users of
// the registry; refusal adds those that need more words. What is in neither table is a matter of time: a broken
// connection, an election.
var refusals = remote.Refusals{
	{zk.ErrAuthFailed, registry.ErrDenied},
	{errMustAuthenticate, registry.ErrDenied},
	{zk.ErrInvalidACL, registry.ErrDenied},
	{zk.ErrNoChildrenForEphemerals, registry.ErrUnsupported},
	{zk.ErrShortBuffer, registry.ErrTooLarge},
	{errQuota, registry.ErrNoSpace},
	{errUnimplemented, registry.ErrUnsupported},
	{errLocalSession, registry.ErrUnsupported},
}

// passing are the failures after which a request is tried again.
var passing = []error{
	zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrClosing, zk.ErrSessionExpired, zk.ErrSessionMoved,
}

var (
	errQuota         = errors.New("zk: quota exceeded")
	errUnimplemented = errors.New("zk: the server does not know this request: ZooKeeper 3.6 or later is needed")
	errThrottled     = errors.New("zk: the server has more requests than it takes, and drops some (throttling)")
	errLocalSession  = errors.New("zk: the servers have local sessions, which own no nodes: set localSessionsUpgradingEnabled=true " +
		"beside localSessionsEnabled=true, or neither")
	errMustAuthenticate = errors.New("zk: the servers let in only clients that authenticate: set Config.Digest, if they take the scheme " +
		"\"digest\" (enforce.auth.schemes); SASL is not supported")
)

// unnamed are the errors for which the client has no name, by their codes.
var unnamed = map[int32]error{
	-6: errUnimplemented, -120: errLocalSession, -124: errMustAuthenticate, -125: errQuota, -127: errThrottled,
}

// named gives names to errors of the server for which the client has none.
func named(err error) error {
	if err == nil {
		return nil
	}
	var code int32
	cause := err
	for errors.Unwrap(cause) != nil {
		cause = errors.Unwrap(cause)
	}
	if _, no := fmt.Sscanf(cause.Error(), "unknown error: %d", &code); no != nil || unnamed[code] == nil {
		return err
	}
	if cause == err { //nolint:errorlint // it asks whether there is more
		return unnamed[code]
	}
	return fmt.Errorf("%w: %w", err, unnamed[code])
}

// refusal translates an error of ZooKeeper into one of the registry if repeating the request would not
// help, with the error as its cause; otherwise it returns nil.
func refusal(err error) error {
	err = named(err)
	if errors.Is(err, zk.ErrNoAuth) {
		return fmt.Errorf("%w: the node belongs to another digest than Config.Digest: %w", registry.ErrDenied, err)
	}
	if errors.Is(err, zk.ErrBadArguments) || errors.Is(err, zk.ErrInvalidPath) {
		return fmt.Errorf("%w: ZooKeeper refuses control characters, private ones and those beyond U+FFEF, such as emoji, in a path, "+
			"and so in the name of a job: %w", registry.ErrInvalid, err)
	}
	return refusals.Translate(err)
}

// isBroken tells whether a try came to nothing as the connection did.
func isBroken(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrClosing)
}

func isPassing(err error) bool {
	for _, p := range passing {
		if errors.Is(err, p) {
			return true
		}
	}
	return false
}

// opError says what was tried on which path, and of a denial who lacks which permission. An outage names
// the server already.
func (r *Registry) opError(op, path string, err error) error {
	if errors.Is(err, registry.ErrDenied) {
		right := "to read"
		if op == registry.OpCommit || op == registry.OpLatch {
			right = "to create, write or delete"
		}
		err = fmt.Errorf("%w (%s lacks the permission %s %q, or one of the nodes above or below)", err, r.who(), right, r.ns.znode(path))
	}
	return remote.OpError(op, path, err)
}

// who says as whom this handle asks.
func (r *Registry) who() string {
	if user, _, given := strings.Cut(r.config.Digest, ":"); given {
		return fmt.Sprintf("the digest of user %q", user)
	}
	return "a client without a digest"
}
