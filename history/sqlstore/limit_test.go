package sqlstore_test

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history/sqlstore"
)

const day = 24 * time.Hour

// retaining is a store whose process keeps events for ten days, by a clock that the test sets.
type retaining struct {
	*sqlstore.Store
	t     *testing.T
	clock time.Time
	log   bytes.Buffer
	round func()
}

func retain(t *testing.T, p place) *retaining {
	t.Helper()
	r := &retaining{t: t, clock: begin}
	r.Store = p.over(t, p.open(t), sqlstore.WithLogger(slog.New(slog.NewTextHandler(&r.log, nil))))
	sqlstore.SetClock(r.Store, func() time.Time { return r.clock })
	round := sqlstore.Rounds(r.Store, 10*day)
	r.round = func() { round(t.Context()) }
	return r
}

// begins has an item begin now, by the clock of the process.
func (r *retaining) begins(item int) { write(r.t, r.Store, started(item, r.clock)) }

// left has the process delete what is old, twice, and compares what is left, by items.
func (r *retaining) left(want ...int) {
	r.t.Helper()
	for range 2 {
		r.round()
		var got []int
		for _, e := range all(r.t, r.Store) {
			got = append(got, e.Item)
		}
		require.Equal(r.t, want, got)
	}
}

// says compares what the log said since it was asked last.
func (r *retaining) says(times int, line string) {
	r.t.Helper()
	require.Equal(r.t, times, strings.Count(r.log.String(), line), r.log.String())
	require.NotContains(r.t, r.log.String(), "could not be deleted")
	r.log.Reset()
}

// The clock of the only process leaps ahead by far more than events are kept. What it writes by it does not confirm it, until a
// day of events has passed.
func testRetainAfterALeap(t *testing.T, p place) {
	const said = `level=WARN msg="events came after a pause, or this clock is ahead`
	r := retain(t, p)
	for n := range 12 {
		r.clock = begin.Add(time.Duration(n) * day)
		r.begins(n)
		r.left([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}[max(0, n-10) : n+1]...)
	}
	right := r.clock
	r.says(0, said)
	leapt := right.Add(400 * day)
	for n, after := range []time.Duration{0, time.Hour, 23 * time.Hour} {
		r.clock = leapt.Add(after)
		r.begins(20 + n)
		r.left(append([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, []int{20, 21, 22}[:n+1]...)...)
	}
	r.says(1, said)

	r.clock = right.Add(day) // it was set right
	r.begins(12)
	r.left(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 21, 22)
	r.says(0, said)

	r.clock = leapt.Add(25 * time.Hour) // it was a pause after all
	r.begins(23)
	r.left(20, 21, 22, 23)
	r.says(0, said)
}

// After a pause that is shorter than events are kept, they are kept for its length longer, which is no cause for alarm.
func testRetainAfterAPause(t *testing.T, p place) {
	r := retain(t, p)
	r.begins(0)
	r.clock = begin.Add(3 * day)
	r.begins(1)
	r.clock = begin.Add(8 * day)
	r.begins(2)
	r.left(0, 1, 2)
	require.Empty(t, r.log.String())
	r.clock = begin.Add(12 * day)
	r.begins(3)
	r.left(1, 2, 3)
	r.clock = begin.Add(17 * day)
	r.begins(4)
	r.left(1, 2, 3, 4)
	r.says(1, `level=INFO msg="events came after a pause, or this clock is ahead`)
	r.clock = begin.Add(18*day + time.Hour)
	r.begins(5)
	r.left(3, 4, 5)
}

// An idle system keeps what it has where nothing confirms its clock, and says so once.
func testRetainWhenIdle(t *testing.T, p place) {
	r := retain(t, p)
	r.begins(0)
	for n := range 3 {
		r.clock = begin.Add(time.Duration(n)*day + 9*day)
		r.left(0)
		r.says(map[bool]int{true: 1}[n == 2], `level=INFO msg="nothing confirms this clock, as no event is new: old events stay"`)
	}
}

// The clock of a database on another machine confirms that of the process, or does not; also while nothing comes.
func testRetainByTheClockOfTheDatabase(t *testing.T, p place) {
	if p.dialect == sqlstore.SQLite {
		t.Skip("a file has no clock")
	}
	const said = `level=WARN msg="this clock is ahead of the database's, by which old events are deleted"`
	now := time.Now().UTC().Truncate(time.Millisecond)
	r := retain(t, p)
	sqlstore.SetElsewhere(r.Store)
	for n, age := range []time.Duration{30 * day, 11 * day, 9 * day} {
		write(t, r.Store, started(n, now.Add(-age)))
	}
	r.clock = now.Add(-15 * day)
	r.left(1, 2)
	r.clock = now
	r.left(2)
	r.says(0, said)
	r.clock = now.Add(100 * day)
	r.begins(3)
	r.left(2, 3)
	r.says(1, said)
	before, err := r.Keeps(t.Context(), 10*day)
	require.NoError(t, err)
	require.WithinDuration(t, now.Add(-10*day), before, time.Minute)
	r.clock = now
	r.left(2, 3)
	r.says(0, said)
	r.clock = now.Add(100 * day)
	r.left(2, 3)
	r.says(1, said)
}

func TestWhichDatabasesAreOnThisMachine(t *testing.T) {
	t.Parallel()
	name, err := os.Hostname()
	require.NoError(t, err)
	require.True(t, sqlstore.IsHere(true, "other"))
	require.True(t, sqlstore.IsHere(false, name))
	require.False(t, sqlstore.IsHere(false, "other"))
	require.False(t, sqlstore.IsHere(false, ""))
}
