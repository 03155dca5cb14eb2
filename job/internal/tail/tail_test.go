package tail_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/job/internal/tail"
)

func TestTheEndIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 20).Draw(t, "most")
		b, all := tail.New(most), ""
		for _, part := range rapid.SliceOf(rapid.StringMatching(`[a-z]{0,30}`)).Draw(t, "parts") {
			n, err := b.Write([]byte(part))
			require.NoError(t, err)
			require.Equal(t, len(part), n)
			all += part
		}
		want := all
		if len(all) > most {
			want = "..." + all[len(all)-most:]
		}
		require.Equal(t, want, b.String())
	})
}

func TestTheEndIsText(t *testing.T) {
	t.Parallel()
	b := tail.New(4)
	_, err := b.Write([]byte(strings.Repeat("ü", 10) + "\n"))
	require.NoError(t, err)
	require.Equal(t, "...\uFFFDü", b.String())
}
