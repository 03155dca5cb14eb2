package live

import (
	"slices"
	"time"
)

// countRun counts an execution in the minute in which it began.
func (h *Hub) countRun(begin int64, bad bool) {
	if begin < h.began.UnixMilli() {
		return
	}
	minute := begin / time.Minute.Milliseconds()
	m := h.minutes[minute]
	if m == nil {
		m = &Minute{Minute: time.UnixMilli(minute * time.Minute.Milliseconds()).UTC()}
		h.minutes[minute] = m
	}
	m.Runs++
	if bad {
		m.Failed++
	}
}

// countFailure notes that one that was counted went wrong.
func (h *Hub) countFailure(begin int64) {
	if m := h.minutes[begin/time.Minute.Milliseconds()]; m != nil {
		m.Failed++
	}
}

// uncountRun takes back one that was counted and never ran.
func (h *Hub) uncountRun(begin int64) {
	if m := h.minutes[begin/time.Minute.Milliseconds()]; m != nil && begin >= h.began.UnixMilli() {
		m.Runs--
	}
}

// runs are the executions of the minutes since the hub began.
func (h *Hub) runs(scope string, jobs []*jobLive, now time.Time) []Minute {
	minutes := h.minutes
	if scope != wholeScope {
		minutes = make(map[int64]*Minute)
		counting := Hub{began: h.began, minutes: minutes}
		for _, j := range jobs {
			for _, s := range j.line.spans {
				if !s.history {
					counting.countRun(s.begin, s.bad())
				}
			}
		}
	}
	minute := func(t time.Time) int64 { return t.UnixMilli() / time.Minute.Milliseconds() }
	var all []Minute
	for m := max(minute(h.began), minute(now)-59); m <= minute(now); m++ {
		counted := Minute{Minute: time.UnixMilli(m * time.Minute.Milliseconds()).UTC()}
		if known := minutes[m]; known != nil {
			counted = *known
		}
		counted.Uncertain = slices.ContainsFunc(h.gaps, func(g Gap) bool { return minute(g.From) <= m && m <= minute(g.To) })
		all = append(all, counted)
	}
	return all
}
