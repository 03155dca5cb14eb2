package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/elasticron/elasticron/migrate"
)

// showMigration writes a report for people: a line for each job, and below it what is to be known.
func showMigration(out io.Writer, report migrate.Report) error {
	rows := [][]string{{"JOB", "TREE", "RESULT"}}
	for _, j := range report.Jobs {
		format := j.Format
		if format == "" {
			format = "?"
		}
		rows = append(rows, []string{j.Name, string(format), string(j.Action)})
	}
	var text strings.Builder
	text.WriteString(tableOf(rows))
	for _, j := range report.Jobs {
		showDetails(&text, j)
	}
	if !report.Applied {
		text.WriteString("\nNothing was written: this is what --apply would do.\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func showDetails(text *strings.Builder, j migrate.Job) {
	if j.Reason == "" && len(j.Changes)+len(j.Notes) == 0 {
		return
	}
	fmt.Fprintf(text, "\n%s: %s\n", j.Name, j.Action)
	if j.Reason != "" {
		fmt.Fprintf(text, "  %s\n", strings.ReplaceAll(j.Reason, "\n", "\n  "))
	}
	for _, c := range j.Changes {
		fmt.Fprintf(text, "  %s\n", c)
	}
	for _, n := range j.Notes {
		fmt.Fprintf(text, "  note: %s\n", n)
	}
}
