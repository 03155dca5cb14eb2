package wire

import (
	"cmp"
	"errors"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// Problem is why something was not done, as RFC 9457 has it.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Cause is a word for programs: of a refused operation that of package operate, else one of the causes below.
	Cause string `json:"cause"`
	Field string `json:"field,omitempty"` // of the request that is wrong

	// Of a refused operation: see [operate.Refusal].
	Verb        operate.Verb     `json:"verb,omitempty"`
	Job         string           `json:"job,omitempty"`
	Target      string           `json:"target,omitempty"`
	Why         string           `json:"why,omitempty"`
	Do          string           `json:"do,omitempty"`
	Behind      string           `json:"behind,omitempty"`
	Forcible    bool             `json:"forcible,omitempty"`
	Replaceable bool             `json:"replaceable,omitempty"`
	Diff        []operate.Change `json:"diff,omitempty"`

	Operation string `json:"operation,omitempty"` // the id under which it may have been done all the same
	Position  *int   `json:"position,omitempty"`  // of the field of a cron expression that is wrong, counted from 0
}

// The causes that package operate has not.
const (
	CauseMalformed    = "malformed"       // the request cannot be read
	CauseOption       = "invalid option"  // an option of the operation is not allowed
	CauseNobody       = "unauthenticated" // nobody knows who asks
	CauseForbidden    = "forbidden"       // who asks may not do this
	CauseNotFound     = "not found"       // there is no such thing
	CauseForgotten    = "forgotten"       // the server does not keep it any more: ask from the beginning
	CausePrecondition = "if-match"        // If-Match is missing
	CauseTooLong      = "too long"        // the request has too many bytes
	CauseUnknown      = "unknown outcome" // the registry's answer was lost: it may have been done
	CauseUnavailable  = "unavailable"     // the registry does not answer, or not in time
	CauseBrokenOff    = "broken off"      // who asked did not wait for the answer: it may have been done
	CauseInternal     = "internal"        // a fault of the server
)

// ErrForgotten is the error of a page of a state that the server does not keep any more.
var ErrForgotten = errors.New("the server does not keep it any more")

// refusals are the causes of refused operations.
var refusals = map[operate.Cause]bool{
	operate.CauseUnknownJob: true, operate.CauseUnknownTarget: true, operate.CauseExists: true, operate.CauseAlready: true,
	operate.CauseInvalid: true, operate.CauseStale: true, operate.CauseNoInstance: true, operate.CauseAlive: true,
	operate.CausePending: true, operate.CauseUnusable: true, operate.CauseUnreadable: true, operate.CauseNewer: true,
	operate.CauseUsed: true, operate.CauseOvertaken: true, operate.CauseDenied: true, operate.CauseOwned: true, operate.CauseNoSpace: true, operate.CauseTooLarge: true,
}

// Err returns the error that the problem was made of, as far as the wire carries it: an [operate.Refusal], or an error
// with the same text of which errors.Is finds the same cause.
func (p *Problem) Err() error {
	text := cmp.Or(p.Detail, p.Title)
	switch {
	case refusals[operate.Cause(p.Cause)]:
		r := &operate.Refusal{
			Verb: p.Verb, Job: p.Job, Target: p.Target, Cause: operate.Cause(p.Cause), Why: p.Why, Do: p.Do,
			Forcible: p.Forcible, Replaceable: p.Replaceable, Changes: p.Diff,
		}
		if p.Behind != "" {
			r.Err = errors.New(p.Behind)
		}
		return r
	case p.Cause == CauseUnknown, p.Cause == CauseUnavailable && p.Operation != "":
		return &said{text, registry.ErrUnknownOutcome}
	case p.Cause == CauseForbidden:
		return &said{text, registry.ErrDenied}
	case p.Cause == CauseOption:
		return &said{text, operate.ErrInvalidOption}
	case p.Cause == CauseForgotten:
		return &said{text, ErrForgotten}
	case p.Cause == CauseUnavailable:
		return &said{text, registry.ErrUnavailable}
	case p.Cause == CauseNotFound:
		return &said{text, registry.ErrNotFound}
	default:
		return errors.New(text)
	}
}

// said is an error that another process had: its text, and what it was.
type said struct {
	text string
	is   error
}

func (e *said) Error() string { return e.text }
func (e *said) Unwrap() error { return e.is }
