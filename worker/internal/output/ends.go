package output

import (
	"fmt"
	"strings"
)

// Ends keeps the beginning and the end of what is written to it, in bounded memory. It is for one goroutine at a time.
type Ends struct {
	most int
	head []byte
	tail []byte // the last bytes behind the head; up to twice as many as are kept
	all  int64
}

// NewEnds returns one that keeps up to most bytes of the beginning and of the end each.
func NewEnds(most int) *Ends { return &Ends{most: most} }

// Like returns an empty one that keeps as much.
func (e *Ends) Like() *Ends { return NewEnds(e.most) }

// Write takes all of p; it never fails.
func (e *Ends) Write(p []byte) (int, error) {
	written := len(p)
	e.all += int64(written)
	if room := e.most - len(e.head); room > 0 {
		room = min(room, len(p))
		e.head = append(e.head, p[:room]...)
		p = p[room:]
	}
	if over := len(p) - e.most; over > 0 {
		p, e.tail = p[over:], e.tail[:0]
	}
	e.tail = append(e.tail, p...)
	if over := len(e.tail) - e.most; over > e.most {
		e.tail = append(e.tail[:0], e.tail[over:]...)
	}
	return written, nil
}

// Bytes is how many were written.
func (e *Ends) Bytes() int64 { return e.all }

// String returns what is kept as valid UTF-8, with a line that says how much is left out between.
func (e *Ends) String() string {
	tail := e.tail
	if over := len(tail) - e.most; over > 0 {
		tail = tail[over:]
	}
	text := string(e.head)
	if left := e.all - int64(len(e.head)+len(tail)); left > 0 {
		text += fmt.Sprintf("\n... %d bytes are left out ...\n", left)
	}
	return strings.ToValidUTF8(text+string(tail), "\uFFFD")
}

// Last returns up to most bytes of the end, without space around them, and with dots before them if that is not all.
func (e *Ends) Last(most int) string {
	end := append(append([]byte(nil), e.head...), e.tail...)
	if e.all > int64(len(end)) || len(e.tail) >= most {
		end = e.tail
	}
	cut := e.all > int64(len(end))
	if over := len(end) - most; over > 0 {
		end, cut = end[over:], true
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(end), "\uFFFD"))
	if cut {
		return "..." + text
	}
	return text
}
