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
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// refusals are the answers of etcd that repeating does not change, and what they mean to users of
// the registry. Whatever is not in here, nor in refusedCodes, is a matter of time: no leader, a
// broken connection, an overloaded or restarting server.
var refusals = remote.Refusals{
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

// tooLargeForProxy is what gRPC says when something between here and the server, which speaks HTTP, takes no body as large.
const tooLargeForProxy = "unexpected HTTP status code received from server: 413"

// refusal translates an error of etcd into one of the registry if repeating the request would not
// help, with the error as its cause; otherwise it returns nil.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	if refused := refusals.Translate(err); refused != nil {
		return refused
	}
	code, text := describe(err)
	if code == codes.ResourceExhausted && strings.Contains(text, "message larger than max") {
		return fmt.Errorf("%w: %w", registry.ErrTooLarge, err)
	}
	if strings.HasPrefix(text, tooLargeForProxy) { // the server never had the whole of it
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
	var early endedEarlyError
	if errors.As(err, &early) {
		err = early.error
	}
	code, _ := describe(err)
	return errors.Is(err, context.DeadlineExceeded) || code == codes.DeadlineExceeded
}
