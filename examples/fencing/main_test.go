package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// An execution writes as often as it likes, until a later one has written. What is refused leaves nothing behind.
func TestALowerTokenIsRefused(t *testing.T) {
	t.Parallel()
	db, err := open(t.Context(), filepath.Join(t.TempDir(), "totals.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	steps := []struct {
		item  int
		token int64
		total int
		err   error
		want  int // what is stored afterwards
	}{
		{item: 0, token: 5, total: 10, want: 10},
		{item: 0, token: 5, total: 11, want: 11},
		{item: 0, token: 9, total: 20, want: 20},
		{item: 0, token: 7, total: 12, err: errOvertaken, want: 20},
		{item: 1, token: 6, total: 30, want: 30}, // another item has a fence of its own
		{item: 0, token: 9, total: 21, want: 21},
		{item: 0, token: 3<<32 + 1, total: 40, want: 40},
		{item: 0, token: 2<<32 + 9, total: 41, err: errOvertaken, want: 40},
	}
	for _, s := range steps {
		sc := job.ShardingContext{JobName: "totals", Item: s.item, Token: s.token, Fire: noon}
		require.ErrorIs(t, store(t.Context(), db, sc, s.total), s.err)
		var rows, total int
		row := db.QueryRowContext(t.Context(), "SELECT count(*), max(total) FROM totals WHERE item = ?", s.item)
		require.NoError(t, row.Scan(&rows, &total))
		require.Equal(t, 1, rows, "one row for one fire, however often it is written")
		require.Equal(t, s.want, total)
	}
}

// What runs for something else does not write over it.
func TestOccasions(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, sc := range map[string]job.ShardingContext{
		"2026-03-01T12:00:00Z":   {Fire: noon.In(time.FixedZone("CET", 3600)), Trigger: 8},
		"2026-03-01T12:00:00.2Z": {Fire: noon.Add(200 * time.Millisecond)},
		"trigger 7":              {Trigger: 7},
	} {
		require.Equal(t, want, occasion(sc))
	}
}
