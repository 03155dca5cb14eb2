package cronexpr

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestScheduleIsSmall: a process keeps one for each of its jobs, 10,000 of them.
func TestScheduleIsSmall(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, unsafe.Sizeof(fieldSchedule{}), uintptr(112))
	require.LessOrEqual(t, unsafe.Sizeof(everySchedule{}), uintptr(48))
}
