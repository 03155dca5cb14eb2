package live

import (
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/elasticron/elasticron/console/access"
)

// The limits of a stream.
const (
	MaxTopics = 64
	MaxWindow = 200

	commentEvery = 15 * time.Second
	writeWithin  = 5 * time.Second // for each part
	writePart    = 64 << 10
	longestName  = 1_024
)

// Events returns the handler of the stream; see the comment of the package. It stands behind an access.Guard.
func (h *Hub) Events() http.Handler { return http.HandlerFunc(h.events) }

func (h *Hub) events(w http.ResponseWriter, r *http.Request) {
	asked, refused := askedOf(w, r)
	who := access.FromContext(r.Context()).Again(time.Now()) // what is asked for may come slowly
	var topics []wanted
	if refused == nil {
		topics, refused = h.topicsOf(asked, r.Header.Get("Last-Event-ID"), who)
	}
	if refused != nil {
		refused.write(w)
		return
	}
	ofUser, inAll := h.cfg.Limits.take(who.Name)
	if inAll && h.cfg.Limits.untold(time.Now()) {
		h.cfg.Logger.WarnContext(r.Context(), "streams are refused: there are as many as there may be", "streams", MaxStreams, "user", who.Name)
	}
	if ofUser || inAll {
		tooMany(ofUser).write(w)
		return
	}
	defer h.cfg.Limits.giveBack(who.Name)
	c, first := h.subscribe(topics, time.Now()) //nolint:contextcheck // a history is read for all readers, and ends with the hub
	defer func() { h.unsubscribe(c, time.Now()) }()
	s := stream{w: w, control: http.NewResponseController(w)}
	s.begin()
	s.write(first)
	h.serve(r, c, who, &s)
	s.deadline() // for what the server still has to write
}

// serve writes until the reader or the hub goes, or until the reader may not read on.
func (h *Hub) serve(r *http.Request, c *client, who access.Identity, s *stream) {
	comment := time.NewTicker(commentEvery)
	defer comment.Stop()
	for s.err == nil {
		select {
		case <-c.gone:
			return
		case <-r.Context().Done():
			return
		case b := <-c.batches:
			s.write(b)
		case now := <-comment.C:
			if !who.Valid(now) {
				return
			}
			s.text([]byte(":\n\n"))
		}
	}
	if s.tooSlow() {
		c.cutSlow()
	}
}

// stream writes frames. After an error it writes no more.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	began   time.Time // the last write, or part of one
	room    int       // bytes that its deadline is still good for
	err     error
}

func (s *stream) begin() {
	header := s.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // for nginx, which would hold frames back
	s.w.WriteHeader(http.StatusOK)
	s.text([]byte(":\nretry: 1000\n\n"))
}

// write writes a batch, each part of it within the time for it.
func (s *stream) write(b batch) {
	s.deadline()
	for i, f := range b.frames {
		s.put(f.text)
		if i == len(b.frames)-1 {
			s.put(b.id)
		} else {
			s.put([]byte("\n"))
		}
	}
	s.flush()
}

func (s *stream) text(text []byte) {
	s.deadline()
	s.put(text)
	s.flush()
}

func (s *stream) deadline() {
	s.began, s.room = time.Now(), writePart
	_ = s.control.SetWriteDeadline(s.began.Add(writeWithin))
}

func (s *stream) put(text []byte) {
	for s.err == nil && len(text) > 0 {
		if s.room == 0 {
			s.deadline()
		}
		n := min(len(text), s.room)
		_, s.err = s.w.Write(text[:n])
		s.room -= n
		text = text[n:]
	}
}

// flush ends a write, and its deadline with it: HTTP/2 resets a stream whose deadline passes while nothing is written.
func (s *stream) flush() {
	if s.err == nil {
		s.err = s.control.Flush()
	}
	if s.err == nil {
		_ = s.control.SetWriteDeadline(time.Time{})
	}
}

// tooSlow tells whether the last write took longer than it may. HTTP/2 says only that there is no stream any more.
func (s *stream) tooSlow() bool {
	return errors.Is(s.err, os.ErrDeadlineExceeded) || s.err != nil && time.Since(s.began) >= writeWithin
}
