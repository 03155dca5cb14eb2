package jobtree

import (
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// readPlain reads the text of a record in one pass, if it is one as [EncodeRecord] writes it of plain words. Each
// process reads every record of its jobs, two for an execution, and checking a text first and then cutting it member
// by member took most of that. What it does not know at first sight it leaves to [DecodeRecord]: then it is false, and
// what it has read so far means nothing. current is where the record's current execution goes.
func (r *Record) readPlain(text string, current *Execution) bool {
	c := cursor{text}
	return c.object(func(name string) bool { return r.readPlainMember(&c, name, current) }) && c.rest == ""
}

func (r *Record) readPlainMember(c *cursor, name string, current *Execution) (ok bool) {
	switch name {
	case "format":
		var format int64
		ok = countOf(c, &format) && format <= recordFormat
	case "state":
		r.State, ok = wordOf(c, ItemIdle, ItemRunning, ItemWaiting, ItemInterrupted)
	case "lastFire":
		r.LastFire, ok = c.instant()
	case "trigger":
		ok = countOf(c, &r.Trigger)
	case "reruns":
		ok = countOf(c, &r.Reruns)
	case "counts":
		ok = c.object(func(name string) bool { return r.Counts.readPlain(c, name) })
	case "before":
		r.Before = &Before{State: ItemIdle}
		ok = c.object(func(name string) bool { return r.Before.readPlain(c, name) })
	case "current":
		*current, r.Current = Execution{Source: usualSource}, current
		short := noShortForms
		ok = c.object(func(name string) bool { return current.readPlain(c, name, &short) })
		if fault, _ := current.complete(short); fault != "" {
			ok = false
		}
	case "previous":
		r.previous, ok = c.raw()
	}
	return ok
}

func (n *Counts) readPlain(c *cursor, name string) bool {
	switch name {
	case "success":
		return countOf(c, &n.Success)
	case "failure":
		return countOf(c, &n.Failure)
	case "interrupted":
		return countOf(c, &n.Interrupted)
	case "lost":
		return countOf(c, &n.Lost)
	}
	return false
}

func (b *Before) readPlain(c *cursor, name string) (ok bool) {
	switch name {
	case "state":
		b.State, ok = wordOf(c, ItemIdle, ItemWaiting, ItemInterrupted)
	case "lastFire":
		b.LastFire, ok = c.instant()
	case "trigger":
		ok = countOf(c, &b.Trigger)
	case "reruns":
		ok = countOf(c, &b.Reruns)
	}
	return ok
}

func (e *Execution) readPlain(c *cursor, name string, short *shortForms) (ok bool) {
	switch name {
	case "instance":
		e.Instance, ok = c.text()
	case "session":
		e.Session, ok = c.session()
	case "source":
		e.Source, ok = wordOf(c, job.Scheduled, job.Misfire, job.Failover, job.Manual)
	case "fire":
		e.Fire, ok = c.instant()
	case "trigger":
		ok = countOf(c, &e.Trigger)
	case "parameter":
		e.Parameter, ok = c.text()
	case "token":
		ok = countOf(c, &e.Token)
	case "base":
		ok = countOf(c, &e.Base)
	case "begin":
		e.Begin, ok = c.instant()
	case "late":
		ok = countOf(c, &short.late)
	case "end":
		e.End, ok = c.instant()
	case "took":
		ok = countOf(c, &short.took)
	case "outcome":
		short.outcome = true
		e.Outcome, ok = wordOf(c, Success, Failure, Interrupted, Lost, NotStarted)
	case "failover":
		ok = c.cut("true")
		e.Failover = ok
	case "yielded":
		ok = c.cut("true")
		e.Yielded = ok
	case "round":
		e.Round, ok = c.text()
	case "error":
		e.Error, ok = c.text()
	}
	return ok
}

// cursor reads what is left of a plain text; see [plainObject]. Each of its methods takes one thing off, and is false
// if that is not what comes next.
type cursor struct{ rest string }

func (c *cursor) cut(prefix string) (ok bool) {
	c.rest, ok = strings.CutPrefix(c.rest, prefix)
	return ok
}

// object takes an object off. member takes off the value of a member.
func (c *cursor) object(member func(name string) bool) bool {
	if !c.cut("{") {
		return false
	}
	if c.cut("}") {
		return true
	}
	for {
		if name, ok := c.text(); !ok || !c.cut(":") || !member(name) {
			return false
		}
		if !c.cut(",") {
			return c.cut("}")
		}
	}
}

// raw takes an object off as it stands.
func (c *cursor) raw() (text string, ok bool) {
	rest, ok := cutPlainObject(c.rest, plainDepth)
	if ok {
		text, c.rest = c.rest[:len(c.rest)-len(rest)], rest
	}
	return text, ok
}

// text takes a string off.
func (c *cursor) text() (text string, ok bool) {
	rest, ok := cutPlainString(c.rest)
	if ok {
		text, c.rest = c.rest[1:len(c.rest)-len(rest)-1], rest
	}
	return text, ok
}

func (c *cursor) instant() (time.Time, bool) {
	text, ok := c.text()
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t.UTC(), err == nil && storable(t)
}

// session takes the id of a session off.
func (c *cursor) session() (registry.SessionID, bool) {
	text, ok := c.text()
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseInt(text, 16, 64)
	return registry.SessionID(id), err == nil
}

// wordOf takes off a string that is one of a few. What it returns is no part of the text.
func wordOf[T ~string](c *cursor, words ...T) (T, bool) {
	text, ok := c.text()
	if ok {
		for _, w := range words {
			if text == string(w) {
				return w, true
			}
		}
	}
	return "", false
}

// countOf takes a whole number off.
func countOf[T ~int | ~int64](c *cursor, to *T) bool {
	rest, ok := cutPlainNumber(c.rest)
	if !ok {
		return false
	}
	number, err := strconv.ParseInt(c.rest[:len(c.rest)-len(rest)], 10, 64)
	*to, c.rest = T(number), rest
	return err == nil
}
