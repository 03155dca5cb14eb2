package jobtree

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// MaxErrorText bounds, in bytes, what a record keeps of an error. Longer texts are cut.
const MaxErrorText = 256

// Execution is one run of an item, as its record keeps it.
type Execution struct {
	Instance string             // id of the instance that ran it
	Session  registry.SessionID // under which it ran
	Source   job.Source         // why it ran
	Fire     time.Time          // which it stands for; zero for a run by hand
	Token    int64              // fencing token; 0 while it runs, see Record
	Base     int64              // what [Tokens] added to it when it began
	Begin    time.Time          // by the clock of the instance, to the millisecond
	End      time.Time          // by the clock of whoever recorded it; zero while it runs
	Outcome  Outcome            // empty while it runs
	Failover bool               // failover was on when it began, and so counts for it
	Round    string             // what began together has the same
	Error    string             // why it failed, at most MaxErrorText bytes
}

func (e *Execution) write(w *writer) {
	w.string("instance", e.Instance)
	w.hex("session", int64(e.Session))
	w.string("source", string(e.Source))
	w.instant("fire", e.Fire)
	w.count("token", e.Token)
	w.count("base", e.Base)
	w.instant("begin", e.Begin)
	w.instant("end", e.End)
	w.string("outcome", string(e.Outcome))
	w.flag("failover", e.Failover)
	w.string("round", e.Round)
	w.string("error", e.Error)
}

// text returns the execution as JSON.
func (e *Execution) text() string {
	w := writer{text: []byte{'{'}}
	e.write(&w)
	return string(append(w.text, '}'))
}

// read takes any word for source and outcome, so that those of newer versions do not make the
// record unreadable.
func (e *Execution) read(r *reader, o object) {
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
		case "token":
			e.Token = r.count(m)
		case "base":
			e.Base = r.count(m)
		case "begin":
			e.Begin = r.instant(m)
		case "end":
			e.End = r.instant(m)
		case "outcome":
			e.Outcome = Outcome(r.text(m))
		case "failover":
			e.Failover = r.flag(m)
		case "round":
			e.Round = r.text(m)
		case "error":
			e.Error = r.text(m)
		}
	}
}

// moment is a time of which milliseconds are enough.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// excerpt cuts a text to the bound, between characters.
func excerpt(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxErrorText {
		return text
	}
	cut := MaxErrorText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// Duration returns how long the execution took; 0 while it runs.
func (e *Execution) Duration() time.Duration {
	if e.End.IsZero() {
		return 0
	}
	return e.End.Sub(e.Begin)
}

// Lateness returns how long after its fire the execution began; 0 for a run by hand.
func (e *Execution) Lateness() time.Duration {
	if e.Fire.IsZero() {
		return 0
	}
	return e.Begin.Sub(e.Fire)
}
