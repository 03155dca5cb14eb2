package sqlstore_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
)

// More than two chunks of each table are older, and what is as old as the limit stays.
func testDeleteBefore(t *testing.T, p place) {
	s, _ := p.store(t)
	var events []history.Event
	for n := range 2100 {
		r := round(begin.Add(-time.Duration(n) * time.Second))
		r.ID = strconv.Itoa(n)
		events = append(events, started(n, begin.Add(-time.Duration(n)*time.Second)), r.Staged())
	}
	write(t, s, events...)
	n, err := s.DeleteBefore(t.Context(), begin.Add(-9*time.Second))
	require.NoError(t, err)
	require.Equal(t, int64(2*2090), n)
	rows := all(t, s)
	require.Len(t, rows, 10)
	require.Equal(t, 9, rows[9].Item)
	steps, err := s.Statuses(t.Context(), history.StatusQuery{})
	require.NoError(t, err)
	require.Equal(t, 10, steps.Total)
	n, err = s.DeleteBefore(t.Context(), begin.Add(-9*time.Second))
	require.NoError(t, err)
	require.Zero(t, n)
}

// However many processes delete at once, each returns when nothing old is left.
func testDeleteAtOnce(t *testing.T, p place) {
	s, db := p.store(t)
	const old = 6000
	for from := 0; from < old; from += 2000 {
		var events []history.Event
		for n := from; n < from+2000; n++ {
			events = append(events, started(n, begin.Add(-time.Duration(n+1)*time.Second)))
		}
		write(t, s, events...)
	}
	var wg sync.WaitGroup
	var deleted atomic.Int64
	for range 4 {
		other := p.over(t, db)
		wg.Go(func() {
			n, err := other.DeleteBefore(t.Context(), begin)
			assert.NoError(t, err)
			deleted.Add(n)
			page, err := other.Executions(t.Context(), history.ExecutionQuery{Until: begin.Add(-time.Millisecond)})
			assert.NoError(t, err)
			assert.Zero(t, page.Total)
		})
	}
	wg.Wait()
	require.Equal(t, int64(old), deleted.Load())
}

func testRetain(t *testing.T, p place) {
	s, _ := p.store(t)
	now := time.Now()
	between := round(now.Add(-40 * time.Minute))
	write(t, s, started(0, now.Add(-90*time.Minute)), between.Staged(), started(1, now))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Retain(ctx, time.Hour, 10*time.Millisecond) }()
	gone := func(item int) func() bool {
		return func() bool {
			page, err := s.Executions(t.Context(), history.ExecutionQuery{Item: &item})
			return err == nil && page.Total == 0
		}
	}
	require.Eventually(t, gone(0), time.Minute, 10*time.Millisecond)
	write(t, s, started(2, now.Add(-90*time.Minute)))
	require.Eventually(t, gone(2), time.Minute, 10*time.Millisecond, "again and again")
	cancel()
	require.NoError(t, <-done)
	require.Len(t, all(t, s), 1)
	require.ErrorIs(t, s.Retain(t.Context(), 0, time.Hour), sqlstore.ErrInvalidOption)
}

// Of what a process finds whose clock is far ahead, it deletes what was older than keep when the last event came.
func testRetainByAClockThatIsAhead(t *testing.T, p place) {
	s, _ := p.store(t)
	before, err := s.Keeps(t.Context(), time.Hour)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(-time.Hour), before, time.Minute, "there is no event")

	last := round(begin.Add(time.Minute))
	write(t, s, started(0, begin.Add(-time.Hour)), started(1, begin.Add(2*time.Minute-time.Hour)), started(2, begin), last.Staged())
	before, err = s.Keeps(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Equal(t, begin.Add(time.Minute-time.Hour), before)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Retain(ctx, time.Hour, 10*time.Millisecond) }()
	require.Eventually(t, func() bool {
		page, err := s.Executions(t.Context(), history.ExecutionQuery{})
		return err == nil && page.Total == 2
	}, time.Minute, 10*time.Millisecond)
	time.Sleep(50 * time.Millisecond) // once more
	cancel()
	require.NoError(t, <-done)
	require.Len(t, all(t, s), 2)

	write(t, s, started(3, time.Now().Add(100*time.Hour)))
	before, err = s.Keeps(t.Context(), time.Hour)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(-time.Hour), before, time.Minute, "the newest is of a clock that is ahead")
}
