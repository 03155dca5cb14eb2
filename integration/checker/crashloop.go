package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// unmannedFor is for how many TTLs an item may belong to no living process while another lives all that time. Each death costs
// one, and what instances that come and go meanwhile know of each other some more.
const unmannedFor = 6

const (
	// youngFor is for how many TTLs an instance is registered at most that dies young.
	youngFor = 3
	// probationFor is for how many TTLs one that is new may be left without items after that.
	probationFor = 2
)

// deathsAreKept is for how long it is remembered that an instance died young.
func (j *judge) deathsAreKept() time.Duration { return max(time.Minute, 4*j.rules.TTL) }

// judgeLoops judges whether items found their way to those who live, however others come and go: each of the moves may be
// in time, and yet go to one that is dead by then.
func (j *judge) judgeLoops() {
	bound := unmannedFor * j.rules.TTL
	var troubles spans // in which those who would move items may be late
	for _, id := range append(j.instances(), "") {
		troubles = append(troubles, j.trouble(id, false, j.rules.Settle+j.rules.Detect, Cut, Paused, Slow, Down, Lost, Denied, Misset, Paced, Tampered, Refused)...)
	}
	troubles = troubles.merge()
	lives, stewards := make(map[string]spans), make(map[string]spans)
	for _, id := range j.instances() {
		lives[id] = j.takingPart(id)
		off := of(j.courses.servers, jobtree.ServerOf(id)).when(j.End, func(is bool) bool { return is })
		told := of(j.courses.leaves, id).when(j.End, func(is bool) bool { return is })
		stewards[id] = lives[id].except(slices.Concat(troubles, off, told).merge())
	}
	usable := j.courses.settings.when(j.End, func(s *settings) bool { return s.usable })
	for n, owner := range j.courses.owner {
		var manned spans
		for i, s := range *owner {
			until := j.End
			if i+1 < len(*owner) {
				until = (*owner)[i+1].from
			}
			manned = append(manned, lives[s.is].and(spans{{s.from, until}})...)
		}
		runnable := of(j.courses.runnable, n).when(j.End, func(is bool) bool { return is })
		unmanned := runnable.and(usable).except(manned.merge())
		for _, id := range j.instances() {
			both := unmanned.and(stewards[id])
			if i := slices.IndexFunc(both, func(x span) bool { return x.until.Sub(x.from) > bound }); i >= 0 {
				j.find(NoStall, both[i].from, n, fmt.Sprintf("the item belonged to no living process until %s, though %s lived", clock(both[i].until), id))
				break
			}
		}
	}
}

// takingPart returns when an instance is registered by a life of its process that goes on.
func (j *judge) takingPart(id string) spans {
	if len(j.States) == 0 {
		return nil
	}
	var all spans
	for _, life := range j.lives(id, j.States[0].At, j.End) {
		if !j.alive(id, life.from) {
			continue
		}
		for _, present := range j.presence[id] {
			if !present.from.Before(life.from) { // else it is that of a former life
				all = append(all, spans{present}.and(spans{life})...)
			}
		}
	}
	return all.merge()
}

// onProbation tells whether an instance may be left without items at a moment, as others of its server were gone soon after
// they had joined. Whoever leads goes by when it heard of that, which may be late while something is slow.
func (j *judge) onProbation(instance string, at time.Time) bool {
	var late spans
	for _, id := range append(j.instances(), "") {
		late = append(late, j.trouble(id, false, j.rules.Settle, Cut, Paused, Slow, Down, Lost, Denied)...)
	}
	late = late.merge()
	quiet := func(from, until time.Time) (all time.Duration) {
		for _, x := range late.outside(from, until) {
			all += x.until.Sub(x.from)
		}
		return all
	}
	present := j.presence[instance]
	if len(present) == 0 || quiet(present[len(present)-1].from, at) > probationFor*j.rules.TTL+j.rules.Settle {
		return false
	}
	memory := j.deathsAreKept() + j.rules.Settle
	for id, spans := range j.presence {
		if jobtree.ServerOf(id) != jobtree.ServerOf(instance) {
			continue
		}
		if slices.ContainsFunc(spans, func(x span) bool {
			return !x.until.After(at) && quiet(x.until, at) < memory && quiet(x.from, x.until) < youngFor*j.rules.TTL+j.rules.Settle
		}) {
			return true
		}
	}
	return false
}

// endsOfProbation returns the moments after instances may get items that were left without: a change of which nothing else
// tells.
func (j *judge) endsOfProbation() spans {
	gone := make(map[string][]time.Time) // by server
	var all spans
	each := func(do func(at time.Time, server string, joined bool)) {
		for _, state := range j.States {
			for _, c := range state.Step.Changes {
				if name, ok := jobtree.Parse(c.Path()); ok && name.Job == j.Job && name.Kind == jobtree.KindInstance && c.Old.Created != c.New.Created {
					do(state.At, jobtree.ServerOf(name.Key), c.New.Exists())
					if c.Old.Exists() && c.New.Exists() {
						do(state.At, jobtree.ServerOf(name.Key), false)
					}
				}
			}
		}
	}
	each(func(at time.Time, server string, joined bool) {
		if !joined {
			gone[server] = append(gone[server], at)
		}
	})
	each(func(at time.Time, server string, joined bool) {
		end := at.Add(probationFor * j.rules.TTL)
		for _, g := range gone[server] {
			over := g.Add(j.deathsAreKept())
			if !joined || g.After(end) || over.Before(at) {
				continue
			}
			if over.After(end) {
				over = end
			}
			all = append(all, span{over, over.Add(j.rules.Settle)})
		}
	})
	return all
}
