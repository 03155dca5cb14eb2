package cronexpr

import (
	"fmt"
	"time"
)

// WithStart sets the beginning of the schedule: no fire is earlier than start. The zero time, the default, sets
// no bound.
func WithStart(start time.Time) Option {
	return func(o *options) error {
		o.window.start = start
		return nil
	}
}

// WithEnd sets the end of the schedule: no fire is later than end. The zero time, the default, sets no bound.
func WithEnd(end time.Time) Option {
	return func(o *options) error {
		o.window.end = end
		return nil
	}
}

// window is the time within which a schedule fires, both ends included; zero ends are open.
type window struct{ start, end time.Time }

// check tells what is wrong with a window.
func (w window) check() error {
	if !w.end.IsZero() && w.end.Before(w.start) {
		return fmt.Errorf("%w: the end, %s, is before the start, %s", ErrInvalidOption, w.end.Format(time.RFC3339), w.start.Format(time.RFC3339))
	}
	return nil
}

// bind returns the schedule of s's fires within w.
func (w window) bind(s Schedule) Schedule {
	if w == (window{}) {
		return s
	}
	return &windowSchedule{Schedule: s, window: w}
}

// windowSchedule has the fires of another schedule that lie within a window.
type windowSchedule struct {
	Schedule
	window window
}

// Next implements [Schedule].
func (s *windowSchedule) Next(after time.Time) time.Time {
	if after.Before(s.window.start) {
		after = s.window.start.Add(-1)
	}
	fire := s.Schedule.Next(after)
	if !s.window.end.IsZero() && fire.After(s.window.end) {
		return time.Time{}
	}
	return fire
}

// unbound returns what a window was put around; any other schedule itself.
func unbound(s Schedule) Schedule {
	if w, is := s.(*windowSchedule); is {
		return w.Schedule
	}
	return s
}
