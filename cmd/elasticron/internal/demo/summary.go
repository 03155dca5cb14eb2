package demo

import (
	"fmt"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
)

// summarise tells what the judge found.
func summarise(tell *narrator, j *tally.Judge) {
	tell.text(plain, "")
	for _, line := range summary(j) {
		how := plain
		switch line[0] {
		case headingFailed:
			how = bad
		case headingExact:
			how = good
		}
		tell.text(how, "  %-9s %s", line[0], line[1])
	}
}

// The headings of the last line.
const (
	headingExact  = "exact"
	headingFailed = "FAILED"
)

// summary describes the whole show: lines of a heading and a text.
func summary(j *tally.Judge) [][2]string {
	counts, whole := j.Counts(), j.Truth().Whole
	runs := counts.Runs[job.Scheduled] + counts.Runs[job.Failover] + counts.Runs[job.Misfire]
	lines := [][2]string{
		{"tree", fmt.Sprintf("%s files, %s lines, %s", grouped(int64(whole.Files)), grouped(whole.Lines), size(whole.Bytes))},
		{"rounds", plural(j.Rounds(), "round") + " settled, each compared with the tree file by file: paths and contents"},
		{"runs", fmt.Sprintf("%s: %d scheduled, %d failover (run again after their process was lost), %d misfire (caught up)",
			plural(runs, "run"), counts.Runs[job.Scheduled], counts.Runs[job.Failover], counts.Runs[job.Misfire])},
	}
	if counts.CaughtUp > 0 {
		lines = append(lines, [2]string{"missed", fmt.Sprintf(
			"%s of an item came while its process was dead or stood still; the item's next run stands for them",
			plural(counts.CaughtUp, "fire"))})
	}
	if counts.Replaced > 0 {
		lines = append(lines, [2]string{"replaced", plural(counts.Replaced, "result") +
			" by a failover run under a higher token, so it counts once"})
	}
	if counts.Stale > 0 {
		lines = append(lines, [2]string{"refused", plural(counts.Stale, "result") +
			" of processes that had lost the item, by their lower tokens"})
	}
	if faults := j.Faults(); len(faults) > 0 {
		return append(lines, [2]string{headingFailed, plural(len(faults), "fault") + ", see above"})
	}
	return append(lines, [2]string{headingExact, "in every round every file was counted exactly once"})
}
