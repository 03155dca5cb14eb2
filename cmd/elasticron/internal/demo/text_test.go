package demo

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct{ want, got string }{
		{"0", grouped(0)},
		{"999", grouped(999)},
		{"1,000", grouped(1000)},
		{"3,340,555", grouped(3340555)},
		{"-1,000", grouped(-1000)},
		{"-100", grouped(-100)},
		{"999 B", size(999)},
		{"1.0 kB", size(1000)},
		{"127.6 MB", size(127562029)},
		{"1.0 MB", size(999_950)},
		{"9.2 EB", size(math.MaxInt64)},
		{"item 3", listed([]int{3})},
		{"items 0,3,6", listed([]int{0, 3, 6})},
		{"1 round", plural(1, "round")},
		{"1,200 rounds", plural(1200, "round")},
		{"2.3 s", seconds(2345 * time.Millisecond)},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.got)
	}
}
