package storeerrors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/storeerrors"
)

var errFull = errors.New("full")

func TestTranslate(t *testing.T) {
	t.Parallel()
	refusals := storeerrors.Refusals{{errFull, registry.ErrNoSpace}}
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
	err := storeerrors.GivenUp(ctx, registry.ErrUnavailable, errFull)
	require.EqualError(t, err, "registry unavailable: context deadline exceeded (last try: full)")
	require.ErrorIs(t, err, errFull)
	err = storeerrors.GivenUp(ctx, registry.ErrUnavailable, fmt.Errorf("get: %w", context.DeadlineExceeded))
	require.EqualError(t, err, "registry unavailable: context deadline exceeded")

	closed, end := context.WithCancelCause(t.Context())
	end(registry.ErrClosed)
	require.Equal(t, registry.ErrClosed, storeerrors.GivenUp(closed, registry.ErrUnavailable, errFull))
	require.ErrorIs(t, storeerrors.GivenUp(closed, registry.ErrUnknownOutcome, nil), registry.ErrUnknownOutcome)
}

func TestOp(t *testing.T) {
	t.Parallel()
	require.NoError(t, storeerrors.Op("get", "/a", nil))
	require.EqualError(t, storeerrors.Op("get", "/a", registry.ErrNotFound), "get /a: node not found")
}
