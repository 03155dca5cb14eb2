package demo

import (
	"slices"
	"time"
)

// look takes in what the registry showed since the last look.
func (d *director) look() {
	for _, p := range d.follow.take() {
		before := d.seen
		d.seen = p
		for _, id := range p.lost(before) {
			d.judge.Orphan(before.held(id))
			d.tellLost(id)
		}
		if d.stopping {
			continue // they leave one after the other, which is no news
		}
		for _, id := range p.joined(before) {
			d.tell.say(plain, "%s joined", d.crew.name(id))
		}
		if p.leader != before.leader && p.leader != "" {
			d.tell.say(plain, "%s leads", d.crew.name(p.leader))
		}
		d.tellAssignment()
	}
}

func (d *director) tellLost(id string) {
	p := d.crew.known[id]
	switch {
	case p != nil && !p.killed.IsZero():
		d.tell.say(plain, "%s is gone from the registry, %s after the kill", p.label, seconds(time.Since(p.killed)))
	case !d.stopping:
		d.tell.say(plain, "%s is gone from the registry", d.crew.name(id))
	}
}

// tellAssignment tells who holds what when every item has a living owner, and it is not what was
// told last.
func (d *director) tellAssignment() {
	p := d.seen
	lives := func(id string) bool { _, ok := p.instances[id]; return ok }
	if len(p.owners) == 0 || slices.ContainsFunc(p.owners, func(id string) bool { return !lives(id) }) {
		return
	}
	if slices.Equal(p.owners, d.shown.owners) && p.leader == d.shown.leader {
		return
	}
	d.tell.say(plain, "items: %s", assignment(p, d.crew.name))
	if moved := moves(d.shown, p, d.crew.name); moved != "" {
		d.tell.say(plain, "moved: %s", moved)
	}
	d.shown = p
}

// indent puts a line below what a round says of itself.
const indent = "                   "

// showRounds tells of rounds that were settled, of one that is late, and of what breaks the rules.
func (d *director) showRounds() {
	if d.stopping {
		return
	}
	whole := d.judge.Truth().Whole
	for _, r := range d.judge.Settled() {
		how := good
		if r.Sum() != whole {
			how = bad
		}
		d.tell.say(how, "%s", verdict(r, whole))
		for _, line := range excuses(r, d.opts.Every, d.crew.name) {
			d.tell.text(how, "%s%s", indent, line)
		}
	}
	for _, r := range d.judge.Open() {
		if r.Number > d.overdue && time.Since(r.Fire) > d.opts.Every+lookEvery {
			d.overdue = r.Number
			d.tell.say(dim, "%s", unfinished(r, d.holder))
		}
	}
	d.showFaults()
}

func (d *director) showFaults() {
	faults := d.judge.Faults()
	for _, f := range faults[d.faults:] {
		d.tell.say(bad, "FAULT: %s", f)
	}
	d.faults = len(faults)
}

// holder names who holds an item, and tells if that one is dead.
func (d *director) holder(item int) string {
	id := ""
	if item < len(d.seen.owners) {
		id = d.seen.owners[item]
	}
	if id != "" && d.crew.find(id) == nil {
		return d.crew.name(id) + ", which is dead"
	}
	return d.crew.name(id)
}
