package checker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// saved is a try of an execution to save a checkpoint.
type saved struct {
	Save
	by *Run
}

// judgeCheckpoints judges the checkpoints of each item: they never go back.
func (j *judge) judgeCheckpoints() {
	tries := make(map[int][]saved)
	for i := range j.Runs {
		r := &j.Runs[i]
		for _, s := range r.Saves {
			tries[r.Context.Item] = append(tries[r.Context.Item], saved{s, r})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(tries)) {
		slices.SortStableFunc(tries[n], func(a, b saved) int { return a.At.Compare(b.At) })
		j.judgeOffsets(n, tries[n])
		for i := range j.Runs {
			if r := &j.Runs[i]; r.Context.Item == n {
				j.judgeStart(r, tries[n])
			}
		}
	}
}

// judgeOffsets judges what the registry showed of an item's checkpoint: it was never replaced by one that
// was tried before it.
func (j *judge) judgeOffsets(n int, tries []saved) {
	for _, state := range j.States {
		if slices.Contains(j.removals, state.At) {
			continue
		}
		for _, c := range state.Step.Changes {
			if name, ok := jobtree.Parse(c.Path()); !ok || name.Job != j.Job || name.Kind != jobtree.KindOffset || name.Item != n {
				continue
			}
			was, is := tried(tries, c.Old.Value), tried(tries, c.New.Value)
			if is < was {
				j.find(Checkpoint, state.At, n, fmt.Sprintf("the checkpoint went back from %q to %q", c.Old.Value, c.New.Value), tries[was].by)
			}
		}
	}
}

// judgeStart judges with which checkpoint an execution began: with the last one that was confirmed to one
// before it, or with one that was tried later.
func (j *judge) judgeStart(r *Run, tries []saved) {
	e := j.execution(r.Context.Item, r.Context.Token)
	if e == nil {
		return
	}
	last := -1
	for i, s := range tries {
		if s.by.Context.Token < r.Context.Token && !s.Confirmed.IsZero() && s.Confirmed.Before(e.began) && j.life(s.Confirmed) == e.life &&
			!j.hands.touched(r.Context.Item, s.At, r.Began, jobtree.KindOffset) {
			last = i
		}
	}
	if began := tried(tries, r.Context.Offset); began < last {
		j.find(Checkpoint, r.Began, r.Context.Item, fmt.Sprintf("an execution began at %q though %q had been confirmed at %s",
			r.Context.Offset, tries[last].Offset, clock(tries[last].Confirmed)), tries[last].by, r)
	} else if began >= 0 && tries[began].At.After(r.Began) {
		j.find(Checkpoint, r.Began, r.Context.Item, fmt.Sprintf("an execution began at %q, which nobody had saved", r.Context.Offset), r)
	}
}

// tried returns which try saved an offset, -1 for none.
func tried(tries []saved, offset string) int {
	return slices.IndexFunc(tries, func(s saved) bool { return s.Offset == offset })
}
