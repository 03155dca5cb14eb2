package scheduler

import (
	"context"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// ports is what every room may ask of its runner. It holds a function and not the runner, so that no room can reach the
// runner by a pointer (TestNoRoomHoldsTheRunner), and all rooms of a job share that one function: there may be thousands of
// jobs. What a room may ask beside that is in the file that has its name.
type ports struct{ runner func() *runner }

var _ room.Ports = ports{}

func (p ports) Life() context.Context { return p.runner().life }

func (p ports) Post(message func()) bool { return p.runner().box.Post(message) }

func (p ports) DecideAgain() { p.runner().decideAgain() }

func (p ports) Work(do func()) { p.runner().s.work.Go(do) }

func (p ports) Wake(in time.Duration) { p.runner().alarm.Set(in) }

func (p ports) Log() *slog.Logger { return p.runner().log }

func (p ports) AskClock(age time.Duration, told func()) {
	r := p.runner()
	if told != nil {
		r.s.clock.WhenAsked(told)
	}
	r.s.clock.Check(r.life, age)
}

func (p ports) Tell(level slog.Level, message string, err error, attrs ...any) {
	r := p.runner()
	r.s.repeated(level, message, r.name, err, attrs...)
}
