package scheduler

import (
	"context"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/load"
)

// LoadHealth tells whether this process can begin all that it should.
type LoadHealth struct {
	// Overloaded is true while fires pass that could not begin in time although nothing else kept them
	// from it: more is wanted than the registry, or this machine, can take.
	Overloaded bool `json:"overloaded"`
	// Wanted are the fires of this process's items in the last second of an overload, Begun those of them
	// and of earlier ones that began, Dropped those that could not and went by; all 0 without overload.
	Wanted  int64 `json:"wanted"`
	Begun   int64 `json:"begun"`
	Dropped int64 `json:"dropped"`
}

func loadHealth(s load.Second) LoadHealth {
	return LoadHealth{Overloaded: s.Overloaded, Wanted: s.Wanted, Begun: s.Begun, Dropped: s.Dropped}
}

// tellLoad tells the observer of a second of an overload, and the log now and then.
func (s *Scheduler) tellLoad(told load.Report) {
	s.observer.observe(LoadEvent{LoadHealth: loadHealth(told.Second), Interval: told.Interval})
	level, text := slog.LevelWarn, ""
	switch told.Line {
	case load.NoLine:
		return
	case load.Begins:
		text = "more fires are due than can begin in time, the others are missed ones"
	case load.Lasts:
		text = "still more fires are due than can begin in time"
	case load.Ends:
		level, text = slog.LevelInfo, "all fires begin in time again; of the overload"
	}
	s.log.Log(context.Background(), level, text, "wanted", told.Sum.Wanted, "begun", told.Sum.Begun,
		"dropped", told.Sum.Dropped, "interval", told.Sum.Interval.Round(time.Millisecond).String())
}
