package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// tableOf lays rows out in columns.
func tableOf(rows [][]string) string {
	var text strings.Builder // takes everything, so no error can come
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		_, _ = fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	_ = table.Flush()
	return text.String()
}
