package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
)

func TestRoundsAsText(t *testing.T) {
	t.Parallel()
	fire := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cell := func(standing tally.Standing, instance string, source job.Source, later int) tally.Cell {
		return tally.Cell{Standing: standing, Result: tally.Result{
			Instance: instance, Source: source, Fire: fire.Add(time.Duration(later) * time.Second),
			Sum: fileindex.Sum{Files: 600, Lines: 1000},
		}}
	}
	round := tally.Round{Number: 7, Fire: fire, Cells: []tally.Cell{
		cell(tally.Own, "w1", job.Scheduled, 0),
		cell(tally.Rerun, "w2", job.Failover, 0),
		cell(tally.CaughtUp, "w2", job.Misfire, 2),
		cell(tally.Rerun, "w2", job.Failover, 0),
		cell(tally.CaughtUp, "w3", job.Scheduled, 1),
		cell(tally.Own, "w3", job.Misfire, 0),
	}}
	whole := fileindex.Sum{Files: 3600, Lines: 6000}
	same := func(s string) string { return s }
	require.Equal(t, "round  7  6/6 items  3,600 files  6,000 lines  exact", verdict(round, whole))
	require.Equal(t, []string{
		"failover: w2 ran items 1,3 again",
		"misfire: w2 made up for item 2 with its run of round 9",
		"late: the run of round 8 by w3 stands for item 4",
		"misfire: w3 ran item 5 late",
	}, excuses(round, time.Second, same))

	require.Equal(t, "round  7  6/6 items  3,600 files  6,000 lines  WRONG, the tree has 3,001 files and 5,000 lines",
		verdict(round, fileindex.Sum{Files: 3001, Lines: 5000}))

	round.Cells[0], round.Cells[2], round.Cells[3] = tally.Cell{}, tally.Cell{}, tally.Cell{}
	owner := func(item int) string { return map[int]string{0: "w1", 2: "w2, which is dead", 3: "w1"}[item] }
	require.Equal(t, "round  7  3/6 items so far, waiting for items 0,3 of w1 and item 2 of w2, which is dead",
		unfinished(round, owner))
}
