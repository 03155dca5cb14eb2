package clustertest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/registry"
)

// shownLines is how many lines of a story a failure shows before what it is about, and as many from there on.
const shownLines = 30

// Story returns a table of the executions of a job, where and when they ran, and of what the test did to the cluster in
// between. A failed assertion prints a part of it. It is for people to read, and its form may change.
func (c *Cluster) Story(name string) string {
	c.tb.Helper()
	c.known(name, "Story")
	return c.story(name, time.Time{})
}

// line is a line of a story.
type line struct {
	at    time.Time
	cells []string
}

// story tells what happened, around a time, or all of it.
func (c *Cluster) story(name string, around time.Time) string {
	lines := c.lines(name)
	first, last := 0, len(lines)
	if !around.IsZero() {
		from, _ := slices.BinarySearchFunc(lines, around, func(l line, t time.Time) int { return l.at.Compare(t) })
		first, last = max(0, from-shownLines), min(len(lines), from+shownLines)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "what happened, and ran of %q, in UTC, until %s:\n", name, clockTime(time.Now()))
	if first > 0 {
		fmt.Fprintf(&text, "(%d lines before)\n", first)
	}
	head := line{cells: []string{"began", "item", "fire", "source", "on", "took", "outcome"}}
	align(&text, slices.Insert(lines[first:last:last], 0, head))
	if after := len(lines) - last; after > 0 {
		fmt.Fprintf(&text, "(%d lines after)\n", after)
	}
	return text.String()
}

// align writes lines as a table. What is done to the cluster is one long cell behind the time.
func align(text *strings.Builder, lines []line) {
	var widths []int
	for _, l := range lines {
		widths = append(widths, make([]int, max(0, len(l.cells)-len(widths)))...)
		for n, cell := range l.cells[:len(l.cells)-1] {
			widths[n] = max(widths[n], utf8.RuneCountInString(cell))
		}
	}
	for _, l := range lines {
		last := len(l.cells) - 1
		for n, cell := range l.cells[:last] {
			text.WriteString(cell + strings.Repeat(" ", widths[n]-utf8.RuneCountInString(cell)+2))
		}
		text.WriteString(l.cells[last] + "\n")
	}
}

// lines returns the whole story: in the order of what happened, but for what ran in one instant, which is in
// the order of the items.
func (c *Cluster) lines(name string) []line {
	var lines []line
	done := c.book.done()
	told := 0
	tell := func(deeds int) {
		for ; told < deeds; told++ {
			lines = append(lines, line{done[told].at, []string{clockTime(done[told].at), done[told].text}})
		}
	}
	for _, e := range c.book.ran(name) {
		tell(e.deeds)
		fire := "by hand"
		if !e.Fire.IsZero() {
			fire = clockTime(e.Fire)
		}
		lines = append(lines, line{e.Began, []string{
			clockTime(e.Began), strconv.Itoa(e.Item), fire, string(e.Source), e.Instance,
			e.Took().Round(time.Millisecond).String(), e.told(),
		}})
	}
	tell(len(done))
	return lines
}

// told tells the outcome with what there is to say of it.
func (e Execution) told() string {
	text := string(e.Outcome)
	if e.Err != nil && e.Outcome != Crashed {
		text += ": " + firstLine(e.Err.Error())
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(", %d attempts", e.Attempts)
	}
	if e.Refused != nil {
		text += ", and its end was refused: " + refusal(e.Refused)
	}
	return text
}

// refusal tells why an end was refused. A conflict lists what was found, which is long and mostly means one thing.
func refusal(err error) string {
	if errors.Is(err, registry.ErrConflict) {
		return "it had been taken over"
	}
	return firstLine(err.Error())
}

// firstLine returns the first line of a text, as far as it fits in a table.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = strings.ReplaceAll(text, "\t", " ")
	if letters := []rune(text); len(letters) > 100 {
		text = string(letters[:100]) + "…"
	}
	return text
}

// clockTime shows a time as short as a test can tell it: its day only if it is not the first one, and
// fractions only if there are some.
func clockTime(t time.Time) string {
	layout := "15:04:05.999"
	if t = t.UTC(); t.Before(At(0)) || !t.Before(At(24*time.Hour)) {
		layout = "2006-01-02 " + layout
	}
	return t.Format(layout)
}
