package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// An item comes to an instance whose job pauses. What it missed on its way cannot be told before there are
// settings again; then it runs like every other.
func TestAnItemComesWhileTheJobPauses(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		ran := make(map[int]int)
		cfg := job.NewConfig("orders", "0 * * * * ?", 2)
		cfg.MisfirePolicy, cfg.MisfireMax = job.MisfireAll, 10
		c.start("a", func(_ context.Context, sc job.ShardingContext) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			ran[sc.Item]++
			return nil
		}, cfg)
		sleepUntil(90 * time.Second)
		config := stored(t, c.server)["/orders/config"]
		mine := stored(t, c.server)["/orders/sharding/1/instance"]
		require.NotEmpty(t, mine)
		put(t, c.server, "/orders/config", "{")
		put(t, c.server, "/orders/sharding/1/instance", "10.9.9.9@-@gone")
		sleepUntil(100 * time.Second)
		put(t, c.server, "/orders/sharding/1/instance", mine)
		sleepUntil(200 * time.Second)
		put(t, c.server, "/orders/config", config)
		sleepUntil(310 * time.Second)
		c.mu.Lock()
		defer c.mu.Unlock()
		require.Equal(t, ran[0], ran[1])
		require.GreaterOrEqual(t, ran[1], 3)
	})
}
