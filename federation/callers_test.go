package federation_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// What a caller has in its hands stays its own: a job is stored with what Add was given, also if a registry is away and the job
// is stored long after Add has returned.
func TestACallerGoesOnWithItsSettings(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]bool{"while a registry is away": true, "while all answer": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var isAway atomic.Bool
				isAway.Store(away)
				f := w.federate("c", func(_ context.Context, connect func() registry.Registry) (registry.Registry, error) {
					if isAway.Load() {
						return nil, errors.New("no way")
					}
					return connect(), nil
				}, federation.WithRule(func(cfg job.Config) string {
					cfg.Props["shop"] = "of the rule"
					return "b"
				}))
				stop := run(t, f)
				props, options := map[string]string{}, make([]scheduler.JobOption, 1)
				var heard [3]atomic.Int64
				for i, cfg := range jobs(3) {
					props["shop"] = fmt.Sprint(i)
					options[0] = scheduler.WithListener(job.ListenerFuncs{Before: func(context.Context, job.Round) error {
						heard[i].Add(1)
						return nil
					}})
					cfg.Props = props
					_, err := f.Add(t.Context(), cfg, counting(new(atomic.Int64)), options...)
					require.NoError(t, err)
				}
				isAway.Store(false)
				for range 600 { // while the jobs are brought to their home
					props["shop"] = "another"
					time.Sleep(100 * time.Millisecond)
				}
				for i, j := range f.Jobs() {
					cfg, _, err := j.Config()
					require.NoError(t, err)
					require.Equal(t, fmt.Sprintf("job-%02d", i), cfg.Name)
					require.Equal(t, map[string]string{"shop": fmt.Sprint(i)}, cfg.Props, cfg.Name)
					require.NotZero(t, heard[i].Load(), cfg.Name)
				}
				require.NoError(t, stop())
			})
		})
	}
}

// What was closed takes no job and does not run, and says so.
func TestAFederationThatWasClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f := w.federate("", nil)
		all := jobs(2)
		_, err := f.Add(t.Context(), all[0], counting(new(atomic.Int64)))
		require.NoError(t, err)
		require.NoError(t, f.Close(t.Context()))
		_, err = f.Add(t.Context(), all[1], counting(new(atomic.Int64)))
		require.ErrorIs(t, err, scheduler.ErrStopped)
		require.Len(t, f.Jobs(), 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, f.Run(ctx), scheduler.ErrStopped)
		require.NoError(t, ctx.Err(), "it ends at once")
		require.NoError(t, f.Close(t.Context()))
	})
}
