package cronexpr

import "time"

const (
	everyPrefix = "@every "

	// minPeriod keeps a slip of the unit, 5µs for 5m, from being a busy loop.
	minPeriod = time.Millisecond
)

var unixEpoch = time.Unix(0, 0).UTC()

// everySchedule fires at the whole multiples of period since the Unix epoch, plus an offset: the
// same instants in every process, whenever it was started. Zones do not matter to it.
type everySchedule struct {
	expr     string
	location *time.Location
	period   time.Duration
	phase    time.Duration // the fires less the multiples of period since the year 1, as Truncate counts
}

func parseEvery(expr string, o options) (Schedule, error) {
	period, err := parsePeriod(expr, everyPrefix)
	if err != nil {
		return nil, err
	}
	epoch := unixEpoch.Sub(unixEpoch.Truncate(period))
	return &everySchedule{
		expr: expr, location: o.location, period: period,
		phase: sumWithin(period, epoch, o.offset%period),
	}, nil
}

// sumWithin returns a+b modulo period. Each is below it, and b may be negative; periods of centuries leave no room for
// their sum.
func sumWithin(period, a, b time.Duration) time.Duration {
	if b > 0 {
		b -= period
	}
	if a += b; a < 0 {
		a += period
	}
	return a
}

func (s *everySchedule) String() string { return s.expr }

// Next implements [Schedule].
func (s *everySchedule) Next(after time.Time) time.Time {
	after, ok := bounded(after)
	if !ok {
		return time.Time{}
	}
	fire := after.Add(-s.phase).Truncate(s.period).Add(s.phase).Add(s.period)
	if !fire.Before(pastYears) {
		return time.Time{}
	}
	return fire.In(s.location)
}

// PeriodOf returns the time between two fires, if s is the schedule of "@every d". For any other schedule it returns
// false.
func PeriodOf(s Schedule) (time.Duration, bool) {
	s = unbound(s)
	if e, is := s.(*everySchedule); is {
		return e.period, true
	}
	return 0, false
}
