package execution_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/execution"
)

// Code is told to come to an end by its channel or by a stop, and by nothing else that ends its context.
func TestWhoIsToldToComeToAnEnd(t *testing.T) {
	t.Parallel()
	open, closed := make(chan struct{}), make(chan struct{})
	close(closed)
	ended := func(by error) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(by)
		return ctx
	}
	for name, test := range map[string]struct {
		ctx   context.Context
		yield <-chan struct{}
		told  bool
	}{
		"nobody said so":                         {t.Context(), open, false},
		"outside of a scheduler":                 {t.Context(), nil, false},
		"the channel":                            {t.Context(), closed, true},
		"a stop":                                 {ended(execution.ErrStopped), open, true},
		"a stop, without a channel":              {ended(execution.ErrStopped), nil, true},
		"both":                                   {ended(execution.ErrStopped), closed, true},
		"a timeout, and the channel":             {ended(context.DeadlineExceeded), closed, true},
		"a timeout":                              {ended(context.DeadlineExceeded), open, false},
		"the end of the session":                 {ended(errors.New("session lost")), open, false},
		"a context of the code's own, in a stop": {execution.With(ended(execution.ErrStopped)), open, true},
	} {
		require.Equal(t, test.told, execution.Told(test.ctx, test.yield), name)
	}
}
