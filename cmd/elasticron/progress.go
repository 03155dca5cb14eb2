package main

import (
	"fmt"
	"io"
	"time"

	"github.com/elasticron/elasticron/operate"
)

// teller tells how far something has come that takes long: on a terminal in one line that is drawn anew, else, as in a
// log, in a line every few seconds at most, and in none if it is quick.
type teller struct {
	out   io.Writer
	drawn bool                       // out is a terminal
	size  func() (width, height int) // of the terminal
	pause time.Duration              // between two lines
	last  time.Time                  // when a line was written, or it began
	text  string                     // what was told last
}

func (p *program) teller(out io.Writer) *teller {
	return &teller{out: out, drawn: terminal(out), size: sizeOf(out), pause: p.pause, last: time.Now()}
}

func (t *teller) tell(text string) {
	text = printable(text)
	switch {
	case text == t.text:
		return
	case t.drawn:
		width, _ := t.size()
		_, _ = io.WriteString(t.out, "\r"+cutLines(text, width-1)+clearRight)
	case time.Since(t.last) < t.pause:
		return
	default:
		_, _ = fmt.Fprintln(t.out, text)
	}
	t.text, t.last = text, time.Now()
}

// end clears the line on a terminal: what follows begins there.
func (t *teller) end() {
	if t.drawn && t.text != "" {
		_, _ = io.WriteString(t.out, "\r"+clearRight)
	}
	t.text = ""
}

// jobs tells how many jobs are done.
func (t *teller) jobs(done, of int) { t.tell(fmt.Sprintf("%d of %d jobs", done, of)) }

// progressText tells how far a job has followed an operation.
func progressText(p operate.Progress) string {
	if p.Of > 0 {
		return fmt.Sprintf("%d of %d  %s", p.Ready, p.Of, p.Text)
	}
	return p.Text
}
