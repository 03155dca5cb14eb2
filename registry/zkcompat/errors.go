package zkcompat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
)

// refusals are the answers of ZooKeeper that repeating does not change, and what they mean to users of
// the registry. What is in neither table is a matter of time: a broken connection, an election.
var refusals = []struct{ cause, meaning error }{
	{zk.ErrNoAuth, registry.ErrDenied},
	{zk.ErrAuthFailed, registry.ErrDenied},
	{zk.ErrInvalidACL, registry.ErrDenied},
	{zk.ErrBadArguments, registry.ErrInvalid},
	{zk.ErrInvalidPath, registry.ErrInvalid},
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
	if err == nil {
		return nil
	}
	err = named(err)
	for _, r := range refusals {
		if errors.Is(err, r.cause) {
			if errors.Is(err, zk.ErrNoAuth) {
				return fmt.Errorf("%w: the node belongs to another digest than Config.Digest: %w", r.meaning, err)
			}
			return fmt.Errorf("%w: %w", r.meaning, err)
		}
	}
	return nil
}

func isPassing(err error) bool {
	for _, p := range passing {
		if errors.Is(err, p) {
			return true
		}
	}
	return false
}

// givenUp is the error of a call whose context ended before the store answered. last is what the last
// try came to; nil if there was none.
func givenUp(ctx context.Context, meaning, last error) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, registry.ErrClosed) && errors.Is(meaning, registry.ErrUnavailable) {
		return registry.ErrClosed
	}
	if last == nil || errors.Is(last, cause) {
		return fmt.Errorf("%w: %w", meaning, cause)
	}
	return fmt.Errorf("%w: %w (last try: %w)", meaning, cause, last)
}

// opError says what was tried on which path, and of a denial who lacks which permission. An outage names
// the server already.
func (r *Registry) opError(op, path string, err error) error {
	if errors.Is(err, registry.ErrDenied) {
		user, _, given := strings.Cut(r.config.Digest, ":")
		who := "a client without a digest"
		if given {
			who = fmt.Sprintf("the digest of user %q", user)
		}
		right := "to read"
		if op == "commit" || op == "latch" {
			right = "to create, write or delete"
		}
		err = fmt.Errorf("%w (%s lacks the permission %s %q, or one of the nodes above or below)", err, who, right, r.ns.znode(path))
	}
	return opError(op, path, err)
}

// opError says what was tried on which path.
func opError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &registry.OpError{Op: op, Path: path, Err: err}
}
