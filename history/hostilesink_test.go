package history_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
)

// moody is an error that may be asked once what it is.
type moody struct{ asked *atomic.Int32 }

func (m moody) Error() string { return "moody" }

func (m moody) As(any) bool {
	if m.asked.Add(1) > 2 { // by who looks whether that works, and by who wants to know
		panic("asked too often")
	}
	return false
}

type moodySink struct{ err error }

func (m moodySink) Write(context.Context, []history.Event) error { return m.err }

// What a sink returns is asked where its own code ran: its methods may panic, too.
func TestASinkWhoseErrorPanics(t *testing.T) {
	t.Parallel()
	bus, err := history.NewBus(history.WithSink("moody", moodySink{moody{new(atomic.Int32)}}))
	require.NoError(t, err)
	bus.Start()
	bus.Post(history.Status{Job: "orders"})
	require.Eventually(t, func() bool { return bus.Stats()[0].Rejected > 0 }, time.Minute, 10*time.Millisecond)
	ended, end := context.WithCancel(t.Context())
	end()
	_ = bus.Close(ended) // the sink has not got the event
}
