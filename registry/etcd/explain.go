package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// opError says what was tried on which path, and what an operator needs to know of a failure besides:
// which endpoints do not answer and what they last failed with, or which permission who lacks.
func (r *Registry) opError(op, path string, err error) error {
	return remote.OpError(op, path, r.explain(op, path, err))
}

func (r *Registry) explain(op, path string, err error) error {
	switch {
	case errors.Is(err, registry.ErrDenied):
		right, keys := r.rightOf(op, path)
		return lacks(err, r.client.Username, right, keys)
	case errors.Is(err, registry.ErrUnavailable), errors.Is(err, registry.ErrUnknownOutcome):
		return fmt.Errorf("%w (endpoints %s%s)", err, r.endpoints(), r.lastFailure.text(err))
	default:
		return err
	}
}

func (r *Registry) endpoints() string { return strings.Join(r.client.Endpoints(), ", ") }

// rightOf returns the permission that an operation takes, and on which keys. Some versions of etcd let nobody keep a session
// alive, or write in it, who may not write all that it holds.
func (r *Registry) rightOf(op, path string) (right, keys string) {
	switch op {
	case registry.OpGet:
		return "read", fmt.Sprintf("the key %q", r.ns.key(path))
	case registry.OpCommit:
		return "readwrite", fmt.Sprintf("the key %q, on one that a condition names, or on another one of the session", r.ns.key(path))
	case registry.OpLatch:
		return "readwrite", keysBetween(r.ns.around(path)) + ", or on another one of the session"
	case registry.OpSession:
		start, _ := r.ns.below(registry.Root)
		return "write", fmt.Sprintf("each key of the session, all of which begin with %q", start)
	default:
		return "read", keysBetween(r.ns.around(path))
	}
}

func keysBetween(start, end string) string { return fmt.Sprintf("the keys from %q to %q", start, end) }

// lacks adds to a denial who is denied what. A refused login, or none, is about the user alone.
func lacks(err error, user, right, keys string) error {
	who := fmt.Sprintf("user %q", user)
	if user == "" {
		who = "no user was given, and the client"
	}
	code, _ := describe(err)
	if !errors.Is(err, rpctypes.ErrPermissionDenied) && code != codes.PermissionDenied {
		return fmt.Errorf("%w (user %q)", err, user)
	}
	return fmt.Errorf("%w (%s lacks the permission %s on %s)", err, who, right, keys)
}

// lastFailure is what the store last failed with, until it answers.
type lastFailure struct{ last atomic.Pointer[failure] }

type failure struct {
	err error
	at  time.Time
}

// note takes down a failure. That the time was up alone says less than what is known already.
func (t *lastFailure) note(err error) {
	if errors.Is(err, context.DeadlineExceeded) && t.last.Load() != nil {
		return
	}
	t.last.Store(&failure{err, time.Now()})
}

func (t *lastFailure) answered() {
	if t.last.Load() != nil {
		t.last.Store(nil)
	}
}

// text tells the last failure, unless an error tells it.
func (t *lastFailure) text(known error) string {
	last := t.last.Load()
	if last == nil || strings.Contains(known.Error(), last.err.Error()) {
		return ""
	}
	return fmt.Sprintf("; %s ago: %v", time.Since(last.at).Round(time.Millisecond), last.err)
}
