package actor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever waits hears of it, whether they began before or after it happened, and more than once is as once.
func TestAnEventHappensOnce(t *testing.T) {
	t.Parallel()
	for name, waitsBefore := range map[string]bool{"waited for": true, "before anybody waits": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e Event
			require.False(t, e.Has())
			var waiting []<-chan struct{}
			if waitsBefore {
				waiting = append(waiting, e.Done(), e.Done())
				select {
				case <-waiting[0]:
					require.Fail(t, "it has not happened")
				default:
				}
				require.False(t, e.Has())
			}
			for range 2 {
				e.Happen()
				require.True(t, e.Has())
			}
			for _, c := range append(waiting, e.Done()) {
				<-c
			}
		})
	}
}
