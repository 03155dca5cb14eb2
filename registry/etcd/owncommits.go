package etcd

import (
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// maker is who made a revision.
type maker int

const (
	others    maker = iota
	ours            // this handle's commits, and nobody else: a revision is what one request wrote
	undecided       // requests are under way that may have
)

// ownKept is how many revisions are known as this handle's own. Watches bring a revision about when its request is
// answered, and a handle has fewer requests under way.
const ownKept = 128

// ownCommits tells the revisions that this handle's commits make from those of others. The hub's mutex guards it.
type ownCommits struct {
	sent     int                 // the number of the last request
	underWay map[int]bool        // the numbers of those without an answer
	newest   []registry.Revision // in a ring
	at       int                 // where the oldest of a full ring is
}

// begin takes in that a request is sent, and returns its number.
func (o *ownCommits) begin() (number int) {
	if o.underWay == nil {
		o.underWay = make(map[int]bool)
	}
	o.sent++
	o.underWay[o.sent] = true
	return o.sent
}

// over takes in that a request is over, and the revision that it made; 0 = none that is known.
func (o *ownCommits) over(number int, made registry.Revision) {
	delete(o.underWay, number)
	switch {
	case made == 0:
	case len(o.newest) < ownKept:
		o.newest = append(o.newest, made)
	default:
		o.newest[o.at] = made
		o.at = (o.at + 1) % ownKept
	}
}

// made returns who made a revision that has just come.
func (o *ownCommits) made(revision registry.Revision) maker { return o.madeBefore(revision, o.sent) }

// madeBefore returns who made a revision, if the request of that number was the last one before it came.
func (o *ownCommits) madeBefore(revision registry.Revision, sent int) maker {
	if slices.Contains(o.newest, revision) {
		return ours
	}
	for number := range o.underWay {
		if number <= sent {
			return undecided
		}
	}
	return others
}
