package sharding

import (
	"fmt"
	"slices"
)

// Request is what a [Strategy] decides from.
//
// A strategy that is called by [Run] gets a copy of its own in normal form: Instances is not empty,
// has no duplicates and is in Java's order, and Current has exactly Total entries.
type Request struct {
	// Job is the job's name. Strategies may use it to treat jobs differently.
	Job string

	// Instances are the ids of the instances that may get items. It is a set: order and repetition
	// mean nothing. An id must not be empty.
	Instances []string

	// Total is the job's sharding total count: the items are 0..Total-1. It must not be negative.
	Total int

	// Current is the assignment in force. It may be nil or of another length, if there was none or
	// the total changed, and may name instances that are gone.
	Current Assignment
}

// normal returns a copy of the request in the form that strategies rely on, or what is wrong with it.
func (r Request) normal() (Request, error) {
	if r.Total < 0 {
		return Request{}, fmt.Errorf("%w: job %q: total is %d, want 0 or more", ErrInvalidRequest, r.Job, r.Total)
	}
	if slices.Contains(r.Instances, "") {
		return Request{}, fmt.Errorf("%w: job %q: instances %q have an empty id", ErrInvalidRequest, r.Job, r.Instances)
	}
	r.Instances = sorted(r.Instances)
	current := NewAssignment(r.Total)
	copy(current, r.Current)
	r.Current = current
	return r, nil
}
