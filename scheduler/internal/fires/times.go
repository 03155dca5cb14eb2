package fires

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/elasticron/elasticron/job"
)

// Times are what a job fires by. The zero Times are those of no job.
type Times struct {
	cron, zone, daylightSaving string
	start, end                 time.Time
	jitter, offset             time.Duration
}

// TimesOf returns the times of a configuration.
func TimesOf(cfg job.Config) Times {
	return Times{
		cron: cfg.Cron, zone: cfg.TimeZone, daylightSaving: string(cfg.DaylightSaving),
		start: cfg.StartTime, end: cfg.EndTime, jitter: cfg.Jitter, offset: cfg.Offset,
	}
}

// Name returns a short name of the times, the same in every process. Notes of missed fires say by it
// that they are of these.
func (t Times) Name() string {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%q %q %q %d %d %s %s", t.cron, t.zone, t.daylightSaving, unixOf(t.start), unixOf(t.end), secondsOf(t.jitter), secondsOf(t.offset))
	return strconv.FormatUint(h.Sum64(), 36)
}

// secondsOf is a number for whole seconds, as names of times have always had them.
func secondsOf(d time.Duration) string {
	if d%time.Second != 0 {
		return d.String()
	}
	return strconv.FormatInt(int64(d/time.Second), 10)
}

func unixOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
