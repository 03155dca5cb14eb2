package live

import (
	"slices"
	"time"
)

// sweep forgets what is older than an hour, and topics that nobody reads.
func (h *Hub) sweep(now time.Time) {
	for _, j := range h.jobs {
		h.size -= j.line.forget(now)
	}
	for minute := range h.minutes.of {
		if minute < now.Add(-keptFor).UnixMilli()/time.Minute.Milliseconds() {
			delete(h.minutes.of, minute)
		}
	}
	h.gaps = slices.DeleteFunc(h.gaps, func(g Gap) bool { return g.To.Before(now.Add(-keptFor)) })
	h.tidyDue()
	for _, t := range h.topics {
		if len(t.clients) == 0 && now.Sub(t.idle) >= idleFor {
			h.dropTopic(t)
		}
	}
}

// dropTopic forgets a topic that nobody reads. Its frames may be kept for longer, but not what readers were told by them.
func (h *Hub) dropTopic(t *topic) {
	delete(h.topics, t.key)
	t.told, t.full = nil, nil
}

// keepFewIdle forgets the topics that nobody has read for longest, if there are too many: windows of a list that is
// scrolled are all different.
func (h *Hub) keepFewIdle() {
	if len(h.topics) <= mostIdle {
		return
	}
	var idle []*topic
	for _, t := range h.topics {
		if len(t.clients) == 0 {
			idle = append(idle, t)
		}
	}
	if len(idle) <= mostIdle {
		return
	}
	slices.SortFunc(idle, func(a, b *topic) int { return a.idle.Compare(b.idle) })
	for _, t := range idle[:len(idle)-mostIdle] {
		h.dropTopic(t)
	}
}

// mostSpans bounds what all timelines take together, in bytes.
const mostSpans = 64 << 20

// keepWithin drops the oldest spans of all jobs, an eighth and more, if they take too much. Those that run stay.
func (h *Hub) keepWithin() {
	for shrunk := 1; h.size > mostSpans && shrunk > 0; h.size -= shrunk {
		shrunk = 0
		var begins []int64
		for _, j := range h.jobs {
			for _, s := range j.line.spans {
				if !s.running() {
					begins = append(begins, s.begin)
				}
			}
		}
		if len(begins) == 0 {
			return
		}
		slices.Sort(begins)
		until := begins[len(begins)/8] + 1
		for _, j := range h.jobs {
			shrunk += j.line.dropTo(until)
		}
		h.since = moment(until)
	}
}

func (h *Hub) addGap(g Gap) {
	h.gaps = append(h.gaps, g)
	if extra := len(h.gaps) - entriesOfJob; extra > 0 {
		h.gaps = slices.Delete(h.gaps, 0, extra)
	}
}
