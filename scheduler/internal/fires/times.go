package fires

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/elasticron/elasticron/job"
)

// Times are what a job fires by. The zero Times are those of no job. Its jitter is none of them: it moves the begin of a fire
// and not the fire, so what was missed under another one was missed all the same.
type Times struct {
	cron, zone, daylightSaving string
	start, end                 time.Time
	offset                     time.Duration
}

// TimesOf returns the times of a configuration.
func TimesOf(cfg job.Config) Times {
	return Times{
		cron: cfg.Cron, zone: cfg.TimeZone, daylightSaving: string(cfg.DaylightSaving),
		start: cfg.StartTime, end: cfg.EndTime, offset: cfg.Offset,
	}
}

// Name returns a short name of the times, the same in every process. Notes of missed fires say by it
// that they are of these.
func (t Times) Name() string {
	h := fnv.New64a()
	// The jitter once stood where the 0 is.
	_, _ = fmt.Fprintf(h, "%q %q %q %d %d 0 %s", t.cron, t.zone, t.daylightSaving, unixOf(t.start), unixOf(t.end), secondsOf(t.offset))
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
