package scheduler_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// Java instances go on by the last good cron when the console stores another text, and so does this process.
func TestABadCronAmongJavaInstances(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"no cron":              "every now and then",
		"none of Java's":       "*/5 * * * *",
		"it never fires":       "0 0 0 1 1 ? 1999",
		"there is no such day": "0 0 0 31 2 ?",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var text bytes.Buffer
				log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelError}))
				c.startWith("a", nil, []scheduler.Option{scheduler.WithJavaPeers(), scheduler.WithLogger(log)}, sharedJob(1))
				sleepUntil(6 * time.Second)
				require.Len(t, c.take(), 1)
				cfg := sharedJob(1)
				cfg.Cron, cfg.JobParameter = bad, "new"
				put(t, c.server, orders.Config(), mustEncode(cfg))
				sleepUntil(16 * time.Second)
				runs := c.take()
				require.Len(t, runs, 2)
				require.Equal(t, "new", runs[0].sc.JobParameter, "the rest is in force")
				require.Equal(t, 1, bytes.Count(text.Bytes(), []byte("level=ERROR")), text.String())
				require.Contains(t, text.String(), bad)
				require.Contains(t, text.String(), "Cron")
				cfg.Cron = "0/3 * * * * ?"
				put(t, c.server, orders.Config(), mustEncode(cfg))
				sleepUntil(22 * time.Second)
				require.Equal(t, []string{"item 0 fire 18s scheduled on a", "item 0 fire 21s scheduled on a"}, c.shown())
			})
		})
	}
}

// Without Java instances a job with such a cron pauses, as it does if there never was a good one.
func TestABadCronElsewhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(1))
		sleepUntil(6 * time.Second)
		c.take()
		cfg := jobOf(1)
		cfg.Cron = "every now and then"
		put(t, c.server, orders.Config(), mustEncode(cfg))
		sleepUntil(16 * time.Second)
		require.Empty(t, c.take())
	})
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("a", nil, sharedJob(1))
		sleepUntil(6 * time.Second)
		c.take()
		c.java().do(registry.Delete(orders.Config()))
		sleepUntil(7 * time.Second)
		cfg := sharedJob(1)
		cfg.Cron = "every now and then"
		put(t, c.server, orders.Config(), mustEncode(cfg))
		sleepUntil(16 * time.Second)
		require.Empty(t, c.take(), "another job, which has no good one")
	})
}
