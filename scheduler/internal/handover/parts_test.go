package handover

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A job whose parts are used up makes all notes together that are left then, however many more there are by now: it comes to
// its end.
func TestALeaveComesToItsEnd(t *testing.T) {
	t.Parallel()
	var p Parts
	require.Equal(t, firstPart, p.Of(600, firstPart))
	for range 3 {
		require.Equal(t, 256, p.Of(600, 256))
		require.Equal(t, 20, p.Fitting(256, 20))
		require.Equal(t, 1, p.Fitting(256, 0))
		p.Made(true)
	}
	for range 2 {
		require.Equal(t, 700, p.Of(700, 256))
		require.Equal(t, 700, p.Fitting(700, 20))
		p.Made(true)
	}
}
