package patience_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/patience"
)

// The time before the registry is asked does not count.
func TestPatienceBeginsLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, takes := range []time.Duration{time.Second, 5 * time.Second} {
			p := patience.New(2 * time.Second)
			ctx := p.Within(t.Context())
			time.Sleep(time.Minute)
			bounded, end := patience.Begin(ctx)
			time.Sleep(takes)
			late := takes > 2*time.Second
			require.Equal(t, late, bounded.Err() != nil)
			end()
			require.Equal(t, late, p.Over())
		}
	})
}

// A context that ends by itself says nothing of the registry; one without a patience has no bound.
func TestAContextThatEnds(t *testing.T) {
	t.Parallel()
	p := patience.New(time.Hour)
	ctx, cancel := context.WithCancel(p.Within(t.Context()))
	bounded, end := patience.Begin(ctx)
	cancel()
	require.Error(t, bounded.Err())
	end()
	require.False(t, p.Over())
	plain, end := patience.Begin(t.Context())
	end()
	require.NoError(t, plain.Err())
}
