package access

import (
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Who makes up names from many addresses takes no more room than there is, whatever the year is, and nobody waits for that.
func TestFailuresTakeSoMuchRoom(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Time{time.Unix(0, 0), time.Date(2038, 1, 20, 0, 0, 0, 0, time.UTC)} {
		b, done := newBackoff(), make(chan struct{})
		go func() {
			defer close(done)
			for i := range mostFailures / 2 { // each counts three times
				b.wait("u"+strconv.Itoa(i), netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), "", now)
			}
		}()
		select {
		case <-done:
			require.LessOrEqual(t, len(b.entries), mostFailures+2)
		case <-time.After(2 * time.Minute):
			t.Fatalf("at %s, a login waits for ever", now)
		}
	}
}
