package tally

import (
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
)

// Settled hands out, in order, the rounds that were settled since the last call. What they add up to
// has been compared with the whole.
func (j *Judge) Settled() []Round {
	n := 0
	for n < len(j.open) && j.open[n].Settled() {
		j.checkWhole(j.open[n])
		n++
	}
	done := j.open[:n:n]
	j.open = j.open[n:]
	j.settled += n
	return done
}

// Rounds returns how many rounds [Judge.Settled] has handed out.
func (j *Judge) Rounds() int { return j.settled }

// Open returns the rounds that are under way, oldest first. The last of them may be one of which
// only few items have been heard.
func (j *Judge) Open() []Round {
	open := slices.Clone(j.open)
	for i := range open {
		open[i].Cells = slices.Clone(open[i].Cells)
	}
	return open
}

// GiveUp counts what is still missing from the oldest open round as missed. It is for a job that
// stands still.
func (j *Judge) GiveUp() {
	if len(j.open) == 0 {
		return
	}
	for _, item := range j.open[0].Pending() {
		j.fault(Missed, j.open[0].Number, item, "nobody ran it")
	}
}

// Faults returns what broke the rules so far.
func (j *Judge) Faults() []Fault { return slices.Clone(j.faults) }

// Counts returns the numbers so far.
func (j *Judge) Counts() Counts {
	counts := j.counts
	counts.Runs = maps.Clone(counts.Runs)
	return counts
}

// Truth returns what every round must add up to.
func (j *Judge) Truth() fileindex.Truth { return j.truth }

// Number returns the number of the round that fires with a result, 0 if it does not count.
func (j *Judge) Number(r Result) int {
	if j.first.IsZero() || r.Fire.Before(j.first) {
		return 0
	}
	return int(r.Fire.Sub(j.first)/j.every) + 1
}

func (j *Judge) checkWhole(r Round) {
	if sum := r.Sum(); sum != j.truth.Whole {
		j.fault(Wrong, r.Number, -1, "all items counted %s, the tree has %s", sum, j.truth.Whole)
	}
}

// put sets a cell of an open round, and opens the rounds up to it. A round that was handed out
// already was exact with the run that a rerun now replaces, and is left as it is.
func (j *Judge) put(number, item int, cell Cell) {
	for n := j.settled + len(j.open) + 1; n <= number; n++ {
		fire := j.first.Add(time.Duration(n-1) * j.every)
		j.open = append(j.open, Round{Number: n, Fire: fire, Cells: make([]Cell, len(j.items))})
	}
	if i := number - j.settled - 1; i >= 0 {
		j.open[i].Cells[item] = cell
	}
}
