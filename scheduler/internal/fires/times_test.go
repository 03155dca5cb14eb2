package fires

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// minute is a fire that comes some minutes after a fixed time.
func minute(n int) time.Time {
	return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

// Notes are compared by what a job fires by, the same in every process and after every restart.
func TestTheNameOfTimes(t *testing.T) {
	t.Parallel()
	a := Times{cron: "0 * * * * ?", zone: "Europe/Berlin", start: minute(1)}
	same := a
	same.start = same.start.In(time.FixedZone("elsewhere", 3600))
	require.Equal(t, a.Name(), same.Name())
	require.Equal(t, "1crc04gmermot", a.Name(), "what was noted by an earlier version is still known")
	for _, change := range []func(*Times){
		func(t *Times) { t.cron = "1 * * * * ?" }, func(t *Times) { t.zone = "" }, func(t *Times) { t.daylightSaving = "quartz" },
		func(t *Times) { t.start = time.Time{} }, func(t *Times) { t.end = minute(9) }, func(t *Times) { t.offset = time.Second },
	} {
		other := a
		change(&other)
		require.NotEqual(t, a.Name(), other.Name())
	}
}
