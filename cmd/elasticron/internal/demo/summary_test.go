package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
)

// told returns what a judge of one item and one file has to say after these runs.
func told(t *testing.T, colour bool, runs ...tally.Result) string {
	t.Helper()
	one := fileindex.Sum{Files: 1, Lines: 20, Bytes: 3000, Digest: 7}
	j := tally.NewJudge(fileindex.Truth{Whole: one, Shares: []fileindex.Sum{one}}, time.Second)
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	j.Start(start)
	for i, r := range runs {
		r.Total, r.Sum, r.Instance = 1, one, "a"
		r.Fire = start.Add(time.Second * time.Duration(r.Fire.Second()))
		if i > 0 && r.Source == job.Failover {
			j.Orphan([]int{0})
		}
		_ = j.Accept(r) // refusals are counted
	}
	j.Settled()
	var text strings.Builder
	summarise(&narrator{out: &text, colour: colour, began: time.Now()}, j)
	return text.String()
}

// at is a run for a round.
func at(round int, source job.Source, token int64) tally.Result {
	return tally.Result{Fire: time.Unix(int64(round), 0), Source: source, Token: token}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	require.Equal(t, `
  tree      1 files, 20 lines, 3.0 kB
  rounds    4 rounds settled, each compared with the tree file by file: paths and contents
  runs      4 runs: 2 scheduled, 1 failover (run again after their process was lost), 1 misfire (caught up)
  missed    1 fire of an item came while its process was dead or stood still; the item's next run stands for them
  replaced  1 result by a failover run under a higher token, so it counts once
  refused   1 result of processes that had lost the item, by their lower tokens
  exact     in every round every file was counted exactly once
`, told(t, false,
		at(1, job.Scheduled, 10), at(2, job.Scheduled, 20), at(2, job.Failover, 30), at(2, job.Scheduled, 25), at(4, job.Misfire, 40)))
}

func TestSummaryOfAFailure(t *testing.T) {
	t.Parallel()
	text := told(t, true, at(1, job.Scheduled, 10), at(1, job.Scheduled, 20))
	require.NotContains(t, text, headingExact)
	require.Contains(t, text, "\x1b[31m  FAILED    1 fault, see above\x1b[0m\n")
}
