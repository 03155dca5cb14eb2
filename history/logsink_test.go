package history_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
)

// The lines are what people and programs look for: a change of a key is a change of the API.
func TestTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	sink := history.NewLogSink(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "time" || a.Key == "id" {
				return slog.Attr{}
			}
			return a
		},
	})))
	start := history.Started("host-1", "R1", context7(), begin)
	byHand := context7()
	byHand.Fire, byHand.Token = time.Time{}, 0
	round := history.Round{ID: "R1", Job: "orders", TaskID: byHand.TaskID, Items: []int{7}, Began: begin, Ended: begin}
	failed := round
	failed.Failed = map[int]error{7: errors.New("out of stock")}
	require.NoError(t, sink.Write(t.Context(), []history.Event{
		round.Staged(), start, start.Ended(begin.Add(time.Second), nil, nil),
		history.Started("host-1", "R2", byHand, begin).Ended(begin.Add(time.Second), errors.New("out of stock"), nil),
		round.End(), failed.End(),
	}))
	common := `at=2026-03-01T10:00:01.000Z round=R1 job=orders item=7 source=misfire hostname=host-1 ip=10.0.0.1 `
	require.Equal(t, []string{
		`level=DEBUG msg=round at=2026-03-01T10:00:00.000Z round=R1 job=orders state=TASK_STAGING items=[7] ip=10.0.0.1 ` +
			`message="Job 'orders' execute begin."`,
		`level=DEBUG msg="item started" ` + strings.Replace(common, "00:01", "00:00", 1) + `fire=2026-03-01T09:59:59.000Z token=12`,
		`level=INFO msg="item succeeded" ` + common + `fire=2026-03-01T09:59:59.000Z token=12 duration=1s`,
		`level=WARN msg="item failed" ` + strings.Replace(common, "R1", "R2", 1) + `duration=1s cause="out of stock"`,
		`level=DEBUG msg=round at=2026-03-01T10:00:00.000Z round=R1 job=orders state=TASK_FINISHED items=[7] ip=10.0.0.1`,
		`level=WARN msg=round at=2026-03-01T10:00:00.000Z round=R1 job=orders state=TASK_ERROR items=[7] ip=10.0.0.1 ` +
			`message="{7=out of stock}"`,
	}, strings.Split(strings.TrimSpace(log.String()), "\n"))
}
