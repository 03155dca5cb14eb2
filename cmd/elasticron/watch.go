package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// Between two looks at what changed, so that a busy namespace costs no more than people can read, and between two
// when nothing did, as times go on.
const (
	leastPause = 250 * time.Millisecond
	mostPause  = time.Second
)

// follow shows the list again whenever it changes, until the context ends or somebody presses Ctrl-C. On a terminal it
// draws the whole list anew; else it writes the rows that changed, and so may be piped. What the list lacks at first is said
// before it.
func (g *getting) follow(ctx context.Context, out, news io.Writer, at place) error {
	ctx, restore := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer restore()
	followed, err := following(ctx, at)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer followed.close()
	if all, is := at.(*registries); is {
		if lacking := all.lacking(nil); lacking != nil {
			_, _ = fmt.Fprintln(news, "elasticron:", printableLines(lacking.Error()+"\nthey are shown when it answers"))
		}
	}
	var screen display = &changes{getting: g, out: out}
	if terminal(out) && (g.output == formatTable || g.output == formatWide) {
		screen = &redrawn{getting: g, out: out, colour: colourful(out), size: sizeOf(out)}
	}
	pulse := newPulse(ctx, followed, g.program.now)
	defer pulse.close()
	for {
		if said := pulse.news(); said != "" {
			_, _ = fmt.Fprintln(news, "elasticron:", printableLines(said))
			screen.below()
		}
		state := followed.now()
		if err := screen.show(namespaceOf(state, pulse.clock(state), operate.MayHoldJava(at))); err != nil {
			return err
		}
		if !wait(ctx, leastPause) {
			return nil
		}
		news, stop := context.WithTimeout(ctx, mostPause-leastPause)
		err := followed.newer(news)
		stop()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && news.Err() == nil:
			return err
		}
	}
}

func namespaceOf(s registry.Snapshot, now time.Time, java bool) *operate.Namespace {
	return operate.NewNamespace(slices.Collect(s.All()), s.Revision(), now, java)
}

// wait tells whether the context outlasted the pause.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// display shows one state of a namespace after the other.
type display interface {
	show(ns *operate.Namespace) error
	// below says that something else was written.
	below()
}

// redrawn shows the list in the same place, as much of it as the terminal has lines for.
type redrawn struct {
	*getting
	out    io.Writer
	colour bool
	size   func() (width, height int)
	lines  int // that stand there
}

// What a terminal does on these: go up by so many lines, and clear what is left of the line or below.
const (
	linesUp    = "\x1b[%dA\r"
	clearRight = "\x1b[K"
	clearBelow = "\x1b[J"
)

func (r *redrawn) show(ns *operate.Namespace) error {
	width, height := r.size()
	rows := r.rows(ns)
	more := 0
	if room := height - 3; room > 0 && len(rows) > room { // the header, how many more there are, and the cursor
		rows, more = rows[:room], len(rows)-room
	}
	// Lines are cut before colours come in: one that wrapped would take two lines of the terminal.
	text := cutLines(r.table(rows, false), width)
	if r.colour {
		text = coloured(text, statusColumn(r.header()))
	}
	if more > 0 {
		text += fmt.Sprintf("... and %d more\n", more)
	}
	drawn := strings.ReplaceAll(text, "\n", clearRight+"\n") + clearBelow
	if r.lines > 0 {
		drawn = fmt.Sprintf(linesUp, r.lines) + drawn
	}
	r.lines = strings.Count(text, "\n")
	_, err := io.WriteString(r.out, drawn)
	return err
}

// below has the list drawn anew, below what stands there.
func (r *redrawn) below() { r.lines = 0 }

func cutLines(text string, width int) string {
	if width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if runes := []rune(line); len(runes) > width {
			lines[i] = string(runes[:width])
		}
	}
	return strings.Join(lines, "\n")
}

// sizeOf returns how many columns and lines a terminal has; 0 if that is not known.
func sizeOf(out io.Writer) func() (width, height int) {
	return func() (width, height int) {
		file, ok := out.(*os.File)
		if !ok {
			return 0, 0
		}
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 0, 0
		}
		return width, height
	}
}

// changes shows all rows at first, and then those that differ from what was shown of them.
type changes struct {
	*getting
	out   io.Writer
	known map[string]string // what was shown, by name
}

// changedRow is a row of -o json. Of what is gone there is no more than its name.
type changedRow struct {
	Name    string `json:"name"`
	Removed bool   `json:"removed,omitempty"`
	Value   any    `json:"value,omitempty"`
}

func (c *changes) show(ns *operate.Namespace) error {
	first := c.known == nil
	now := make(map[string]string)
	var shown []listed
	for _, r := range c.rows(ns) {
		text, err := json.Marshal(r.value)
		if err != nil {
			return err
		}
		now[r.name] = string(text)
		if first || c.known[r.name] != string(text) {
			shown = append(shown, r)
		}
	}
	var gone []string
	for name := range c.known {
		if _, still := now[name]; !still {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	c.known = now
	return c.write(shown, gone, first)
}

// below changes nothing: what was written stays.
func (c *changes) below() {}

func (c *changes) write(rows []listed, gone []string, first bool) error {
	var text strings.Builder
	switch c.output {
	case formatJSON:
		lines := json.NewEncoder(&text)
		for _, r := range rows {
			if err := lines.Encode(changedRow{Name: r.name, Value: r.value}); err != nil {
				return err
			}
		}
		for _, name := range gone {
			if err := lines.Encode(changedRow{Name: name, Removed: true}); err != nil {
				return err
			}
		}
	case formatName:
		for _, r := range rows {
			text.WriteString(printable(r.name) + "\n")
		}
		for _, name := range gone {
			text.WriteString(printable(name) + " removed\n")
		}
	default:
		table := [][]string{}
		if first {
			table = append(table, c.header())
		}
		for _, r := range rows {
			table = append(table, r.cells[:len(c.header())])
		}
		text.WriteString(tableOf(table))
		for _, name := range gone {
			text.WriteString(printable(name) + " removed\n")
		}
	}
	_, err := io.WriteString(c.out, text.String())
	return err
}
