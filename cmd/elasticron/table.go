package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"
)

// tableOf lays rows out in columns.
func tableOf(rows [][]string) string {
	var text strings.Builder // takes everything, so no error can come
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		shown := make([]string, len(cells))
		for i, cell := range cells {
			shown[i] = printable(cell)
		}
		_, _ = fmt.Fprintln(table, strings.Join(shown, "\t"))
	}
	_ = table.Flush()
	var trimmed strings.Builder
	for line := range strings.Lines(text.String()) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return trimmed.String()
}

// printable returns a text without what would move the cursor or colour a terminal: texts come from the registry,
// into which anybody may have written them.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// printableLines is printable for a text of several lines.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// The colours of words that say how something is.
const (
	plainText = "\x1b[0m"
	redText   = "\x1b[31m"
	greenText = "\x1b[32m"
	yellow    = "\x1b[33m"
)

// colours are those of statuses and reasons; what is not here is yellow. Colour never says anything that the word
// does not.
var colours = map[string]string{
	"OK": greenText, "RUNNING": greenText, "PENDING": plainText, "DISABLED": plainText, "CRASHED": redText, "OVERDUE": redText, "PAUSED": redText,
	"UNREADABLE": redText, "success": greenText, "running": greenText, "failure": redText, "lost": redText,
}

// coloured returns a table with the words of one column in colour. The table is laid out before, so that it stays
// straight.
func coloured(table string, column string) string {
	lines := strings.SplitAfter(table, "\n")
	at := strings.Index(lines[0], column)
	if at < 0 {
		return table
	}
	from := len([]rune(lines[0][:at])) // cells may hold other letters than ASCII
	for i, line := range lines[1:] {
		runes := []rune(line)
		if len(runes) <= from {
			continue
		}
		word, rest, _ := strings.Cut(string(runes[from:]), " ")
		word, end := strings.TrimRight(word, "\n"), word[len(strings.TrimRight(word, "\n")):]
		colour, known := colours[word]
		if !known {
			colour = yellow
		}
		if word == "" || colour == plainText {
			continue
		}
		if end == "" {
			end = " "
		}
		lines[i+1] = string(runes[:from]) + colour + word + plainText + end + rest
	}
	return strings.Join(lines, "")
}
