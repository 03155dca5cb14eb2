package live

import (
	"cmp"
	"time"
	"unique"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
)

// The outcomes of a span besides package jobtree's.
const (
	outcomeRunning = operate.OutcomeRunning
	outcomeUnknown = "unknown"
)

// span is a [Span] as a timeline keeps it: there may be half a million.
type span struct {
	begin, end, cut, fire int64 // in milliseconds; 0 = none
	token                 int64
	item                  int32
	failover, history     bool
	instance              unique.Handle[string]
	source, outcome       unique.Handle[string]
	round, error          string
	changed               uint64 // the number of the change that it was part of
}

// sizeOfSpan is what a span takes besides its texts, with its place in a list.
const sizeOfSpan = 144

func (s *span) size() int { return sizeOfSpan + len(s.round) + len(s.error) }

// spanOf returns the span of an execution that a record tells of; false if its code was never called.
func spanOf(item int, e *jobtree.Execution, token int64) (span, bool) {
	if e == nil || e.Outcome == jobtree.NotStarted {
		return span{}, false
	}
	return span{
		begin: milliseconds(e.Begin), end: milliseconds(e.End), fire: milliseconds(e.Fire),
		token: token, item: int32(item), failover: e.Source == job.Failover,
		instance: unique.Make(e.Instance), source: unique.Make(string(e.Source)),
		outcome: unique.Make(cmp.Or(string(e.Outcome), outcomeRunning)),
		round:   unique.Make(e.Round).Value(), error: clone(e.Error),
	}, true
}

func (s *span) is(item int, instance unique.Handle[string], begin int64) bool {
	return s.begin == begin && int(s.item) == item && s.instance == instance
}

// running tells whether nobody has said that the execution ended.
func (s *span) running() bool { return s.end == 0 }

// bad tells whether the execution ended otherwise than its code should.
func (s *span) bad() bool {
	switch s.outcome.Value() {
	case string(jobtree.Failure), string(jobtree.Lost), string(jobtree.Interrupted):
		return true
	default:
		return false
	}
}

// shown returns the span for readers.
func (s *span) shown() Span {
	return Span{
		Item: int(s.item), Instance: s.instance.Value(), Begin: moment(s.begin), End: moment(s.end),
		Outcome: s.outcome.Value(), Cut: moment(s.cut), Source: job.Source(s.source.Value()), Fire: moment(s.fire),
		Token: s.token, Round: s.round, Error: s.error, Failover: s.failover, History: s.history,
	}
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// clone returns a text that does not hold on to the text of the node of which it is a part.
func clone(text string) string {
	if text == "" {
		return ""
	}
	return string([]byte(text))
}
