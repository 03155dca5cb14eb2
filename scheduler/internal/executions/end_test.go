package executions

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// Code may hear that its session is over, by a checkpoint, before its context ends: it is cut short all the same.
func TestWhatCutsCodeShort(t *testing.T) {
	t.Parallel()
	errFailed := errors.New("failed")
	for name, tt := range map[string]struct {
		before func(under *room.Attachment, control *backend.SessionControl)
		err    error
		want   error
	}{
		"nothing":             {func(*room.Attachment, *backend.SessionControl) {}, errFailed, nil},
		"its session is over": {func(_ *room.Attachment, control *backend.SessionControl) { control.Lose(errFailed) }, errFailed, registry.ErrSessionLost},
		"the stop timeout is over": {func(under *room.Attachment, _ *backend.SessionControl) {
			under.CancelWork(stopping.ErrStopped)
		}, errFailed, stopping.ErrStopped},
		"it succeeds all the same": {func(under *room.Attachment, _ *backend.SessionControl) { under.CancelWork(stopping.ErrStopped) }, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session, control := backend.NewSession(7, time.Hour, backend.NewClock(), 0)
			defer control.Lose(registry.ErrClosed)
			e := &Execution{Under: room.NewAttachment(context.Background(), session)}
			tt.before(e.Under, control)
			require.ErrorIs(t, e.cutBefore(tt.err), tt.want)
		})
	}
}
