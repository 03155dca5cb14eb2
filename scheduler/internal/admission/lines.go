package admission

import (
	"cmp"
	"container/heap"
)

// jobLine is the jobs that wait with one urgency.
type jobLine struct {
	wants     map[Applicant]int // begins that each waits for
	fresh     places            // those that had no turn yet
	served    []Applicant       // the others
	freshTurn bool
	arrivals  uint64
}

// waits tells whether a job waits.
func (l *jobLine) waits() bool { return len(l.wants) > 0 }

// want notes that a job waits for one more begin.
func (l *jobLine) want(job Applicant) {
	if l.wants == nil {
		l.wants = make(map[Applicant]int)
	}
	if l.wants[job] == 0 {
		l.arrivals++
		heap.Push(&l.fresh, waiter{job: job, last: job.Place().last, arrival: l.arrivals})
	}
	l.wants[job]++
}

// next takes the job out whose turn it is. There is one.
func (l *jobLine) next() Applicant {
	l.freshTurn = !l.freshTurn
	if len(l.fresh) > 0 && (l.freshTurn || len(l.served) == 0) {
		return heap.Pop(&l.fresh).(waiter).job
	}
	job := l.served[0]
	l.served[0] = nil
	l.served = l.served[1:]
	return job
}

// waiter is a job that waits and had no turn yet.
type waiter struct {
	job     Applicant
	last    uint64
	arrival uint64
}

// places are those that wait, the one that had its turn longest ago before the others, and of two like it the first one
// that came.
type places []waiter

// Len implements [heap.Interface].
func (p places) Len() int { return len(p) }

// Less implements [heap.Interface].
func (p places) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(p[i].last, p[j].last), cmp.Compare(p[i].arrival, p[j].arrival)) < 0
}

// Swap implements [heap.Interface].
func (p places) Swap(i, j int) { p[i], p[j] = p[j], p[i] }

// Push implements [heap.Interface].
func (p *places) Push(w any) { *p = append(*p, w.(waiter)) }

// Pop implements [heap.Interface].
func (p *places) Pop() any {
	n := len(*p) - 1
	w := (*p)[n]
	(*p)[n] = waiter{}
	*p = (*p)[:n]
	return w
}
