package checker

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// excuses returns the moments at which the cluster may still be dealing with a change.
func (j *judge) excuses() spans {
	var all spans
	for _, i := range j.Incidents {
		all = append(all, j.excusesOf(i)...)
	}
	all = append(all, j.excusesOfChanges()...)
	all = append(all, j.endsOfProbation()...)
	// What happened just before a change may have been under way when it came, and fires come a little
	// earlier or later by other clocks.
	for i := range all {
		all[i].from = all[i].from.Add(-j.jitter() - j.rules.Skew)
		all[i].until = all[i].until.Add(j.rules.Skew)
	}
	return all.merge()
}

// excusesOf returns the moments that an incident excuses. One that outlasts a session is noticed by
// others when that has run out, and is a change again when it ends.
func (j *judge) excusesOf(i Incident) spans {
	r, until := j.rules, i.until()
	noticed := i.From.Add(r.TTL + r.Detect)
	switch i.Kind {
	case Crashed:
		return spans{{i.From, noticed}}
	case Cut, Paused:
		back := span{until, until.Add(r.Settle + r.Detect)}
		if until.Before(noticed) {
			return spans{{i.From, back.until}}
		}
		return spans{{i.From, noticed}, back}
	case Started: // it may have to wait for the end of its former session
		return spans{{i.From, noticed.Add(r.Settle)}}
	case Slow: // sessions may be given up, and what is under way may arrive much later
		return spans{{i.From, until.Add(r.TTL + r.Settle + 4*i.Delay)}}
	case Held: // its process decides anew when it has arrived
		return spans{{i.From, until.Add(r.Settle + r.Detect)}}
	case Expired: // the next keep-alive tells
		return spans{{i.From, until.Add(r.TTL/3 + r.Settle)}}
	case Stopped: // running items end later, and may leave something to be done again
		return spans{{i.From, i.From.Add(r.Settle)}, {until, until.Add(r.Settle)}}
	case Denied: // what it holds goes to others when its patience is over, and its session if it had to give that up
		noticed = i.From.Add(r.TTL + r.Settle)
		back := span{until, until.Add(r.Reopen + 2*r.Settle + r.Detect)}
		if until.Before(noticed) {
			return spans{{i.From, back.until}}
		}
		if i.Writes || j.joinedAbout(i.Instance, i.From) {
			noticed = noticed.Add(r.TTL + r.Detect)
		}
		return spans{{i.From, noticed}, back}
	case Refused: // it tells what was missed and leaves, or takes part if nobody else could
		return spans{{i.From, i.From.Add(2*r.Settle + r.Detect)}, {until, until.Add(r.Settle + r.Detect)}}
	case Paced: // what this excuses is judged as a whole
		return spans{{i.From, until.Add(r.TTL + r.Settle + r.Detect)}}
	case Misset: // until it is noticed, and again when the clock is set right
		return spans{{i.From, i.From.Add(r.Look + 2*r.Settle)}, {until, until.Add(r.Look + 2*r.Settle)}}
	case Tampered:
		return spans{{i.From, until.Add(j.healing())}}
	case Down: // a store that comes up gives every session its full time, those of the dead, too
		return spans{{i.From, until.Add(r.TTL + r.Detect + r.Settle)}}
	default:
		return spans{{i.From, until.Add(r.Settle)}}
	}
}

// joinedAbout tells whether an instance joined, or began to lead, so near to a moment that it may not have seen that then.
// If it sees nothing from then on, it cannot leave, as it does not know what it holds, and gives its session up.
func (j *judge) joinedAbout(instance string, at time.Time) bool {
	for _, state := range j.States {
		if state.At.Before(at.Add(-j.rules.Settle)) || state.At.After(at.Add(j.rules.Settle)) {
			continue
		}
		for _, c := range state.Step.Changes {
			name, ok := jobtree.Parse(c.Path())
			joined := name.Kind == jobtree.KindInstance && name.Key == instance || name.Kind == jobtree.KindLeader && c.New.Value == instance
			if ok && name.Job == j.Job && joined && c.New.Exists() && c.New.Created == c.New.Revision {
				return true
			}
		}
	}
	return false
}

// excusesOfChanges returns the moments after changes that the registry itself shows: of settings,
// servers, disabled items, members and leader.
func (j *judge) excusesOfChanges() spans {
	var all spans
	for _, state := range j.States {
		for _, c := range state.Step.Changes {
			name, ok := jobtree.Parse(c.Path())
			if !ok || name.Job != j.Job {
				continue
			}
			switch name.Kind {
			case jobtree.KindConfig, jobtree.KindServer, jobtree.KindItemDisabled, jobtree.KindLeader:
			case jobtree.KindInstance:
				if c.Old.Created == c.New.Created {
					continue // a request to run by hand
				}
			default:
				continue
			}
			all = append(all, span{state.At, state.At.Add(j.rules.Settle)})
		}
	}
	return all
}

// during returns the times of incidents of one instance and of the given kinds, each prolonged. A message
// that is held up is one way to be slow.
func (j *judge) during(instance string, prolong time.Duration, kinds ...Kind) spans {
	return j.trouble(instance, true, prolong, kinds...)
}

// trouble is during, and leaves out what concerns all instances unless that is wanted, too.
func (j *judge) trouble(instance string, ofAll bool, prolong time.Duration, kinds ...Kind) spans {
	var found spans
	for _, i := range j.Incidents {
		if i.Instance != instance && (i.Instance != "" || !ofAll) {
			continue
		}
		for _, kind := range kinds {
			if i.Kind == kind || i.Kind == Held && kind == Slow {
				after := prolong + 4*i.Delay
				if kind == Denied {
					after += j.rules.Reopen
				}
				found = append(found, span{i.From, i.until().Add(after)})
			}
		}
	}
	return found.merge()
}

// alive tells whether a process with this instance id should be taking part at a moment: it was
// started, and neither stopped nor crashed since.
func (j *judge) alive(instance string, at time.Time) bool {
	var last Incident
	for _, i := range j.Incidents {
		life := i.Kind == Started || i.Kind == Stopped || i.Kind == Crashed
		if life && i.Instance == instance && !i.From.After(at) && !i.From.Before(last.From) {
			last = i
		}
	}
	return last.Kind == Started
}

// instances returns the ids of all processes of the history.
func (j *judge) instances() []string {
	var ids []string
	seen := make(map[string]bool)
	for _, i := range j.Incidents {
		if i.Kind == Started && !seen[i.Instance] {
			seen[i.Instance] = true
			ids = append(ids, i.Instance)
		}
	}
	return ids
}
