package leadership

import (
	"maps"
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
	newest registry.Revision // no instance that was seen was created later; zero = who was there at first has not been seen
	// witnessed is what was seen of others that are new, or died so; nil is nothing, as of most jobs.
	witnessed *witnessed
}

// witnessed is what an instance has seen of new ones.
type witnessed struct {
	ttl    time.Duration    // of sessions; zero = not known yet
	young  []newcomer       // in no order
	deaths map[string]death // by the server; nil where there were none, and none that may have been one
	over   time.Time        // when the next probation ends of those that a plan has left out; zero = it left out nobody
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
	at       time.Time
	told     bool // the log says it
	mayLeave bool // it may have been a leave, and nothing before it was a death
}

// observe takes in who has come and gone by a step. An instance does not see its own death.
func (p *probation) observe(v room.View, t jobtree.Touched) {
	watched := p.newest > 0
	if !t.Instances && watched {
		p.letGo(v)
		return
	}
	now := time.Now()
	if p.witnessed != nil && !p.witnessed.goes(v, t, now) {
		p.witnessed = nil
	}
	newest := max(p.newest, 1)
	for _, i := range v.State.Instances {
		if watched && i.Created > p.newest && i.ID != v.Instance {
			if p.witnessed == nil {
				p.witnessed = new(witnessed)
			}
			p.witnessed.young = append(p.witnessed.young, newcomer{id: i.ID, created: i.Created, joined: now, leaves: i.Shutdown})
		}
		newest = max(newest, i.Created)
	}
	p.newest = newest
}

// letGo forgets what is of no use any more, and returns in what time that goes for all that is left; zero if nothing is left.
func (p *probation) letGo(v room.View) (in time.Duration) {
	w := p.witnessed
	if w == nil || w.ttl == 0 && !w.learnTTL(v) {
		return 0
	}
	if !v.Leads() {
		w.over = time.Time{} // whoever leads waits for it
	}
	now := time.Now()
	w.young = slices.DeleteFunc(w.young, func(n newcomer) bool { return now.Sub(n.joined) >= youngFor*w.ttl })
	w.forget(now)
	if w.empty() {
		p.witnessed = nil
		return 0
	}
	for _, n := range w.young {
		in = max(in, youngFor*w.ttl-now.Sub(n.joined))
	}
	for _, d := range w.deaths {
		in = max(in, w.memory()-now.Sub(d.at))
	}
	return in
}

// learnTTL takes in how long sessions live, if that can be told, and tells whether it can.
func (w *witnessed) learnTTL(v room.View) bool {
	if v.Attached == nil {
		return false
	}
	w.ttl = v.Attached.Session.TTL()
	return true
}

// empty tells whether there is nothing to remember. The end of a probation is, to who has left somebody out until then.
func (w *witnessed) empty() bool { return len(w.young) == 0 && len(w.deaths) == 0 && w.over.IsZero() }

// goes takes in which of the new ones have gone, and tells whether there is anything left to remember.
func (w *witnessed) goes(v room.View, t jobtree.Touched, now time.Time) bool {
	w.learnTTL(v)
	w.young = slices.DeleteFunc(w.young, func(n newcomer) bool {
		age, seen := now.Sub(n.joined), v.State.Instance(n.id).Created == n.created
		if died := !seen && !n.leaves && !left(v, t, n.id); died && age < youngFor*w.ttl {
			w.remember(jobtree.ServerOf(n.id), now, answered(v, t, n.id))
		}
		return !seen || age >= youngFor*w.ttl
	})
	for i, n := range w.young {
		w.young[i].leaves = n.leaves || v.State.Instance(n.id).Shutdown
	}
	w.forget(now)
	return !w.empty()
}

// left tells of an instance that is gone whether it has left: who does says so in the same transaction, by asking for a
// resharding. A leader that gives its items to others with it does not, and it looks like one whose session has ended.
// Of a job that is removed, or has moved, or whose items stay where they are, nobody says it, and it does not matter.
func left(v room.View, t jobtree.Touched, id string) bool {
	s := v.State
	if !s.Config.Exists() || s.Elsewhere() || !s.MembersMatter() || slices.Contains(s.Left, id) {
		return true
	}
	return !replaced(v, id) && (t.Necessary && s.Necessary != 0 || t.Leader && s.Leader.Created == 0)
}

// replaced tells of an instance that is gone whether another life of the same has taken its place, which asks for a
// resharding as it joins.
func replaced(v room.View, id string) bool { return v.State.Instance(id).Created != 0 }

// answered tells of an instance that is gone whether it may have left all the same: one step of a view may show a leave and the
// resharding that answered it, so that nothing of the request is seen. Whoever leads has seen what it has answered.
func answered(v room.View, t jobtree.Touched, id string) bool {
	return !v.Leads() && !replaced(v, id) && (t.Necessary || t.Epoch)
}

// remember takes in a death, or what may have been one. Whoever sees each death only with its resharding would never know of
// any: where another one went so before, which may have left as well, it is a death. Of one step, all may have left.
func (w *witnessed) remember(server string, now time.Time, mayLeave bool) {
	if w.deaths == nil {
		w.deaths = make(map[string]death)
	}
	before, is := w.deaths[server]
	is = is && w.remembers(before, now) && (!before.mayLeave || before.at.Before(now))
	w.deaths[server] = death{at: now, told: is && before.told, mayLeave: mayLeave && !is}
}

// forget lets go of what is remembered no longer.
func (w *witnessed) forget(now time.Time) {
	maps.DeleteFunc(w.deaths, func(_ string, d death) bool { return !w.remembers(d, now) })
}

func (w *witnessed) remembers(d death, now time.Time) bool { return now.Sub(d.at) < w.memory() }

func (w *witnessed) memory() time.Duration { return max(remembered, rememberedFor*w.ttl) }

// ends returns when the probation of an instance ends; zero if it is on none.
func (w *witnessed) ends(i jobtree.Instance, now time.Time) time.Time {
	d, dies := w.deaths[jobtree.ServerOf(i.ID)]
	if !dies || d.mayLeave || !w.remembers(d, now) {
		return time.Time{}
	}
	k := slices.IndexFunc(w.young, func(n newcomer) bool { return n.id == i.ID && n.created == i.Created })
	if k < 0 {
		return time.Time{}
	}
	end := w.young[k].joined.Add(probationFor * w.ttl)
	if forgotten := d.at.Add(w.memory()); forgotten.Before(end) {
		end = forgotten
	}
	if !end.After(now) {
		return time.Time{}
	}
	return end
}

// without is leftOut for a plan: it notes when the probation of somebody ends whom it leaves out.
func (p *probation) without(v room.View) func(jobtree.Instance) bool {
	without, over := p.leftOut(v)
	if p.witnessed != nil {
		p.witnessed.over = over
	}
	return without
}

// leftOut tells which instances are to get no items now, though they could run them, and when the probation of the first of
// them ends; nil if all may, or if there would be nobody else who is not as new, or if Java instances share the job: its
// leaders know no such thing. After a failure that has ended the sessions of all, all are new, whoever leads as well.
func (p *probation) leftOut(v room.View) (is func(jobtree.Instance) bool, over time.Time) {
	w := p.witnessed
	if w == nil || len(w.deaths) == 0 || v.State.SharedWithJava() {
		return nil, time.Time{}
	}
	now := time.Now()
	var out []string
	others := false
	for _, i := range v.State.Instances {
		if !v.State.MayOwn(i) {
			continue
		}
		end := w.ends(i, now)
		if end.IsZero() {
			others = others || i.ID != v.Instance || !v.Leaving && v.Attached != nil && now.Sub(v.Attached.Since) >= probationFor*w.ttl
			continue
		}
		out = append(out, i.ID)
		if over.IsZero() || end.Before(over) {
			over = end
		}
	}
	if !others || len(out) == 0 {
		return nil, time.Time{}
	}
	return func(i jobtree.Instance) bool { return slices.Contains(out, i.ID) }, over
}

// due tells whether somebody's probation is over whom the last plan has left out, and else in what time that will be so;
// zero if it left out nobody.
func (p *probation) due() (over bool, in time.Duration) {
	w := p.witnessed
	if w == nil || w.over.IsZero() {
		return false, 0
	}
	if in = time.Until(w.over); in > 0 {
		return false, in
	}
	w.over = time.Time{}
	return true, 0
}

// untold returns the servers with somebody on probation of which the log does not say yet that their instances die young.
func (p *probation) untold(v room.View, without func(jobtree.Instance) bool) []string {
	if without == nil {
		return nil
	}
	deaths := p.witnessed.deaths
	var servers []string
	for _, i := range v.State.Instances {
		server := jobtree.ServerOf(i.ID)
		if d := deaths[server]; without(i) && !d.told {
			d.told = true
			deaths[server] = d
			servers = append(servers, server)
		}
	}
	return servers
}
