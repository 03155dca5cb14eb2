package console_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/scheduler"
)

// What is asked for through a server is done by a real scheduler, and waited for until it is.
func TestOperationsThatAreFollowed(t *testing.T) {
	t.Parallel()
	s := start(t, access.Config{})
	running, err := scheduler.New(s.reg)
	require.NoError(t, err)
	code := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		if sc.TriggerParameter == "fail" && sc.Item == 1 {
			return errors.New("exit 3")
		}
		return nil
	})
	_, err = running.Add(t.Context(), job.Config{Name: "mail", Cron: "0 0 3 1 1 ?", ShardingTotalCount: 2}, code)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ended)
	}()
	<-running.Ready()
	shop, err := client.Open(client.Config{URL: s.url, Namespace: "shop"})
	require.NoError(t, err)
	defer func() { require.NoError(t, shop.Close(context.Background())) }()

	waits := operate.Options{Wait: true}
	bounded, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	result, err := shop.Trigger(bounded, "mail", operate.Trigger{}, waits)
	require.NoError(t, err)
	require.Len(t, result.Progress.Items, 2)
	for _, item := range result.Progress.Items {
		require.Equal(t, operate.ItemSucceeded, item.State)
	}
	result, err = shop.Trigger(bounded, "mail", operate.Trigger{Parameter: "fail"}, waits)
	require.NoError(t, err)
	require.Len(t, result.Progress.Failed(), 1)
	require.Equal(t, "exit 3", result.Progress.Failed()[0].Error)

	fires, err := shop.Fires(bounded, "mail", time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	require.Len(t, fires, 2)
	filled, err := shop.Backfill(bounded, "mail", fires, operate.Trigger{}, operate.Options{})
	require.NoError(t, err)
	require.Len(t, filled.Done, 2)
	require.Empty(t, filled.Left)
	filled, err = shop.Backfill(bounded, "mail", fires, operate.Trigger{Parameter: "fail"}, operate.Options{})
	var items *operate.ItemsFailedError
	require.ErrorAs(t, err, &items)
	require.ErrorContains(t, err, "fire 2024-01-01T03:00:00Z: item 1 failed (exit 3)")
	require.Len(t, filled.Left, 1)

	_, err = shop.DisableJob(bounded, "mail", waits)
	require.NoError(t, err)
	_, err = shop.EnableJob(bounded, "mail", waits)
	require.NoError(t, err)
	list, err := shop.DisableServerEverywhere(bounded, serverOf(bounded, t, shop), waits)
	require.NoError(t, err)
	require.True(t, list[0].Result.Progress.Done)
	_, err = shop.Remove(bounded, "mail", operate.Options{Force: true})
	require.NoError(t, err)
}

// serverOf returns the address at which the only instance lives.
func serverOf(ctx context.Context, t *testing.T, shop *client.Namespace) string {
	t.Helper()
	ns, err := operate.ReadNamespace(ctx, shop, time.Now())
	require.NoError(t, err)
	require.Len(t, ns.Instances(), 1)
	return ns.Instances()[0].Server
}
