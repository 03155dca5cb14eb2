package scheduler

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/scheduler/internal/notify"
)

// listing is an observer.
type listing struct{}

func (l *listing) Observe(Event) {}

// Logs tell one function that observes from another.
func TestNamesOfObservers(t *testing.T) {
	t.Parallel()
	require.Equal(t, "*scheduler.listing", nameOf(&listing{}))
	require.Regexp(t, `scheduler\.TestNamesOfObservers\.func1$`, nameOf(ObserverFunc(func(Event) {})))
}

// An observer may change what it was given while others are still to be given theirs.
func TestWhatIsToldIsNotSharedForAMoment(t *testing.T) {
	t.Parallel()
	const items, rounds = 1000, 100
	heard := make(chan int, 2*rounds)
	hear := func(e Event) {
		failed := e.(RoundEvent).Failed
		heard <- len(failed)
		clear(failed)
	}
	o := &observers{all: []hearer{{Hearer: notify.NewHearer("first", hear, nil)}, {Hearer: notify.NewHearer("second", hear, nil)}}}
	for range rounds {
		failed := make(map[int]error, items)
		for n := range items {
			failed[n] = errors.New("out of stock")
		}
		o.observe(RoundEvent{Failed: failed})
	}
	for range 2 * rounds {
		require.Equal(t, items, <-heard)
	}
}
