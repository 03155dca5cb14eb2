package sharding

import (
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/internal/texts"
)

// Strategy assigns the items of a job to its instances.
//
// Assign must be a pure function of the request: no clock, no randomness, no I/O. The leader calls it
// again after every change, and another instance may be the leader by then. If there are instances,
// it must give each item 0..Total-1 to one of them, evenly or not. Several jobs may call it concurrently.
//
// A strategy that certainly returns at once may say so by a method Immediate() bool, as those of this package do.
// The leader then waits for it; any other is called on a goroutine of its own, and again if the request is another one
// before it has returned. Its answer then counts no more, unless instances have only joined and an item has no live owner.
//
// Do not call Assign yourself: [Run] prepares the request and checks the answer.
type Strategy interface {
	Assign(Request) (Assignment, error)
}

// StrategyFunc is a [Strategy] made of a function.
type StrategyFunc func(Request) (Assignment, error)

// Assign calls f.
func (f StrategyFunc) Assign(r Request) (Assignment, error) { return f(r) }

// Request is the input of a [Strategy].
//
// [Run] gives the strategy a copy of its own in normal form: Instances is not empty, has no duplicates and is in
// Java's order, which is descending, and Current has exactly Total entries.
type Request struct {
	// Job is the job's name. Strategies may use it to treat jobs differently.
	Job string

	// Instances are the ids of the instances that may get items. It is a set: order and repetition
	// mean nothing. An id must not be empty.
	Instances []string

	// Total is the job's sharding total count: the items are 0..Total-1. It must not be negative, nor above 10 million, which
	// is far more than a job may have.
	Total int

	// Current is the assignment in force. It may be nil or of another length, if there was none or
	// the total changed, and may name instances that are gone.
	Current Assignment
}

// mostItems bounds the items of a request.
const mostItems = 10_000_000

// normal returns a copy of the request in the form that strategies rely on, or what is wrong with it.
func (r Request) normal() (Request, error) {
	if r.Total < 0 {
		return Request{}, fmt.Errorf("%w: job %q: total is %d, want 0 or more", ErrInvalidRequest, texts.Shorten(r.Job), r.Total)
	}
	if r.Total > mostItems { // while an assignment of them has room in memory
		return Request{}, fmt.Errorf("%w: job %q: total is %d, want at most %d", ErrInvalidRequest, texts.Shorten(r.Job), r.Total, mostItems)
	}
	if slices.Contains(r.Instances, "") {
		return Request{}, fmt.Errorf("%w: job %q: instances %s have an empty id", ErrInvalidRequest, texts.Shorten(r.Job), listed(r.Instances))
	}
	r.Instances = sorted(r.Instances)
	current := NewAssignment(r.Total)
	copy(current, r.Current)
	r.Current = current
	return r, nil
}

// Assignment says which instance each sharding item belongs to: the index is the item, the value is
// the instance's id, and "" is an item that belongs to none.
type Assignment []string

// NewAssignment returns an assignment of total items that belong to none.
func NewAssignment(total int) Assignment { return make(Assignment, total) }

// Instance returns the instance that item belongs to: "" if none, or if there is no such item.
func (a Assignment) Instance(item int) string {
	if item < 0 || item >= len(a) {
		return ""
	}
	return a[item]
}

// Items returns the items of one instance in ascending order, nil if it has none. It looks at every
// item; for many instances use [Assignment.ByInstance].
func (a Assignment) Items(instance string) []int {
	var items []int
	for item, owner := range a {
		if owner == instance {
			items = append(items, item)
		}
	}
	return items
}

// ByInstance returns the items of every instance that has any, each in ascending order. Items that
// belong to none are under "".
func (a Assignment) ByInstance() map[string][]int {
	items := make(map[string][]int)
	for item, owner := range a {
		items[owner] = append(items[owner], item)
	}
	return items
}
