package gocron

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry/memory"
)

// free is a lock that nobody else wants.
type free struct{}

func (free) Lock(context.Context, string) (gocron.Lock, error) { return free{}, nil }
func (free) Unlock(context.Context) error                      { return nil }

// Both sides run the job, in virtual time: gocron once for a fire, Elasticron each item once.
func TestBothSidesRun(t *testing.T) {
	t.Parallel()
	t.Run("gocron", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 11*time.Minute)
			defer stop()
			fires := make(chan struct{}, 100)
			require.NoError(t, withGocron(ctx, free{}, func(context.Context) error { fires <- struct{}{}; return nil }))
			require.Len(t, fires, 2)
		})
	})
	t.Run("Elasticron", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 11*time.Minute)
			defer stop()
			reg := memory.NewServer().Open("shop")
			items := make(chan int, 100)
			require.NoError(t, withElasticron(ctx, reg, func(_ context.Context, item, of int) error {
				if of != 8 {
					t.Errorf("item %d of %d", item, of)
				}
				items <- item
				return nil
			}))
			require.NoError(t, reg.Close(t.Context()))
			require.Len(t, items, 2*8)
		})
	})
}
