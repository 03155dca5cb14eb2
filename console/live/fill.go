package live

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unique"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// How the history store is asked.
const (
	fillWithin = 15 * time.Second
	fillPages  = 2                // of history.MaxPerPage, which is as much as a timeline holds
	fillAgain  = 10 * time.Second // when the history has had time to hear of what ran
)

// fillTopic asks the history store for what the timeline of a job lacks, if somebody begins to read it.
func (h *Hub) fillTopic(t *topic, now time.Time) {
	j := h.jobs[t.key.of]
	if !h.fillable(t.key.of) || t.key.kind != topicJob || j == nil || now.Sub(j.line.filled) < 2*fillAgain || !h.lacks(j.line, now) {
		return
	}
	h.beginFill(t.key.of, j, 0)
}

// beginFill has the history of a job read after a time, unless the hub ends: Close, which takes h.mu before it waits,
// is not to miss one. The caller holds h.mu.
func (h *Hub) beginFill(name string, j *jobLive, after time.Duration) {
	if h.ended.Err() == nil {
		h.filling.Go(func() { h.fill(name, j, after) })
	}
}

// refill asks for what was missed while the registry did not answer, when the history has had time to hear of it.
func (h *Hub) refill() {
	for key, t := range h.topics {
		if j := h.jobs[key.of]; h.fillable(key.of) && key.kind == topicJob && j != nil && len(t.clients) > 0 {
			h.beginFill(key.of, j, fillAgain)
		}
	}
}

// fillable tells whether the history knows what of it is the job's. Readers of a timeline may read nothing else.
func (h *Hub) fillable(name string) bool { return h.cfg.History != nil && history.TellsApart(name) }

// lacks tells whether there is a time in the last hour of which it is not certain what ran.
func (h *Hub) lacks(line *timeline, now time.Time) bool {
	if line.filled.Before(h.began) && now.Sub(h.began) < keptFor {
		return true
	}
	for _, g := range h.gaps {
		if g.To.After(line.filled) {
			return true
		}
	}
	return len(line.gaps) > 0
}

// fill reads the last hour of a job after a time. If the store does not answer, the gaps stay.
func (h *Hub) fill(name string, j *jobLive, after time.Duration) {
	wait := time.NewTimer(after)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-h.closed:
		return
	}
	select {
	case h.fills <- struct{}{}:
		defer func() { <-h.fills }()
	case <-h.closed:
		return
	}
	ctx, cancel := context.WithTimeout(h.ended, fillWithin) // a history is read for all readers of the job
	defer cancel()
	asked := time.Now()
	var rows []history.Execution
	whole := false
	for page := 1; page <= fillPages && !whole; page++ {
		got, err := h.cfg.History.Executions(ctx, history.ExecutionQuery{
			Job: name, From: asked.Add(-keptFor), Until: asked,
			Paging: history.Paging{Page: page, PerPage: history.MaxPerPage, Sort: "startTime"},
		})
		if err != nil {
			h.untold.Add(1)
			h.cfg.Logger.Warn("the history did not tell what ran", "namespace", h.cfg.Namespace, "job", name, "error", err)
			return
		}
		rows = append(rows, got.Rows...)
		whole = page*history.MaxPerPage >= got.Total
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.takeHistory(name, j, rows, whole, asked)
	if after < fillAgain && h.jobs[name] == j && h.lacks(j.line, time.Now()) { // what the history had not heard of yet
		h.beginFill(name, j, fillAgain)
	}
}

// takeHistory adds the executions that the timeline does not know, and takes away the gaps that they fill.
func (h *Hub) takeHistory(name string, j *jobLive, rows []history.Execution, whole bool, asked time.Time) {
	if h.jobs[name] != j { // the job went meanwhile
		return
	}
	h.number++
	h.size -= j.line.size
	type run struct {
		item         int32 // items that begin together may share a token
		token, begin int64 // one of them
	}
	known := make(map[run]bool)
	for _, s := range j.line.spans {
		known[run{item: s.item, begin: s.begin}] = true
		known[run{item: s.item, token: s.token}] = s.token != 0
	}
	for _, e := range rows {
		s := spanOfHistory(e)
		s.changed = h.number
		if !known[run{item: s.item, token: s.token}] && !known[run{item: s.item, begin: s.begin}] {
			j.line.put(s)
		}
	}
	j.line.filled = asked.Add(-fillAgain) // of what ran later, it may not have heard
	j.line.gaps = slices.DeleteFunc(j.line.gaps, func(g Gap) bool { return !g.To.After(j.line.filled) })
	if !whole && len(rows) > 0 && rows[len(rows)-1].Start.After(j.line.since) { // or more was dropped for want of room
		j.line.since = rows[len(rows)-1].Start
	}
	h.size += j.line.size
	h.keepWithin()
	now, shown := time.Now(), h.following.Shown()
	h.look(name, shown, news{}, now) // whose last runs are others now
	h.show(now, shown)
	h.tell(now, map[string]bool{name: true})
}

func spanOfHistory(e history.Execution) span {
	outcome := outcomeUnknown // that it runs is only said by the registry
	switch {
	case e.Success:
		outcome = string(jobtree.Success)
	case e.FailureCause != "":
		outcome = string(jobtree.Failure)
	}
	s := span{
		begin: milliseconds(e.Start), end: milliseconds(e.Complete), fire: milliseconds(e.Fire), token: e.Token,
		item: int32(e.Item), history: true, failover: e.Source == job.Failover, instance: unique.Make(cmp.Or(history.InstanceOf(e.TaskID), e.IP)),
		source: unique.Make(string(e.Source)), outcome: unique.Make(outcome),
		round: unique.Make(e.Round).Value(), error: clone(jobtree.Excerpt(e.FailureCause)),
	}
	s.end = cmp.Or(s.end, s.begin)
	return s
}
