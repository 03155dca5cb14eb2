// Package tail keeps the end of what is written, in bounded memory.
package tail

import "strings"

// Buffer keeps the last bytes of what is written to it. The zero Buffer keeps none. It is for one
// goroutine at a time.
type Buffer struct {
	most int
	kept []byte
	cut  bool
}

// New returns a Buffer that keeps up to most bytes. It never takes more than twice that.
func New(most int) *Buffer { return &Buffer{most: most} }

// Write takes all of p; it never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	written := len(p)
	if over := len(p) - b.most; over > 0 {
		p, b.kept, b.cut = p[over:], b.kept[:0], true
	}
	b.kept = append(b.kept, p...)
	if len(b.kept) > 2*b.most {
		b.kept = append(b.kept[:0], b.kept[len(b.kept)-b.most:]...)
		b.cut = true
	}
	return written, nil
}

// String returns the end as valid UTF-8 without space around it, and dots before it if it is not all.
func (b *Buffer) String() string {
	kept, cut := b.kept, b.cut
	if over := len(kept) - b.most; over > 0 {
		kept, cut = kept[over:], true
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(kept), "\uFFFD"))
	if cut {
		return "..." + text
	}
	return text
}
