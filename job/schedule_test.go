package job_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/job"
)

func TestScheduleIsInTheZoneOfTheJob(t *testing.T) {
	t.Parallel()
	after := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for zone, want := range map[string]int{"": 9, "UTC": 9, "Europe/Berlin": 7, "America/New_York": 13} {
		c := job.Config{Name: "orders", Cron: "0 0 9 * * ?", ShardingTotalCount: 1}
		c.TimeZone = zone
		schedule, err := c.Schedule()
		require.NoError(t, err)
		require.Equal(t, time.Date(2026, 7, 1, want, 0, 0, 0, time.UTC), schedule.Next(after).UTC(), "zone %q", zone)
	}
}

func TestScheduleFollowsTheDaylightSavingOfTheJob(t *testing.T) {
	t.Parallel()
	// On 2026-03-29 the clocks of Berlin go from 2:00 to 3:00.
	after := time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)
	next := func(mode job.DaylightSaving) time.Time {
		c := job.Config{Name: "orders", Cron: "0 30 2 * * ?", ShardingTotalCount: 1}
		c.TimeZone, c.DaylightSaving = "Europe/Berlin", mode
		schedule, err := c.Schedule()
		require.NoError(t, err)
		return schedule.Next(after).UTC()
	}
	require.Equal(t, time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), next(""), "right after the gap")
	require.Equal(t, time.Date(2026, 3, 30, 0, 30, 0, 0, time.UTC), next(job.DaylightSavingQuartz), "the next day")
}

func TestWordsOfDaylightSavingAreThoseOfCronexpr(t *testing.T) {
	t.Parallel()
	require.Equal(t, cronexpr.Quartz.String(), job.DaylightSavingQuartz.String())
	require.Equal(t, cronexpr.Natural.String(), job.DaylightSavingNatural.String())
}

func TestScheduleOfFaultyFields(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "orders", Cron: "nonsense", ShardingTotalCount: 1}
	c.TimeZone = "Mars/Base"
	schedule, err := c.Schedule()
	require.Nil(t, schedule)
	require.ErrorContains(t, err, "Cron")
	require.ErrorContains(t, err, "TimeZone")
}

func TestScheduleIsMovedByTheOffsetOfTheJob(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "orders", Cron: "@every 1m", ShardingTotalCount: 1}
	c.Offset = 80 * time.Second
	schedule, err := c.Schedule()
	require.NoError(t, err)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, noon.Add(20*time.Second), schedule.Next(noon))
	require.NoError(t, c.Validate())
}
