package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// attrOf returns the text of an attribute of a record; empty if it has none.
func attrOf(r slog.Record, key string) string {
	found := ""
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == key {
			found = a.Value.String()
		}
		return true
	})
	return found
}

// Two thousand executions that fail for one cause within ten seconds are a few lines, and the counts add up;
// another error of one of them, and another job, are told at once.
func TestExecutionsThatFailForOneCauseAreCounted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		log := newLedger()
		down := errors.New("connect to the shop's database: connection refused")
		work := func(_ context.Context, sc job.ShardingContext) error {
			if sc.JobName == "job-3" && sc.Item == 17 && sc.Fire.Second() == 7 {
				return errors.New("no such table: orders")
			}
			return down
		}
		cfgs := make([]job.Config, 10)
		for n := range cfgs {
			cfgs[n] = job.Config{Name: fmt.Sprintf("job-%d", n), Cron: "1-10 0 * * * ?", ShardingTotalCount: 20}
		}
		i := c.startWith("a", work, []scheduler.Option{scheduler.WithLogger(slog.New(log))}, cfgs...)
		sleepUntil(500 * time.Millisecond) // everything has its place
		log.take()
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 2_000)
		var first, other int
		for _, r := range log.take() {
			require.Equal(t, "item failed", r.Message)
			require.Equal(t, int64(1), timesOf(r))
			if strings.Contains(attrOf(r, "error"), "no such table") {
				other++
			} else {
				first++
			}
		}
		require.Equal(t, len(cfgs), first, "the first of each job")
		require.Equal(t, 1, other, "the other error")

		sleepUntil(2 * time.Minute) // nothing fails any more
		told := int64(first + other)
		var over int64
		records := log.take()
		require.Len(t, records, 2*len(cfgs))
		for _, r := range records {
			if r.Message == repeats.Over {
				over += timesOf(r)
				continue
			}
			told += timesOf(r)
			require.Equal(t, down.Error(), attrOf(r, "error"))
			require.Contains(t, attrOf(r, "job"), "job-")
			require.NotEmpty(t, attrOf(r, "item"))
		}
		require.Equal(t, int64(2_000), told)
		require.Equal(t, int64(1_999), over)
		i.stop(t)
	})
}

// What a stop finds counted and not told is told.
func TestAStopTellsWhatWasCountedOfExecutions(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		log := newLedger()
		work := func(context.Context, job.ShardingContext) error { return errors.New("spoiled") }
		i := c.startWith("a", work, []scheduler.Option{scheduler.WithLogger(slog.New(log))}, jobOf(10))
		sleepUntil(6 * time.Second)
		i.stop(t)
		var failed []int64
		for _, r := range log.take() {
			if r.Message == "item failed" {
				failed = append(failed, timesOf(r))
			}
		}
		require.Equal(t, []int64{1, 9}, failed)
	})
}
