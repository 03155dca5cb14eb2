package jobtree

import (
	"strconv"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// An item's record, with the last two executions, is most of what the store is sent, logs, keeps and tells of an
// execution. So an execution leaves out what is so nearly always, and says how long after its fire it began, and how long
// it took, in milliseconds. Where a short form would not say exactly the same, it says the times themselves.

// usualSource is the source of an execution that names none.
const usualSource = job.Scheduled

// usualOutcome is the outcome of an execution that names none.
func usualOutcome(e *Execution) Outcome {
	if e.End.IsZero() {
		return ""
	}
	return Success
}

// write appends the members. by is the instance that counts where none is named.
func (e *Execution) write(w *writer, by string) {
	late, isLate := millisecondsFrom(e.Fire, e.Begin)
	isLate = isLate && e.Trigger == 0 // what runs by hand comes when it is asked for, whatever fire it stands for
	took, isTook := millisecondsFrom(e.Begin, e.End)
	w.unless(by, "instance", e.Instance)
	w.hex("session", int64(e.Session))
	w.unless(string(usualSource), "source", string(e.Source))
	if !isLate {
		w.instant("fire", e.Fire)
	}
	w.count("trigger", int64(e.Trigger))
	w.string("parameter", e.Parameter)
	w.count("token", e.Token)
	w.count("base", e.Base)
	w.instant("begin", e.Begin)
	if isLate {
		w.number("late", late)
	}
	if isTook {
		w.number("took", took)
	} else {
		w.instant("end", e.End)
	}
	w.unless(string(usualOutcome(e)), "outcome", string(e.Outcome))
	w.flag("failover", e.Failover)
	w.flag("yielded", e.Yielded)
	w.string("round", e.Round)
	w.string("error", e.Error)
}

// past returns the execution as JSON, as it stands in the record of the next one, which by runs. The session that it ran
// under is over for it: that said who may be lost, and nothing asks it any more.
func (e *Execution) past(by string) string {
	w := writers.Get().(*writer)
	defer writers.Put(w)
	was := *e
	was.Session = 0
	w.text = append(w.text[:0], '{')
	was.write(w, by)
	return string(append(w.text, '}'))
}

// read reads the members. It takes any word for source and outcome, so that those of newer versions do not make the
// record unreadable.
func (e *Execution) read(r *reader, o object) {
	e.Source = usualSource
	short := noShortForms
	for m := range o.members() {
		switch m.name {
		case "instance":
			e.Instance = r.text(m)
		case "session":
			e.Session = registry.SessionID(r.hex(m))
		case "source":
			e.Source = job.Source(r.text(m))
		case "fire":
			e.Fire = r.instant(m)
		case "trigger":
			e.Trigger = registry.Revision(r.count(m))
		case "parameter":
			e.Parameter = r.text(m)
		case "token":
			e.Token = r.count(m)
		case "base":
			e.Base = r.count(m)
		case "begin":
			e.Begin = r.instant(m)
		case "late":
			short.late = r.count(m)
		case "end":
			e.End = r.instant(m)
		case "took":
			short.took = r.count(m)
		case "outcome":
			e.Outcome, short.outcome = Outcome(r.text(m)), true
		case "failover":
			e.Failover = r.flag(m)
		case "yielded":
			e.Yielded = r.flag(m)
		case "round":
			e.Round = r.text(m)
		case "error":
			e.Error = r.text(m)
		}
	}
	if at, ms := e.complete(short); at != "" {
		r.fault(member{name: at, value: strconv.FormatInt(ms, 10)}, "must be milliseconds from a begin that is there to a time of the years 0 to 9999")
	}
}

// shortForms are what an execution says in short, until all of it is read: it may come in any order.
type shortForms struct {
	late, took int64 // below 0 = it is not there
	outcome    bool  // it is said in full
}

var noShortForms = shortForms{late: -1, took: -1}

// complete fills in what was said in short. If that makes no sense, it tells which member says it, and what.
func (e *Execution) complete(s shortForms) (fault string, ms int64) {
	var ok bool
	if s.late >= 0 {
		if e.Fire, ok = addMilliseconds(e.Begin, -s.late); !ok {
			return "late", s.late
		}
	}
	if s.took >= 0 {
		if e.End, ok = addMilliseconds(e.Begin, s.took); !ok {
			return "took", s.took
		}
	}
	if !s.outcome {
		e.Outcome = usualOutcome(e)
	}
	return "", 0
}

// millisecondsFrom returns how long after one time another one comes, if it is a whole number of milliseconds from which
// [addMilliseconds] finds the other one again.
func millisecondsFrom(one, other time.Time) (int64, bool) {
	ms := other.Sub(one).Milliseconds()
	back, ok := addMilliseconds(one, ms)
	return ms, ok && !other.IsZero() && ms >= 0 && back.Equal(other)
}

// addMilliseconds returns the time so long after another one, before it if ms is negative, and whether both can be stored.
func addMilliseconds(t time.Time, ms int64) (time.Time, bool) {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	if t.IsZero() || ms > most || ms < -most {
		return time.Time{}, false
	}
	t = t.Add(time.Duration(ms) * time.Millisecond)
	return t, storable(t)
}
