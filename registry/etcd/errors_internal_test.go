package etcd

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The next try gets more time after one that a server ended because its time was up, and not after one that was broken off.
func TestEndedEarlyTookTooLong(t *testing.T) {
	t.Parallel()
	for code, long := range map[codes.Code]bool{codes.DeadlineExceeded: true, codes.Canceled: false} {
		err := endedEarlyError{status.Error(code, "ended")}
		require.Equal(t, codes.Unavailable, status.Code(err))
		require.Equal(t, long, tookTooLong(err))
		require.ErrorContains(t, err, "ended")
	}
}
