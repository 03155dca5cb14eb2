package federation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
)

// Each transaction of a mover takes its time. Whichever of its steps a fire comes in, also between the copy and the first look
// of those who take the job up, it is run once.
func TestFiresBetweenTheCopyAndTheNewHome(t *testing.T) {
	t.Parallel()
	for offset := range 20 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			all := jobs(1)
			for range 2 {
				w.start(to("b"), all)
			}
			began := time.Now()
			time.Sleep(30*time.Second + time.Duration(offset)*500*time.Millisecond)
			d, closed := w.operator(func() error {
				time.Sleep(time.Second)
				return nil
			})
			defer closed()
			moved, err := d.Move(t.Context(), all[0].Name, "c", home.MoveOptions{})
			require.NoError(t, err)
			require.True(t, moved.Done)
			time.Sleep(time.Minute)
			w.book.ranEveryFire(all, began, time.Now().Add(-10*time.Second))
			w.stop()
		})
	}
}
