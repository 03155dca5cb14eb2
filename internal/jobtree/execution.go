package jobtree

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Outcome is how an execution ended.
type Outcome string

// The outcomes. An execution that has not ended has none.
const (
	Success     Outcome = "success"
	Failure     Outcome = "failure"     // it returned an error or panicked
	Interrupted Outcome = "interrupted" // it was cancelled: at a stop, or as its session was lost
	Lost        Outcome = "lost"        // its session ended and nobody heard of it again
	NotStarted  Outcome = "not started" // it was begun, but its code was never called
)

// MaxErrorText bounds, in bytes, what a record keeps of an error. See [Excerpt] for longer texts.
const MaxErrorText = 256

// Of a longer text a record keeps so much of the beginning, and then what stands for the rest.
const (
	errorBeginning = 88
	errorLeftOut   = " ... "
)

// Execution is one run of an item, as its record keeps it.
type Execution struct {
	Instance  string             // id of the instance that ran it
	Session   registry.SessionID // under which it ran
	Source    job.Source         // why it ran
	Fire      time.Time          // which it stands for; zero for a run by hand that stands for none
	Trigger   registry.Revision  // the request by hand that it runs for, also if it is its rerun; 0 = none
	Parameter string             // that came with the request
	Token     int64              // fencing token; 0 while it runs, see Record
	Base      int64              // what [Tokens] added to it when it began
	Begin     time.Time          // by the clock of the instance, to the millisecond: when it was decided, or when its fire comes if that is later
	End       time.Time          // by the clock of whoever recorded it; zero while it runs
	Outcome   Outcome            // empty while it runs
	Failover  bool               // failover was on when it began, and so counts for it
	Yielded   bool               // it was interrupted as it made room when it was told to, with work left
	Round     string             // what began together has the same
	Error     string             // why it failed, at most MaxErrorText bytes
}

// ByHand tells whether the execution runs for a request by hand, or is the rerun of one, whatever fire it stands
// for. Before requests were named in records, only those had no fire.
func (e *Execution) ByHand() bool { return e.Trigger != 0 || e.Fire.IsZero() }

// Duration returns how long the execution took; 0 while it runs, and if it was taken back before its fire came.
func (e *Execution) Duration() time.Duration {
	if e.End.IsZero() {
		return 0
	}
	return max(0, e.End.Sub(e.Begin))
}

// Lateness returns how long after its fire the execution began; 0 for a run by hand, whatever fire that stands
// for.
func (e *Execution) Lateness() time.Duration {
	if e.ByHand() {
		return 0
	}
	return e.Begin.Sub(e.Fire)
}

// moment is a time to the millisecond.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Excerpt returns what a record keeps of the text of an error: if that is too long, the beginning, which says what failed, and
// more of the end, which says why: there are the cause of a chain of errors, and the last words of a script.
func Excerpt(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxErrorText {
		return text
	}
	head, tail := errorBeginning, len(text)-(MaxErrorText-errorBeginning-len(errorLeftOut))
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + errorLeftOut + text[tail:]
}
