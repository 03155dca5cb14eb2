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
	{zk.ErrInvalidACL, registry.ErrDenied},
	{zk.ErrNoChildrenForEphemerals, registry.ErrUnsupported},
	{zk.ErrShortBuffer, registry.ErrTooLarge},
	{errQuota, registry.ErrNoSpace},
	{errUnimplemented, registry.ErrUnsupported},
}

// passing are the failures after which a request is tried again.
var passing = []error{
	zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrClosing, zk.ErrSessionExpired, zk.ErrSessionMoved,
}

var (
	errQuota         = errors.New("zk: quota exceeded")
	errUnimplemented = errors.New("zk: the server does not know this request")
)

// named gives names to errors of the server for which the client has none.
func named(err error) error {
	if err == nil {
		return nil
	}
	switch err.Error() {
	case "unknown error: -125":
		return errQuota
	case "unknown error: -6":
		return errUnimplemented
	default:
		return err
	}
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
