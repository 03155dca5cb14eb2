package live

import (
	"slices"
	"time"
)

// perMinute counts executions by the minute in which they began. Those from before a time do not count.
type perMinute struct {
	since time.Time
	of    map[int64]*Minute
}

func newPerMinute(since time.Time) perMinute {
	return perMinute{since: since, of: make(map[int64]*Minute)}
}

// count counts an execution.
func (p perMinute) count(begin int64, bad bool) {
	if begin < p.since.UnixMilli() {
		return
	}
	minute := begin / time.Minute.Milliseconds()
	m := p.of[minute]
	if m == nil {
		m = &Minute{Minute: time.UnixMilli(minute * time.Minute.Milliseconds()).UTC()}
		p.of[minute] = m
	}
	m.Runs++
	if bad {
		m.Failed++
	}
}

// fail notes that one that was counted went wrong.
func (p perMinute) fail(begin int64) {
	if m := p.of[begin/time.Minute.Milliseconds()]; m != nil {
		m.Failed++
	}
}

// takeBack takes back one that was counted and never ran.
func (p perMinute) takeBack(begin int64) {
	if m := p.of[begin/time.Minute.Milliseconds()]; m != nil && begin >= p.since.UnixMilli() {
		m.Runs--
	}
}

// runsByMinute are the executions of the last hour, as far as the hub was there.
func (h *Hub) runsByMinute(scope string, jobs []*jobLive, now time.Time) []Minute {
	counted := h.minutes
	if scope != wholeScope {
		counted = newPerMinute(h.began)
		for _, j := range jobs {
			for _, s := range j.line.spans {
				if !s.history {
					counted.count(s.begin, s.bad())
				}
			}
		}
	}
	minute := func(t time.Time) int64 { return t.UnixMilli() / time.Minute.Milliseconds() }
	var all []Minute
	for m := max(minute(h.began), minute(now)-59); m <= minute(now); m++ {
		shown := Minute{Minute: time.UnixMilli(m * time.Minute.Milliseconds()).UTC()}
		if known := counted.of[m]; known != nil {
			shown = *known
		}
		shown.Uncertain = slices.ContainsFunc(h.gaps, func(g Gap) bool { return minute(g.From) <= m && m <= minute(g.To) })
		all = append(all, shown)
	}
	return all
}
