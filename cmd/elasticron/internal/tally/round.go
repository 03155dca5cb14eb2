package tally

import (
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/job"
)

// Standing says why a run counts for an item in a round.
type Standing uint8

// The reasons, the best first; before them, none.
const (
	Pending  Standing = iota // no run yet
	Own                      // the run of that fire
	Rerun                    // the run of that fire, again, because the first was lost
	CaughtUp                 // a later fire's run, for those that were missed
)

// Cell is one item in one round.
type Cell struct {
	Standing Standing
	Result   Result // the zero Result while pending
}

// Round is one fire of the job as far as it is known.
type Round struct {
	Number int // from 1
	Fire   time.Time
	Cells  []Cell // by item
}

// Pending returns the items that nothing stands for yet.
func (r Round) Pending() []int { return r.with(func(c Cell) bool { return c.Standing == Pending }) }

// Settled tells whether some run stands for every item.
func (r Round) Settled() bool { return len(r.Pending()) == 0 }

// Sum adds up what stands for the round.
func (r Round) Sum() fileindex.Sum {
	var sum fileindex.Sum
	for _, c := range r.Cells {
		sum = sum.Plus(c.Result.Sum)
	}
	return sum
}

// Groups returns the items for which something other than their own run on time stands, grouped by what and
// whose it is, in the order of their first items.
func (r Round) Groups() []Group {
	var groups []Group
	for item, c := range r.Cells {
		if c.Standing == Rerun || c.Standing == CaughtUp || c.Standing == Own && c.Result.Source == job.Misfire {
			groups = addTo(groups, c, item)
		}
	}
	return groups
}

// Group is several items of a round with the same excuse.
type Group struct {
	Standing Standing
	Instance string
	Source   job.Source
	Fire     time.Time // that was run instead; the round's own for a rerun and a late run
	Items    []int
}

func addTo(groups []Group, c Cell, item int) []Group {
	for i := range groups {
		g := &groups[i]
		if g.covers(c) {
			g.Items = append(g.Items, item)
			return groups
		}
	}
	return append(groups, Group{
		Standing: c.Standing, Instance: c.Result.Instance, Source: c.Result.Source, Fire: c.Result.Fire, Items: []int{item},
	})
}

func (g Group) covers(c Cell) bool {
	return g.Standing == c.Standing && g.Instance == c.Result.Instance && g.Source == c.Result.Source && g.Fire.Equal(c.Result.Fire)
}

func (r Round) with(is func(Cell) bool) []int {
	var items []int
	for item, c := range r.Cells {
		if is(c) {
			items = append(items, item)
		}
	}
	return items
}
