package scheduler

import (
	"testing"

	"github.com/stretchr/testify/require"
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
