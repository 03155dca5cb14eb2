package remote_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

var errFull = errors.New("full")

func TestTranslate(t *testing.T) {
	t.Parallel()
	refusals := remote.Refusals{{errFull, registry.ErrNoSpace}}
	require.NoError(t, refusals.Translate(nil))
	require.NoError(t, refusals.Translate(errors.New("busy")))
	err := refusals.Translate(fmt.Errorf("put: %w", errFull))
	require.ErrorIs(t, err, registry.ErrNoSpace)
	require.ErrorIs(t, err, errFull)
	require.EqualError(t, err, "registry is out of space: put: full")
}

func TestGivenUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	err := remote.GivenUp(ctx, registry.ErrUnavailable, errFull)
	require.EqualError(t, err, "registry unavailable: context deadline exceeded (last try: full)")
	require.ErrorIs(t, err, errFull)
	err = remote.GivenUp(ctx, registry.ErrUnavailable, fmt.Errorf("get: %w", context.DeadlineExceeded))
	require.EqualError(t, err, "registry unavailable: context deadline exceeded")

	closed, end := context.WithCancelCause(t.Context())
	end(registry.ErrClosed)
	require.Equal(t, registry.ErrClosed, remote.GivenUp(closed, registry.ErrUnavailable, errFull))
	require.ErrorIs(t, remote.GivenUp(closed, registry.ErrUnknownOutcome, nil), registry.ErrUnknownOutcome)
}

func TestOpError(t *testing.T) {
	t.Parallel()
	require.NoError(t, remote.OpError("get", "/a", nil))
	require.EqualError(t, remote.OpError("get", "/a", registry.ErrNotFound), "get /a: node not found")
}
