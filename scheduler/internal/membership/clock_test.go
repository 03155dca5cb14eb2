package membership

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// asking is a process that asks a clock for the registry's time.
type asking struct {
	*world
	clock *fires.ClockCheck
}

func (a asking) AskClock(age time.Duration, _ func()) { a.clock.Check(a.life, age) }

// clockOf is the clock of a registry.
type clockOf struct {
	ahead time.Duration // of the true clock
	err   error
	asked atomic.Int32
}

func (c *clockOf) ServerTime(context.Context) (time.Time, error) {
	c.asked.Add(1)
	return time.Now().Add(c.ahead), c.err
}

func TestWhichClocksAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit  time.Duration
		policy job.ClockPolicy
		ahead  time.Duration // the registry's clock
		err    error
		want   bool
		report bool
	}{
		"no limit":                    {0, job.ClockRefuse, time.Hour, nil, true, false},
		"within":                      {3 * time.Second, job.ClockRefuse, 3 * time.Second, nil, true, false},
		"within, behind":              {3 * time.Second, job.ClockRefuse, -3 * time.Second, nil, true, false},
		"beyond":                      {3 * time.Second, job.ClockRefuse, 3*time.Second + 1, nil, false, true},
		"beyond, behind":              {3 * time.Second, job.ClockRefuse, -3*time.Second - 1, nil, false, true},
		"beyond, and only a warning":  {3 * time.Second, job.ClockWarn, time.Hour, nil, true, true},
		"beyond, and no policy":       {3 * time.Second, "", time.Hour, nil, true, true},
		"not at all":                  {time.Nanosecond, job.ClockRefuse, time.Second + 1, nil, false, true},
		"as well as can be told":      {time.Nanosecond, job.ClockRefuse, time.Second, nil, true, false}, // else it would keep its items
		"not at all, a warning":       {time.Nanosecond, job.ClockWarn, 2, nil, true, true},
		"the registry's is not known": {3 * time.Second, job.ClockRefuse, time.Hour, registry.ErrUnsupported, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := &clockOf{ahead: test.ahead, err: test.err}
				var work sync.WaitGroup
				clock := &fires.ClockCheck{Wall: time.Now, Ask: c.ServerTime, Start: work.Go, Failed: func(error) {}}
				cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1}
				cfg.MaxTimeDiff, cfg.ClockPolicy = test.limit, test.policy
				m := New(asking{&world{life: t.Context()}, clock})
				v := room.View{Facts: &room.Facts{Process: &room.Process{Clock: clock}, Config: &cfg}}
				m.JudgeClock(v)
				require.False(t, m.Refuses(), "before anybody knows")
				work.Wait()
				require.Equal(t, test.limit != 0, c.asked.Load() == 1, "only jobs that want it ask")
				m.JudgeClock(v)
				require.Equal(t, test.want, !m.Refuses())
				require.Equal(t, test.report, m.clock.reported)
			})
		})
	}
}
