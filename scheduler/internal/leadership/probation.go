package leadership

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

const (
	// youngFor is for how many TTLs an instance has been registered at most that has died young. Its session outlives it by
	// up to one.
	youngFor = 3
	// probationFor is for how many TTLs after it has joined an instance of a server whose instances die young gets no items.
	// One that dies within the first of them is gone by then, without ever having had an item.
	probationFor = 2
	// remembered is for how long it is remembered that an instance of a server died young, and rememberedFor for how many TTLs
	// at least.
	remembered    = time.Minute
	rememberedFor = 4
)

// probation is what an instance has seen of others of its job that die as soon as they have joined. A process that dies
// and is started again, over and over, keeps each of its lives registered for a TTL after it: the items would go from one
// dead instance to the next, and never to one that lives. So a new instance of a server on which that happened gets none for a
// while, as long as others can run them.
//
// Each instance remembers that by itself, in its memory alone: it matters to the leader, and the next one should know it. The
// leader is the oldest as a rule (see [room.View.HoldBack]). One that knows of nothing yet learns it from the next death that
// it sees. An instance that was there before this one is none that is new.
type probation struct {
	watched bool              // the instances that were there at first have been seen
	newest  registry.Revision // no instance that was seen was created later
	ttl     time.Duration     // of sessions; zero = not known yet
	young   []newcomer        // in no order
	deaths  map[string]death  // by the server; nil where there were none
	over    time.Time         // when the next of those ends that a plan has left out; zero = it left out nobody
}

// newcomer is an instance that was seen to join.
type newcomer struct {
	id      string
	created registry.Revision
	joined  time.Time
	leaves  bool // it was told to leave, or leaves
}

// death is the last one of a young instance on a server.
type death struct {
	at   time.Time
	told bool // the log says it
}

// observe takes in who has come and gone by a step.
func (p *probation) observe(v room.View, t jobtree.Touched) {
	if !t.Instances && p.watched {
		return
	}
	now := time.Now()
	if v.Attached != nil {
		p.ttl = v.Attached.Session.TTL()
	}
	p.young = slices.DeleteFunc(p.young, func(n newcomer) bool {
		age, seen := now.Sub(n.joined), v.State.Instance(n.id).Created == n.created
		if died := !seen && !n.leaves && !left(v, t, n.id); died && age < youngFor*p.ttl {
			p.remember(jobtree.ServerOf(n.id), now)
		}
		return !seen || age >= youngFor*p.ttl
	})
	for i, n := range p.young {
		p.young[i].leaves = n.leaves || v.State.Instance(n.id).Shutdown
	}
	newest := p.newest
	for _, i := range v.State.Instances {
		if p.watched && i.Created > p.newest {
			p.young = append(p.young, newcomer{id: i.ID, created: i.Created, joined: now, leaves: i.Shutdown})
		}
		newest = max(newest, i.Created)
	}
	p.watched, p.newest = true, newest
	if len(p.young) == 0 {
		p.young = nil
	}
}

// left tells of an instance that is gone whether it may have left: who does says so in the same transaction, by asking for a
// resharding. A leader that gives its items to others with it does not, and it looks like one whose session has ended.
// Of a job that is removed, or has moved, or whose items stay where they are, nobody says it, and it does not matter.
func left(v room.View, t jobtree.Touched, id string) bool {
	s := v.State
	if !s.Config.Exists() || s.Elsewhere() || !s.MembersMatter() || slices.Contains(s.Left, id) {
		return true
	}
	replaced := s.Instance(id).Created != 0 // by another life of the same, which asks as it joins
	return !replaced && (t.Necessary && s.Necessary != 0 || t.Leader && s.Leader.Created == 0)
}

func (p *probation) remember(server string, now time.Time) {
	for other, d := range p.deaths {
		if !p.remembers(d, now) {
			delete(p.deaths, other)
		}
	}
	if p.deaths == nil {
		p.deaths = make(map[string]death)
	}
	p.deaths[server] = death{at: now, told: p.deaths[server].told}
}

func (p *probation) remembers(d death, now time.Time) bool { return now.Sub(d.at) < p.memory() }

func (p *probation) memory() time.Duration { return max(remembered, rememberedFor*p.ttl) }

// ends returns when the probation of an instance ends; zero if it is on none.
func (p *probation) ends(i jobtree.Instance, now time.Time) time.Time {
	d, dies := p.deaths[jobtree.ServerOf(i.ID)]
	if !dies || !p.remembers(d, now) {
		return time.Time{}
	}
	k := slices.IndexFunc(p.young, func(n newcomer) bool { return n.id == i.ID && n.created == i.Created })
	if k < 0 {
		return time.Time{}
	}
	end := p.young[k].joined.Add(probationFor * p.ttl)
	if forgotten := d.at.Add(p.memory()); forgotten.Before(end) {
		end = forgotten
	}
	if !end.After(now) {
		return time.Time{}
	}
	return end
}

// without tells which instances are to get no items now, though they could run them; nil if all may, or if there would be
// nobody else, or if Java instances share the job: its leaders know no such thing.
func (p *probation) without(v room.View) func(jobtree.Instance) bool {
	p.over = time.Time{}
	if len(p.deaths) == 0 || v.State.SharedWithJava() {
		return nil
	}
	now := time.Now()
	var out []string
	others := false
	for _, i := range v.State.Instances {
		if !v.State.MayOwn(i) {
			continue
		}
		end := p.ends(i, now)
		if end.IsZero() {
			others = others || !v.Leaving || i.ID != v.Instance
			continue
		}
		out = append(out, i.ID)
		if p.over.IsZero() || end.Before(p.over) {
			p.over = end
		}
	}
	if !others || len(out) == 0 {
		p.over = time.Time{}
		return nil
	}
	return func(i jobtree.Instance) bool { return slices.Contains(out, i.ID) }
}

// due tells whether somebody's probation is over whom the last plan has left out, and else in what time that will be so;
// zero if it left out nobody.
func (p *probation) due() (over bool, in time.Duration) {
	if p.over.IsZero() {
		return false, 0
	}
	if in = time.Until(p.over); in > 0 {
		return false, in
	}
	p.over = time.Time{}
	return true, 0
}

// untold returns the servers with somebody on probation of which the log does not say yet that their instances die young.
func (p *probation) untold(v room.View, without func(jobtree.Instance) bool) []string {
	var servers []string
	for _, i := range v.State.Instances {
		server := jobtree.ServerOf(i.ID)
		if d := p.deaths[server]; without != nil && without(i) && !d.told {
			p.deaths[server] = death{at: d.at, told: true}
			servers = append(servers, server)
		}
	}
	return servers
}
