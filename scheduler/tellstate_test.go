package scheduler_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// What operators change is told once, however many items it is about.
func TestWhatOperatorsChangeIsTold(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		a := c.startWith("a", nil, []scheduler.Option{scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}, jobOf(5))
		hand := c.server.Open("test")
		commit := func(writes ...registry.Write) {
			_, err := hand.Commit(t.Context(), registry.Txn{Then: writes})
			require.NoError(t, err)
			time.Sleep(2 * time.Second)
		}
		require.Zero(t, log.count("enabled"))
		commit(registry.Put("/orders/sharding/1/disabled", ""), registry.Put("/orders/sharding/3/disabled", ""))
		require.Contains(t, log.line("items disabled"), `items="[1 3]"`)
		commit(registry.Put("/orders/sharding/1/disabled", "x")) // is so already
		commit(registry.Delete("/orders/sharding/1/disabled"), registry.Delete("/orders/sharding/3/disabled"))
		require.Contains(t, log.line("items enabled"), `items="[1 3]"`)
		commit(registry.Put("/orders/servers/10.0.0.1", "DISABLED"))
		require.Contains(t, log.line("server disabled"), "server=10.0.0.1")
		commit(registry.Put("/orders/servers/10.0.0.1", ""))
		require.Contains(t, log.line("server enabled"), "server=10.0.0.1")
		orders, err := a.Job("orders")
		require.NoError(t, err)
		disable := func(disabled bool) {
			cfg, _, err := orders.Config()
			require.NoError(t, err)
			cfg.Disabled = disabled
			text, err := jobtree.EncodeConfig(cfg)
			require.NoError(t, err)
			commit(registry.Put("/orders/config", text))
		}
		disable(true)
		require.Contains(t, log.line(`reason="the server is disabled"`), "resigned as leader")
		require.Contains(t, log.line(`reason="the job is disabled"`), "resigned as leader")
		require.Contains(t, log.line("job disabled, nothing of it begins on any server"), "job=orders")
		disable(false)
		require.Contains(t, log.line("job enabled"), "job=orders")
		commit(registry.Delete("/orders/instances/" + fullID("a")))
		require.NotEmpty(t, log.line("joined again"))
		a.registry.Expire()
		time.Sleep(20 * time.Second)
		require.Equal(t, 2, log.count(`msg="joined again"`))
		for _, once := range []string{"items disabled", "items enabled", "job disabled", "job enabled", "server disabled", "server enabled", "msg=joined"} {
			require.Equal(t, 1, log.count(once), once)
		}
		disable(true)
		commit(registry.Delete("/orders/config")) // as a removal does
		require.NotEmpty(t, log.line("job was removed from the registry"))
		require.Equal(t, 1, log.count("job enabled"))
		require.Equal(t, 2, log.count("job disabled"))
		require.NoError(t, hand.Close(t.Context()))
	})
}
