package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// problem is a fault of a request as an error.
type problem struct{ wire.Problem }

func (p *problem) Error() string { return p.Detail }

func fault(status int, cause, format string, args ...any) *problem {
	return &problem{wire.Problem{Status: status, Cause: cause, Detail: fmt.Sprintf(format, args...)}}
}

// malformed is a request of which a field cannot be read.
func malformed(field, format string, args ...any) *problem {
	p := fault(http.StatusBadRequest, wire.CauseMalformed, field+": "+format, args...)
	p.Field = field
	return p
}

func notFound(format string, args ...any) *problem {
	return fault(http.StatusNotFound, wire.CauseNotFound, format, args...)
}

// statuses are those of refusals.
var statuses = map[operate.Cause]int{
	operate.CauseUnknownJob:    http.StatusNotFound,
	operate.CauseUnknownTarget: http.StatusNotFound,
	operate.CauseInvalid:       http.StatusUnprocessableEntity,
	operate.CauseStale:         http.StatusPreconditionFailed,
	operate.CauseTooLarge:      http.StatusRequestEntityTooLarge,
	operate.CauseNoSpace:       http.StatusInsufficientStorage,
}

// problemOf judges an error. operation is the id of what was asked for, if it may have been done.
func problemOf(err error, operation string) wire.Problem {
	var own *problem
	var refusal *operate.Refusal
	var tooLong *http.MaxBytesError
	p := wire.Problem{Detail: err.Error()}
	switch {
	case errors.As(err, &own):
		p = own.Problem
	case errors.As(err, &refusal):
		p.Status, p.Cause = statuses[refusal.Cause], string(refusal.Cause)
		if p.Status == 0 {
			p.Status = http.StatusConflict
		}
		p.Verb, p.Job, p.Target, p.Why, p.Do = refusal.Verb, refusal.Job, refusal.Target, refusal.Why, refusal.Do
		p.Forcible, p.Replaceable, p.Diff = refusal.Forcible, refusal.Replaceable, refusal.Changes
		if refusal.Err != nil {
			p.Behind = refusal.Err.Error()
		}
	case errors.As(err, &tooLong):
		p.Status, p.Cause = http.StatusRequestEntityTooLarge, wire.CauseTooLong
		p.Detail = fmt.Sprintf("the request has more than %d bytes", tooLong.Limit)
	case errors.Is(err, operate.ErrInvalidOption):
		p.Status, p.Cause = http.StatusUnprocessableEntity, wire.CauseOption
	case errors.Is(err, registry.ErrUnknownOutcome):
		p.Status, p.Cause, p.Operation = http.StatusServiceUnavailable, wire.CauseUnknown, operation
	case unavailable(err):
		p.Status, p.Cause, p.Operation = http.StatusServiceUnavailable, wire.CauseUnavailable, operation
	default:
		p.Status, p.Cause = http.StatusInternalServerError, wire.CauseInternal
	}
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	return p
}

// unavailable tells whether the registry, or the time for it, is what is missing.
func unavailable(err error) bool {
	for _, is := range []error{
		context.DeadlineExceeded, context.Canceled, registry.ErrUnavailable, registry.ErrClosed,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// writeProblem answers with a problem.
func writeProblem(w http.ResponseWriter, p wire.Problem) {
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	header.Set("Cache-Control", "no-store")
	header.Del("ETag")
	if p.Status == http.StatusServiceUnavailable {
		header.Set("Retry-After", "1")
	}
	text, err := json.Marshal(p)
	if err != nil { // of which nothing can fail
		text = []byte(`{"type":"about:blank","title":"Internal Server Error","status":500,"cause":"internal"}`)
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(text)
}
