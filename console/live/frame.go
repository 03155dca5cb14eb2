package live

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// frame is what is written to all readers of a topic.
type frame struct {
	number uint64
	topic  *topic // nil: for everybody
	text   []byte // without the id and the empty line at the end
}

// frameText is the text of a frame. Names of jobs have no control characters, and JSON has no line breaks.
func frameText(event string, data []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(event) + len(data) + 16)
	b.WriteString("event: ")
	b.WriteString(event)
	b.WriteString("\ndata: ")
	b.Write(data)
	b.WriteByte('\n')
	return b.Bytes()
}

// batch is what a reader is given at once. Only behind its last frame stands the id: before that, the reader does not
// know all that the id says it knows.
type batch struct {
	frames []*frame
	id     []byte // with the empty line at the end
}

// The last frames are kept for readers that were cut off.
const (
	keptFrames     = 1_000
	keptFrameBytes = 16 << 20
)

// retained are the last frames, in the order of their numbers, which have no gaps.
type retained struct {
	frames []*frame
	number uint64 // of the last one
	size   int
}

// add numbers a frame and keeps it.
func (r *retained) add(t *topic, text []byte) *frame {
	r.number++
	f := &frame{number: r.number, topic: t, text: text}
	r.frames = append(r.frames, f)
	r.size += len(text)
	for len(r.frames) > keptFrames || r.size > keptFrameBytes && len(r.frames) > 1 {
		r.size -= len(r.frames[0].text)
		r.frames[0] = nil
		r.frames = r.frames[1:]
	}
	return f
}

// after returns the frames of a topic that follow a number; false if not all of them are kept.
func (r *retained) after(number uint64, t *topic) (frames []*frame, all bool) {
	first := r.number - uint64(len(r.frames)) // the number before the first that is kept
	if number < first || number > r.number || number < t.since {
		return nil, false
	}
	for _, f := range r.frames[number-first:] {
		if f.topic == t {
			frames = append(frames, f)
		}
	}
	return frames, true
}

// idLine is the end of a batch.
func (h *Hub) idLine(number uint64) []byte {
	return fmt.Appendf(nil, "id: %s-%d\n\n", h.epoch, number)
}

// numberOf reads an id that this hub gave; false for every other.
func (h *Hub) numberOf(id string) (uint64, bool) {
	epoch, digits, found := strings.Cut(id, "-")
	if !found || epoch != h.epoch {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil
}
