package worker

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/observe"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/worker/internal/output"
)

type nobody struct{}

func (nobody) Post(history.Event) {}

func wroteOf(text string) *output.Ends {
	ends := output.NewEnds(40)
	_, _ = ends.Write([]byte(text))
	return ends
}

// Of an execution that was tried several times, what each attempt wrote is kept, and no more than one may have.
func TestTheOutputsOfAttempts(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	one, other := job.ShardingContext{JobName: "orders", Token: 7, Fire: at}, job.ShardingContext{JobName: "orders", Token: 8, Fire: at.Add(time.Minute)}
	for name, test := range map[string]struct {
		attempts []string
		want     string
		bytes    int64
	}{
		"one":                      {[]string{"fine"}, "fine", 4},
		"nothing":                  {[]string{"", ""}, "", 0},
		"two":                      {[]string{"no disk\n", "fine\n"}, "--- attempt 1 ---\nno disk\n--- attempt 2 ---\nfine\n", 13},
		"the last one is silent":   {[]string{"no disk", "", ""}, "--- attempt 1 ---\nno disk\n--- attempt 2 ---\n--- attempt 3 ---\n", 7},
		"the first one was silent": {[]string{"", "fine"}, "--- attempt 1 ---\n--- attempt 2 ---\nfine\n", 4},
	} {
		k := &keeping{outputs: make(chan history.Output, 1), last: make(map[itemOf]wrote), Observer: observe.New(nobody{})}
		k.heard(other, wroteOf("of a former execution, whose end is not heard of"))
		for _, text := range test.attempts {
			k.heard(one, wroteOf(text))
		}
		k.Observe(scheduler.ItemEvent{Context: one, Began: at, Ended: at})
		if test.bytes == 0 {
			require.Empty(t, k.outputs, name)
			continue
		}
		o := <-k.outputs
		require.Equal(t, test.want, o.Text, name)
		require.Equal(t, test.bytes, o.Bytes, name)
		require.Empty(t, k.last)
	}

	many := wrote{}
	for range 1000 {
		many = many.and(wroteOf(strings.Repeat("x", 40)))
	}
	text := many.ends.String()
	require.Less(t, len(text), 200)
	require.Contains(t, text, "--- attempt 1 ---\n")
	require.Contains(t, text, "bytes are left out")
	require.Equal(t, int64(40_000), many.bytes)
}
