package demo

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// narrator writes what happens, one line for each thing, with the seconds since the start before it.
// It moves no cursor, so the same text is readable on a terminal and in a log.
type narrator struct {
	out    io.Writer
	colour bool
	began  time.Time
}

// tone is how a line is coloured, if there are colours.
type tone string

const (
	plain  tone = ""
	good   tone = "\x1b[32m" // green
	bad    tone = "\x1b[31m" // red
	accent tone = "\x1b[1m"  // bold
	dim    tone = "\x1b[2m"
	reset       = "\x1b[0m"
)

// say writes a line about something that happened now.
func (n *narrator) say(t tone, format string, args ...any) {
	n.write(t, fmt.Sprintf("%6.1fs  ", time.Since(n.began).Seconds())+fmt.Sprintf(format, args...))
}

// text writes a line without a time.
func (n *narrator) text(t tone, format string, args ...any) { n.write(t, fmt.Sprintf(format, args...)) }

func (n *narrator) write(t tone, line string) {
	line = strings.TrimRight(line, " ")
	if n.colour && t != plain && line != "" {
		line = string(t) + line + reset
	}
	_, _ = fmt.Fprintln(n.out, line) // a reader who went away is no reason to stop
}
