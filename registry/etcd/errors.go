package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticron/elasticron/registry"
)

// refusals are the answers of etcd that repeating does not change, and what they mean to users of
// the registry. Whatever is not in here, nor in refusedCodes, is a matter of time: no leader, a
// broken connection, an overloaded or restarting server.
var refusals = []struct{ cause, meaning error }{
	{rpctypes.ErrLeaseNotFound, registry.ErrSessionLost},
	{rpctypes.ErrNoSpace, registry.ErrNoSpace},
	{rpctypes.ErrRequestTooLarge, registry.ErrTooLarge},
	{rpctypes.ErrTooManyOps, registry.ErrTooLarge},
	{rpctypes.ErrDuplicateKey, registry.ErrInvalid},
	{rpctypes.ErrUserEmpty, registry.ErrDenied},
	{rpctypes.ErrAuthFailed, registry.ErrDenied},
	{rpctypes.ErrPermissionDenied, registry.ErrDenied},
	{rpctypes.ErrPermissionNotGranted, registry.ErrDenied},
}

// refusedCodes is the same for errors that etcd has no name for.
var refusedCodes = map[codes.Code]error{
	codes.PermissionDenied: registry.ErrDenied,
	codes.OutOfRange:       registry.ErrInvalid,
	codes.Unimplemented:    registry.ErrUnsupported,
}

// refusal translates an error of etcd into one of the registry if repeating the request would not
// help, with the error as its cause; otherwise it returns nil.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	for _, r := range refusals {
		if errors.Is(err, r.cause) {
			return fmt.Errorf("%w: %w", r.meaning, err)
		}
	}
	code, text := describe(err)
	if code == codes.ResourceExhausted && strings.Contains(text, "message larger than max") {
		return fmt.Errorf("%w: %w", registry.ErrTooLarge, err)
	}
	if meaning, ok := refusedCodes[code]; ok {
		return fmt.Errorf("%w: %w", meaning, err)
	}
	return nil
}

// describe returns the gRPC code and text of an error, also of those that etcd's client rewrote.
func describe(err error) (codes.Code, string) {
	var named rpctypes.EtcdError
	if errors.As(err, &named) {
		return named.Code(), named.Error()
	}
	if s, ok := status.FromError(err); ok {
		return s.Code(), s.Message()
	}
	return codes.Unknown, err.Error()
}

// tookTooLong tells whether a try ended because its time was up.
func tookTooLong(err error) bool {
	code, _ := describe(err)
	return errors.Is(err, context.DeadlineExceeded) || code == codes.DeadlineExceeded
}

// givenUp is the error of a call whose context ended before the store answered. last is what the
// last try came to; nil if there was none.
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

// opError says what was tried on which path.
func opError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &registry.OpError{Op: op, Path: path, Err: err}
}
