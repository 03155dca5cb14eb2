package main

import (
	"cmp"
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
	for first := true; ; first = false {
		if said := pulse.news(); said != "" {
			_, _ = fmt.Fprintln(news, "elasticron:", printableLines(said))
			screen.below()
		}
		if err := pulse.ended(); err != nil {
			return err
		}
		state := followed.now()
		ns := namespaceOf(state, pulse.clock(state), operate.MayHoldJava(at))
		if first {
			asking, stop := context.WithTimeout(ctx, silentFor) // a registry that has gone away since may answer when it is back
			nothing := g.nothing(asking, at, ns, g.rows(ns))
			stop()
			if nothing != nil {
				_, _ = fmt.Fprintln(news, "elasticron:", printableLines(nothing.Error()+"\nwhat comes of it is shown"))
			}
		}
		if err := screen.show(ns); err != nil {
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

// What is said of things that nobody removed.
const (
	goneAlone = "gone"
	goneKept  = "no longer kept"
)

// changedRow is a row of -o json. Of what is gone there is no more than its name.
type changedRow struct {
	Name    string `json:"name"`
	Removed bool   `json:"removed,omitempty"`
	Left    bool   `json:"left,omitempty"` // it is there, and --status does not select it any more
	Value   any    `json:"value,omitempty"`
}

// changedRows are what changes has to write.
type changedRows struct {
	first bool
	rows  []listed // that are new, or other than before
	left  []listed // that were shown, are there, and are not what --status selects any more
	gone  []string // the names of those that were shown and are there no more
}

func (c *changes) show(ns *operate.Namespace) error {
	n := changedRows{first: c.known == nil}
	now := make(map[string]string)
	for _, r := range c.list.rows(ns, c.want) {
		if !c.want.wants(r) {
			if _, shown := c.known[r.name]; shown {
				n.left = append(n.left, r)
				delete(c.known, r.name)
			}
			continue
		}
		text, err := json.Marshal(r.value)
		if err != nil {
			return err
		}
		now[r.name] = string(text)
		if n.first || c.known[r.name] != string(text) {
			n.rows = append(n.rows, r)
		}
	}
	for name := range c.known {
		if _, still := now[name]; !still {
			n.gone = append(n.gone, name)
		}
	}
	slices.Sort(n.gone)
	c.known = now
	return c.write(n)
}

// below changes nothing: what was written stays.
func (c *changes) below() {}

func (c *changes) write(n changedRows) error {
	var text strings.Builder
	switch c.output {
	case formatJSON:
		if err := n.encode(json.NewEncoder(&text)); err != nil {
			return err
		}
	case formatName:
		for _, r := range n.rows {
			text.WriteString(printable(r.name) + "\n")
		}
		for _, r := range n.left {
			text.WriteString(printable(r.name) + " left\n")
		}
		c.writeGone(&text, n.gone)
	default:
		table := [][]string{}
		if n.first {
			table = append(table, c.header())
		}
		for _, r := range n.rows {
			table = append(table, r.cells[:len(c.header())])
		}
		text.WriteString(tableOf(table))
		for _, r := range n.left {
			text.WriteString(printable(r.name) + " is not " + strings.ToLower(strings.Join(c.want.status, " or ")) + " any more\n")
		}
		c.writeGone(&text, n.gone)
	}
	_, err := io.WriteString(c.out, text.String())
	return err
}

func (c *changes) writeGone(text *strings.Builder, names []string) {
	for _, name := range names {
		text.WriteString(printable(name) + " " + cmp.Or(c.list.gone, "removed") + "\n")
	}
}

// encode writes a line of JSON for each row.
func (n changedRows) encode(lines *json.Encoder) error {
	var all []changedRow
	for _, r := range n.rows {
		all = append(all, changedRow{Name: r.name, Value: r.value})
	}
	for _, r := range n.left {
		all = append(all, changedRow{Name: r.name, Left: true, Value: r.value})
	}
	for _, name := range n.gone {
		all = append(all, changedRow{Name: name, Removed: true})
	}
	for _, row := range all {
		if err := lines.Encode(row); err != nil {
			return err
		}
	}
	return nil
}
