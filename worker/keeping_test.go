package worker

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/observe"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/worker/internal/output"
)

type nobody struct{}

func (nobody) Post(history.Event) {}

// keepingOf returns one whose outputs wait, as many as may.
func keepingOf(waiting int) *keeping {
	return &keeping{
		outputs: make(chan history.Output, waiting), last: make(map[itemOf]wrote), Observer: observe.New(nobody{}), log: slog.New(slog.DiscardHandler),
	}
}

func wroteOf(text string) *output.Ends {
	ends := output.NewEnds(40)
	_, _ = ends.Write([]byte(text))
	return ends
}

// Of an execution that was tried several times, what each attempt wrote is kept, and no more than one may have.
func TestTheOutputsOfAttempts(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	one, other := job.ShardingContext{JobName: "orders", Token: 7, Fire: at}, job.ShardingContext{JobName: "orders", Token: 6, Fire: at.Add(-time.Minute)}
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
		k := keepingOf(1)
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

// All outputs together stay within their bound, also if each item has few; what was there before counts, too.
func TestAllOutputsTogetherAreBounded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "made", "history.db")
	log := slog.New(slog.DiscardHandler)
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	const each = 4_000
	keep := func(size Size, from, to int) {
		k, err := openHistory(t.Context(), History{File: file, Keep: Duration(time.Hour), Outputs: 10, Size: size}, time.Minute, log)
		require.NoError(t, err)
		for n := from; n < to; n++ {
			sc := job.ShardingContext{JobName: "orders", Item: n, Token: int64(1 + n), Fire: at}
			ends := output.NewEnds(each)
			_, _ = ends.Write(bytes.Repeat([]byte("x"), each))
			k.heard(sc, ends)
			k.Observe(scheduler.ItemEvent{Context: sc, Began: at.Add(time.Duration(n) * time.Second), Ended: at.Add(time.Hour)})
		}
		require.NoError(t, k.close())
	}
	left := func() int {
		store, err := sqlite.Open(t.Context(), file)
		require.NoError(t, err)
		defer store.Close()
		found, err := store.Outputs(t.Context(), history.OutputQuery{Job: "orders", Limit: history.MaxOutputs})
		require.NoError(t, err)
		for _, o := range found {
			require.GreaterOrEqual(t, o.Item, 60-len(found), "the newest are kept")
		}
		return len(found)
	}
	keep(1<<30, 0, 60)
	require.Equal(t, 60, left())
	keep(50*(each+sqlite.OutputOverhead), 0, 0) // as after a restart with a lower bound
	require.Equal(t, 50, left())
	keep(20*(each+sqlite.OutputOverhead), 40, 60)
	require.LessOrEqual(t, left(), 21)
	require.GreaterOrEqual(t, left(), 19)
}

// The largest output that may be asked for fits into the smallest history: it is kept, whoever else's go.
func TestALargestOutputIsKept(t *testing.T) {
	t.Parallel()
	require.Greater(t, leastSize, history.MaxOutput+sqlite.OutputOverhead)
	file := filepath.Join(t.TempDir(), "history.db")
	k, err := openHistory(t.Context(), History{File: file, Keep: Duration(time.Hour), Outputs: 10, Size: leastSize}, time.Minute, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for n := range 3 {
		sc := job.ShardingContext{JobName: "orders", Item: n, Token: int64(1 + n), Fire: at}
		ends := output.NewEnds(mostOutput)
		_, _ = ends.Write(bytes.Repeat([]byte("x\xff"), 2*mostOutput)) // what is no UTF-8 takes more room than it had
		require.Greater(t, len(ends.String()), 4*mostOutput)
		k.heard(sc, ends)
		k.Observe(scheduler.ItemEvent{Context: sc, Began: at.Add(time.Duration(n) * time.Second), Ended: at.Add(time.Hour)})
	}
	require.NoError(t, k.close())
	store, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	defer store.Close()
	found, err := store.Outputs(t.Context(), history.OutputQuery{Job: "orders", Limit: history.MaxOutputs})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, 2, found[0].Item, "the newest")
}

// What a run that was given up wrote does not take the place of what the present run of the item wrote; what is left of
// one that had a token is in nobody's way.
func TestALateOutput(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	of := func(token int64, fire time.Duration) job.ShardingContext {
		return job.ShardingContext{JobName: "orders", Token: token, Fire: at.Add(fire)}
	}
	for name, test := range map[string]struct {
		former, present job.ShardingContext
	}{
		"with tokens":               {of(7, time.Hour), of(8, 0)}, // the later run is of an earlier fire, such as one that was missed
		"without":                   {of(0, 0), of(0, time.Hour)},
		"the former one with":       {of(7, 0), of(0, time.Hour)},
		"the present one with":      {of(0, 0), of(7, time.Hour)},
		"of the same fire, retaken": {of(7, 0), of(8, 0)},
	} {
		k := keepingOf(1)
		k.heard(test.former, wroteOf("before"))
		k.heard(test.present, wroteOf("one"))
		k.heard(test.former, wroteOf("late"))
		k.heard(test.present, wroteOf("two"))
		k.Observe(scheduler.ItemEvent{Context: test.present, Began: at, Ended: at})
		require.Len(t, k.outputs, 1, name)
		require.Equal(t, "--- attempt 1 ---\none\n--- attempt 2 ---\ntwo\n", (<-k.outputs).Text, name)
	}
}

// If the end of an execution is told when the next one has written already, what the former one wrote is lost, and the log says
// so. What the next one wrote is kept as its own.
func TestAnEndThatIsToldLate(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for name, tokens := range map[string][2]int64{"with tokens": {6, 7}, "without": {0, 0}} {
		former := job.ShardingContext{JobName: "orders", Token: tokens[0], Fire: at}
		next := job.ShardingContext{JobName: "orders", Token: tokens[1], Fire: at.Add(time.Second)}
		var logged bytes.Buffer
		k := keepingOf(2)
		k.log = slog.New(slog.NewTextHandler(&logged, nil))
		k.heard(former, wroteOf("former"))
		k.heard(next, wroteOf("next"))
		require.Equal(t, 1, strings.Count(logged.String(), notKept), name)
		k.Observe(scheduler.ItemEvent{Context: former, Began: at, Ended: at})
		require.Empty(t, k.outputs, name)
		k.Observe(scheduler.ItemEvent{Context: next, Began: at.Add(time.Second), Ended: at.Add(time.Second)})
		require.Len(t, k.outputs, 1, name)
		o := <-k.outputs
		require.Equal(t, "next", o.Text, name)
		require.Equal(t, at.Add(time.Second), o.Start, name)
		require.Empty(t, k.last, name)
	}
}

// A database whose file was deleted, or replaced, takes nothing. That is told, once.
func TestAHistoryThatIsTakenAway(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	file := filepath.Join(t.TempDir(), "history.db")
	k, err := openHistory(t.Context(), History{File: file, Keep: Duration(time.Hour), Outputs: 10, Size: leastSize}, time.Minute, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	told := func(times int) {
		t.Helper()
		for range 2 {
			k.look(t.Context())
		}
		require.Equal(t, times, strings.Count(log.String(), "level=ERROR msg=\"the file of the history was taken away"), log.String())
	}
	told(0)
	require.NoError(t, os.Rename(file, file+".1"))
	told(1)
	require.NoError(t, os.Rename(file+".1", file))
	told(1)
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	told(2)
	require.NoError(t, k.close())
}
