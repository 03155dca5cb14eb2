package live

import (
	"sync"
	"sync/atomic"
	"time"
)

// waiting is how many batches wait for a reader at most.
const waiting = 8

// client is a reader of a stream.
type client struct {
	topics  []*topic
	batches chan batch
	gone    chan struct{} // closed when the reader is cut off
	once    sync.Once
	slow    *atomic.Int64 // counts who is cut off for being slow
}

func (c *client) cut() { c.once.Do(func() { close(c.gone) }) }

// cutSlow cuts off a reader who is too slow.
func (c *client) cutSlow() {
	c.once.Do(func() {
		c.slow.Add(1)
		close(c.gone)
	})
}

// give hands a batch over. A reader for whom too many wait already is cut off, and gets nothing more.
func (c *client) give(b batch) {
	select {
	case <-c.gone:
		return
	default:
	}
	select {
	case c.batches <- b:
	default:
		c.cutSlow()
	}
}

// wanted is a topic that a reader asks for, and what they have of it.
type wanted struct {
	key   topicKey
	since uint64
	has   bool
}

// subscribe gives a reader all of the topics, or what is new since they read last, and from then on what changes.
func (h *Hub) subscribe(topics []wanted, now time.Time) (*client, batch) {
	c := &client{batches: make(chan batch, waiting), gone: make(chan struct{}), slow: &h.slow}
	h.mu.Lock()
	defer h.mu.Unlock()
	var first batch
	if !h.connected {
		first.frames = append(first.frames, h.status(EventDisconnected, now))
	}
	for _, w := range topics {
		t := h.topics[w.key]
		if t == nil {
			t = h.newTopic(w.key, h.clock(now))
			h.topics[w.key] = t
			h.fillTopic(t, now)
		}
		h.settle(t, h.clock(now))
		t.clients[c] = struct{}{}
		c.topics = append(c.topics, t)
		if missed, all := h.sent.after(w.since, t); w.has && all {
			first.frames = append(first.frames, missed...)
			continue
		}
		full := t.full
		if full == nil {
			full = frameText(t.key.event(), encode(h.whole(t, h.clock(now))))
		}
		if len(t.clients) > 1 { // what one reader alone has is kept by nobody
			t.full = full
		}
		first.frames = append(first.frames, &frame{topic: t, text: full})
	}
	if h.connected {
		first.frames = append(first.frames, h.status(EventAlive, now))
	}
	first.id = h.idLine(h.sent.number)
	h.clients[c] = struct{}{}
	select {
	case <-h.closed:
		c.cut()
	default:
	}
	return c, first
}

// settle tells the readers of a topic what it is too early for, before another one comes: that one is told of what is, and so
// has to hear of it also if then all is again as the others were told.
func (h *Hub) settle(t *topic, at time.Time) {
	if !t.owes && (t.key.kind != topicJobs || t.changed == h.number) {
		return
	}
	f := h.fresh(t, at)
	if f == nil {
		return
	}
	b := batch{[]*frame{f}, h.idLine(h.sent.number)}
	for c := range t.clients {
		c.give(b)
	}
}

// fresh makes a frame of what the readers of a topic have not been told; nil if there is nothing.
func (h *Hub) fresh(t *topic, at time.Time) *frame {
	news := h.news(t, at)
	if news == nil {
		return nil
	}
	t.full = nil
	return h.sent.add(t, frameText(t.key.event(), encode(news)))
}

func (h *Hub) unsubscribe(c *client, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
	for _, t := range c.topics {
		delete(t.clients, c)
		if len(t.clients) == 0 {
			t.idle = now
		}
	}
	h.keepFewIdle()
}

// clock is the time as of which something can be said: while the registry does not answer, it stands still.
func (h *Hub) clock(now time.Time) time.Time {
	if h.connected {
		return now
	}
	return h.asOf
}

// tell makes frames of what is new, and hands them to the readers.
func (h *Hub) tell(now time.Time, changed map[string]bool) {
	type share struct {
		frames []*frame
		mine   bool // not shared with others
	}
	var fresh []*frame
	at := h.clock(now)
	for _, t := range h.topics {
		if !t.touches(changed, at) {
			continue
		}
		if f := h.fresh(t, at); f != nil {
			fresh = append(fresh, f)
		}
	}
	shares := make(map[*client]share)
	for _, f := range fresh {
		alone := []*frame{f}
		for c := range f.topic.clients {
			s := shares[c]
			switch {
			case s.frames == nil:
				s.frames = alone
			case !s.mine:
				s.frames, s.mine = append([]*frame{s.frames[0]}, f), true
			default:
				s.frames = append(s.frames, f)
			}
			shares[c] = s
		}
	}
	id := h.idLine(h.sent.number)
	for c, s := range shares {
		c.give(batch{s.frames, id})
	}
	if now.Sub(h.lastAlive) >= aliveEvery {
		event := EventAlive
		if !h.connected {
			event = EventDisconnected
		}
		h.broadcast(event, now, func(c *client) bool {
			return len(c.batches) == 0 // what waits for them is a sign of life, too, and a slow line is to have the time for it
		})
	}
}

func everyone(*client) bool { return true }

// broadcast tells readers whether the registry answers.
func (h *Hub) broadcast(event string, now time.Time, to func(*client) bool) {
	h.lastAlive = now
	b := batch{[]*frame{h.status(event, now)}, []byte("\n")}
	for c := range h.clients {
		if to(c) {
			c.give(b)
		}
	}
}

func (h *Hub) status(event string, now time.Time) *frame {
	return &frame{text: frameText(event, encode(Status{AsOf: h.asOf.UTC(), Now: now.UTC()}))}
}

// andRead adds the jobs that somebody reads.
func (h *Hub) andRead(jobs map[string]bool) map[string]bool {
	if jobs == nil {
		jobs = make(map[string]bool)
	}
	for key := range h.topics {
		if key.kind == topicJob {
			jobs[key.of] = true
		}
	}
	return jobs
}
