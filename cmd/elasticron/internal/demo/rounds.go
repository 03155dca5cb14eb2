package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
)

// verdict describes a settled round: "round  5  8/8 items  11,478 files  3,340,555 lines  exact".
func verdict(r tally.Round, whole fileindex.Sum) string {
	sum, word := r.Sum(), "exact"
	if sum != whole {
		word = fmt.Sprintf("WRONG, the tree has %s files and %s lines", grouped(int64(whole.Files)), grouped(whole.Lines))
	}
	return fmt.Sprintf("round %2d  %d/%d items  %s files  %s lines  %s",
		r.Number, len(r.Cells), len(r.Cells), grouped(int64(sum.Files)), grouped(sum.Lines), word)
}

// excuses describes what stands in a round for items that have no run of their own, or a late one.
func excuses(r tally.Round, every time.Duration, name func(string) string) []string {
	var lines []string
	for _, g := range r.Groups() {
		who, what := name(g.Instance), listed(g.Items)
		later := r.Number + int(g.Fire.Sub(r.Fire)/every)
		switch {
		case g.Standing == tally.Rerun:
			lines = append(lines, fmt.Sprintf("failover: %s ran %s again", who, what))
		case g.Standing == tally.Own:
			lines = append(lines, fmt.Sprintf("misfire: %s ran %s late", who, what))
		case g.Source == job.Misfire:
			lines = append(lines, fmt.Sprintf("misfire: %s made up for %s with its run of round %d", who, what, later))
		default:
			lines = append(lines, fmt.Sprintf("late: the run of round %d by %s stands for %s", later, who, what))
		}
	}
	return lines
}

// unfinished describes a round that is overdue, and whom it waits for.
func unfinished(r tally.Round, owner func(item int) string) string {
	pending := r.Pending()
	var order []string
	waits := make(map[string][]int)
	for _, item := range pending {
		who := owner(item)
		if waits[who] == nil {
			order = append(order, who)
		}
		waits[who] = append(waits[who], item)
	}
	parts := make([]string, len(order))
	for i, who := range order {
		parts[i] = fmt.Sprintf("%s of %s", listed(waits[who]), who)
	}
	return fmt.Sprintf("round %2d  %d/%d items so far, waiting for %s",
		r.Number, len(r.Cells)-len(pending), len(r.Cells), strings.Join(parts, " and "))
}
