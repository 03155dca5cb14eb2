package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// An item comes to an instance whose job pauses, after a fire that it missed on its way and that the instance
// ticked. That cannot be told before there are settings again; then it is made up, and the item runs like every
// other.
func TestAnItemComesWhileTheJobPauses(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 2}
		cfg.Misfire, cfg.MisfireMax = job.MisfireAll, 10
		c.start("a", nil, cfg)
		b := c.start("b", nil, cfg)
		sleepUntil(58 * time.Second)
		moved := slices.IndexFunc([]string{c.state().Owner(0), c.state().Owner(1)}, func(owner string) bool { return owner == fullID("b") })
		b.crash(t)
		sleepUntil(60500 * time.Millisecond)
		config := stored(t, c.server)["/orders/config"]
		put(t, c.server, "/orders/config", "{")
		sleepUntil(100 * time.Second)
		require.Equal(t, fullID("b"), c.state().Owner(moved), "nobody moves items meanwhile")
		put(t, c.server, fmt.Sprintf("/orders/sharding/%d/instance", moved), fullID("a"))
		sleepUntil(200 * time.Second)
		require.Equal(t, fullID("a"), c.state().Owner(moved))
		c.take() // the other item's
		put(t, c.server, "/orders/config", config)
		sleepUntil(241 * time.Second)
		require.Equal(t, []string{
			fmt.Sprintf("item %d fire 1m0s misfire on a", moved), fmt.Sprintf("item %d fire 4m0s scheduled on a", moved),
		}, slices.DeleteFunc(c.shown(), func(run string) bool { return !strings.HasPrefix(run, fmt.Sprintf("item %d ", moved)) }))
	})
}
