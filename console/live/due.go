package live

import (
	"container/heap"
	"time"
)

// due is when a job looks other by the clock alone.
type due struct {
	at  time.Time
	job string
}

// dueJobs is a heap of them, the earliest first.
type dueJobs []due

func (d dueJobs) Len() int           { return len(d) }
func (d dueJobs) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d dueJobs) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *dueJobs) Push(x any)        { *d = append(*d, x.(due)) }
func (d *dueJobs) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}

// late returns the jobs that look other by the clock alone. While the registry is away, nothing does: what it would
// say is not known.
func (h *Hub) late(now time.Time) (names []string) {
	for h.connected && len(h.due) > 0 && !h.due[0].at.After(now) {
		d := heap.Pop(&h.due).(due)
		if j := h.jobs[d.job]; j != nil && j.at.Equal(d.at) {
			names = append(names, d.job)
		}
	}
	return names
}

// tidyDue drops what was due at times that are others by now.
func (h *Hub) tidyDue() {
	if len(h.due) <= 2*len(h.jobs)+64 {
		return
	}
	h.due = h.due[:0]
	for name, j := range h.jobs {
		if !j.at.IsZero() {
			h.due = append(h.due, due{j.at, name})
		}
	}
	heap.Init(&h.due)
}
