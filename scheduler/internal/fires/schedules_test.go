package fires

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

func TestJobsThatFireBySameTimesShareASchedule(t *testing.T) {
	t.Parallel()
	var s Schedules
	cfg := job.Config{Name: "orders", Cron: "0 0 8 * * ?", TimeZone: "Europe/Berlin"}
	first, err := s.Of(cfg)
	require.NoError(t, err)
	alone, err := cfg.Schedule()
	require.NoError(t, err)
	require.Equal(t, alone.Next(minute(0)), first.Next(minute(0)))
	same := cfg
	same.Name, same.Misfire = "bills", job.MisfireAll
	again, err := s.Of(same)
	require.NoError(t, err)
	require.Same(t, first, again)

	for name, change := range map[string]func(*job.Config){
		"cron":     func(c *job.Config) { c.Cron = "0 0 9 * * ?" },
		"zone":     func(c *job.Config) { c.TimeZone = "" },
		"daylight": func(c *job.Config) { c.DaylightSaving = "quartz" },
		"start":    func(c *job.Config) { c.StartTime = minute(7) },
		"end":      func(c *job.Config) { c.EndTime = minute(7) },
		"offset":   func(c *job.Config) { c.Cron, c.Offset = "@every 1h", time.Minute },
	} {
		other := cfg
		change(&other)
		schedule, err := s.Of(other)
		require.NoError(t, err, name)
		require.NotEqual(t, first, schedule, name)
	}
	cfg.Cron = "never"
	_, err = s.Of(cfg)
	require.Error(t, err)
}

// What is kept is bounded, whatever jobs come and go.
func TestSchedulesAreBounded(t *testing.T) {
	t.Parallel()
	var s Schedules
	for n := range 3 * schedulesKept {
		_, err := s.Of(job.Config{Cron: fmt.Sprintf("%d %d * * * ?", n%60, n/60)})
		require.NoError(t, err)
		require.LessOrEqual(t, len(s.all), schedulesKept)
	}
}
