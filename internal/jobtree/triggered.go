package jobtree

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// MaxTriggerParameter is how long the parameter of a request by hand may be, in bytes. The record of each item
// that runs for the request holds it too.
const MaxTriggerParameter = 2_048

// Triggered is a request to run items once, by hand. A job has one node for it: the next request takes the
// place of the one before. The revision of the node is the number of the request, which every record of an
// execution for it names ([Execution].Trigger), so an item runs at most once for a request. How it ended, the
// records tell: an item whose [Record].Trigger is the number or a later one runs no more for it.
//
// Nobody rewrites the node: it is put anew or deleted. So the members of a newer version need not be kept.
type Triggered struct {
	// Items are those that are to run, ascending; nil is all.
	Items []int
	// Total is how many items the job had when the request was made; 0 is unknown.
	Total int
	// Parameter is for the code of the items, at most [MaxTriggerParameter] bytes.
	Parameter string
	// Fire is the fire that the executions stand for, as when one is run again; zero is none.
	Fire time.Time
	// Until is when the request ends. What has not begun for it by then does not begin any more. It must be
	// set: an item that is enabled months later is not to run.
	Until time.Time
	// Operation is the id of the operation that made the request; empty if none did, such as a process that asks its own job.
	Operation string
	// Each tells that no record says for which request an item ran when this one was made, as the job was unmonitored or
	// shared with Java. Each instance that is there answers once, for the items that it has, also if the job is
	// recorded meanwhile.
	Each bool
}

// Asks tells whether an item is to run.
func (t Triggered) Asks(item int) bool {
	if t.Items == nil {
		return true
	}
	_, found := slices.BinarySearch(t.Items, item)
	return found
}

// Over tells whether nothing begins for the request any more.
func (t Triggered) Over(now time.Time) bool { return now.After(t.Until) }

// EncodeTriggered returns the text of the triggered node, as in
// {"items":"0-9,12","total":20,"parameter":"2026-01","fire":"2026-01-02T12:00:00Z","until":"2026-01-02T13:00:00Z"}: items as
// runs of numbers, so that a few thousand take no more than they must, and absent if all are meant. The error is
// a [*ValueError], which names the field, the value and what is allowed.
func EncodeTriggered(t Triggered) (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	w := writer{text: []byte{'{'}}
	w.string("items", encodeItems(t.Items))
	w.count("total", int64(t.Total))
	w.string("parameter", t.Parameter)
	w.instant("fire", t.Fire)
	w.instant("until", t.Until)
	w.string("operation", t.Operation)
	w.flag("each", t.Each)
	return string(append(w.text, '}')), nil
}

// check tells what cannot be written.
func (t Triggered) check() error {
	fault := func(field, value, reason string) error {
		return &ValueError{Field: field, Value: value, Reason: reason}
	}
	if t.Items != nil && len(t.Items) == 0 {
		return fault("items", "", "must name items; without it, all are meant")
	}
	for i, n := range t.Items {
		switch {
		case n < 0 || n >= job.MaxShardingTotalCount:
			return fault("items", fmt.Sprint(n), fmt.Sprintf("must be numbers from 0 to %d", job.MaxShardingTotalCount-1))
		case i > 0 && n <= t.Items[i-1]:
			return fault("items", fmt.Sprint(n), "must be ascending, each number once")
		}
	}
	switch {
	case !utf8.ValidString(t.Parameter):
		return fault("parameter", texts.Shorten(t.Parameter), "must be valid UTF-8")
	case len(t.Parameter) > MaxTriggerParameter:
		return fault("parameter", fmt.Sprintf("%d bytes", len(t.Parameter)), longParameter)
	case !t.Fire.IsZero() && !storable(t.Fire):
		return fault("fire", t.Fire.String(), "must be of the years 0 to 9999")
	case !storable(t.Until):
		return fault("until", t.Until.String(), "must be set, to a time of the years 0 to 9999")
	}
	return nil
}

var longParameter = fmt.Sprintf("must have at most %d bytes", MaxTriggerParameter)

// DecodeTriggered reads the triggered node. Members that it does not know are left out.
func DecodeTriggered(n registry.Node) (Triggered, error) {
	o, err := parseObject(n.Value)
	if err != nil {
		return Triggered{}, at(n.Path, err)
	}
	var t Triggered
	var r reader
	for m := range o.members() {
		switch m.name {
		case "items":
			if t.Items = r.items(m); len(t.Items) == 0 {
				r.fault(m, `must name items, such as "0-9,12"; without it, all are meant`)
			}
		case "total":
			t.Total = int(r.count(m))
		case "parameter":
			if t.Parameter = r.text(m); len(t.Parameter) > MaxTriggerParameter {
				r.fault(m, longParameter)
			}
		case "fire":
			t.Fire = r.instant(m)
		case "until":
			t.Until = r.instant(m)
		case "operation":
			t.Operation = r.text(m)
		case "each":
			t.Each = r.flag(m)
		}
	}
	if r.err == nil && t.Until.IsZero() {
		r.err = &ValueError{Field: "until", Reason: "must be there"}
	}
	if r.err != nil {
		return Triggered{}, at(n.Path, r.err)
	}
	return t, nil
}

// Answer says how far one item has come with a request by hand, by the item's record.
type Answer uint8

// The answers.
const (
	Unanswered Answer = iota // nothing began for the request
	Answering                // an execution for it runs, or waits to be run again
	Answered                 // one ran, and is over
	Passed                   // none ran, and the item has run for a later request
)

// AnswerTo tells how far a request has come, and the newest execution for it, as far as that is known: a record keeps
// two executions. An item that has begun for a later request does not begin for this one any more. Where its record
// does not tell whether it ran for this one before, it counts as if it had.
func (r Record) AnswerTo(request registry.Revision) (Answer, *Execution) {
	if r.Trigger < request {
		return Unanswered, nil
	}
	if e := r.Owed(); e != nil && e.Trigger == request {
		return Answering, e
	}
	if e := r.Current; e != nil && e.Trigger == request && (e.Outcome != NotStarted || r.State == ItemRunning) {
		if r.State == ItemRunning {
			return Answering, e
		}
		return Answered, e
	}
	before, known := r.Previous()
	switch {
	case known && before.Trigger == request && before.Outcome != NotStarted:
		return Answered, &before
	case r.Current != nil && r.Current.Trigger > request && (!known || before.Trigger != 0 && before.Trigger < request):
		return Passed, nil
	default:
		return Answered, nil
	}
}

// Reachable tells whether an item may run for a request; see [Triggered.Reaches].
func (s *State) Reachable(item int, request registry.Revision) bool {
	t := s.Triggered()
	if t.Revision != request {
		t.Value = Triggered{} // what that one said is not known any more
	}
	var record registry.Revision
	if nodes := s.items.get(item); nodes != nil && nodes.record != nil && s.Knows(item) {
		record = nodes.record.created
	}
	return t.Value.Reaches(request, s.Config.Value.ShardingTotalCount, s.Config.Revision, record)
}

// Reaches tells whether an item may run for the request of this number: not if it may have come to the job since, or come
// back to it, with a configuration of another number of items. total is that number now, config the revision of the
// configuration, and record that with which the item's record began, 0 without one. A record that is younger says nothing:
// what came to the job has one as soon as it has run for a fire.
func (t Triggered) Reaches(request registry.Revision, total int, config, record registry.Revision) bool {
	return config < request || t.Total != 0 && t.Total == total || record != 0 && record <= request
}

// Pending lists the items that are still to begin for the last request by hand, as long as they can and it is not
// over: not those that are disabled or surplus. Of a request that each instance answers for itself, nobody knows.
func (s *State) Pending(now time.Time) []int {
	t := s.Triggered()
	if !t.Exists() || t.Err != nil || t.Value.Each || t.Value.Over(now) {
		return nil
	}
	var pending []int
	for n := range s.Total() {
		if !t.Value.Asks(n) || s.Disabled(n) || !s.Reachable(n, t.Revision) {
			continue
		}
		record := s.Record(n)
		if answer, _ := record.Value.AnswerTo(t.Revision); record.Err == nil && answer == Unanswered {
			pending = append(pending, n)
		}
	}
	return pending
}
