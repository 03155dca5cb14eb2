package live

import (
	"container/heap"
	"encoding/json"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// look makes the row of a job.
func (h *Hub) look(name string, shown *operate.Namespace, news news, now time.Time) {
	j := h.jobs[name]
	row, exists := shown.Job(name)
	if !exists || j == nil {
		return
	}
	text, err := json.Marshal(j.listed(row))
	if err != nil { // not with times that came from JSON
		text = json.RawMessage("{}")
	}
	failures := 0
	if row.Last != nil && row.Last.Outcome != string(jobtree.Success) {
		failures = j.line.failures()
	}
	state, _ := shown.State(name)
	j.instances = state.Instances
	if j.row == nil || string(j.row.JSON) != string(text) {
		fresh := &Row{JobRow: row, JSON: text, changed: h.number, live: j, shown: row.Shown()}
		if j.row != nil {
			fresh.Outside = j.row.Outside
		}
		j.row = fresh
	}
	stays, at := j.headlessFor(&row, now)
	if need := needOf(&row, failures, state.JobDisabled(), stays); need != nil || j.row.need != nil {
		again := *j.row // rows that others have do not change
		again.need = need
		j.row = &again
	}
	if news.changed[name] {
		if outside := outsideOf(name, news.snapshot); !slices.Equal(outside, j.row.Outside) {
			again := *j.row
			again.Outside = outside
			j.row = &again
		}
	}
	if by := shown.ChangesAt(name); at.IsZero() || !by.IsZero() && by.Before(at) {
		at = by
	}
	if !at.Equal(j.at) {
		j.at = at
		if !at.IsZero() {
			heap.Push(&h.due, due{at, name})
		}
	}
}

// headlessFor tells whether nobody has led a job for so long that this is no election, and if that is not so yet, when it will be.
func (j *jobLive) headlessFor(row *operate.JobRow, now time.Time) (stays bool, at time.Time) {
	if !slices.ContainsFunc(row.Reasons, is(operate.NoLeader)) {
		j.headless = time.Time{}
		return false, time.Time{}
	}
	if j.headless.IsZero() {
		j.headless = now
	}
	if at = j.headless.Add(leaderlessFor); at.After(now) {
		return false, at
	}
	return true, time.Time{}
}

// outsideOf returns what of a job was changed from outside.
func outsideOf(job string, s registry.Snapshot) []operate.OutsideChange {
	tree := jobtree.For(job)
	if !s.Get(tree.Operated()).Exists() {
		return nil
	}
	return operate.Outside(registry.NewSnapshot(s.Revision(), slices.Collect(s.Below(tree.Root()))))
}

// show makes the picture of now. shown is nil if nothing in it has changed but the time.
func (h *Hub) show(now time.Time, shown *operate.Namespace) {
	last := h.picture.Load()
	newer := make(chan struct{})
	p := &Picture{AsOf: h.asOf, Connected: h.connected, State: h.state, Newer: newer, newer: newer}
	defer func() {
		if h.picture.Load() == p && last != nil {
			close(last.newer)
		}
	}()
	if shown == nil && last != nil {
		if last.AsOf.Equal(p.AsOf) && last.Connected == p.Connected && last.State.Revision() == p.State.Revision() {
			return
		}
		p.Revision, p.Namespace, p.Rows = last.Revision, last.Namespace, last.Rows
		h.picture.Store(p)
		return
	}
	if shown == nil {
		shown = h.following.Show(registry.Snapshot{}, nil, nil, now)
	}
	p.Revision, p.Namespace = shown.Revision(), shown
	names := shown.Names()
	p.Rows = make([]*Row, 0, len(names))
	for _, name := range names {
		if j := h.jobs[name]; j != nil && j.row != nil {
			p.Rows = append(p.Rows, j.row)
		}
	}
	h.picture.Store(p)
}
