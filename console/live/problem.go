package live

import (
	"fmt"
	"net/http"

	"github.com/elasticron/elasticron/console/access"
)

// problem is why a stream was refused.
type problem struct {
	status int
	cause  string // a word for programs, as those of the API
	detail string
	retry  string // seconds after which to ask again; empty says nothing of that
}

func newProblem(status int, cause, format string, args ...any) *problem {
	return &problem{status: status, cause: cause, detail: fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) *problem {
	return newProblem(http.StatusBadRequest, "malformed", format, args...)
}

func forbidden(format string, args ...any) *problem {
	return newProblem(http.StatusForbidden, "forbidden", format, args...)
}

func tooMany(ofUser bool) *problem {
	p := newProblem(http.StatusServiceUnavailable, "too many", "there are %d streams already, and no more are served", MaxStreams)
	if ofUser {
		p = newProblem(http.StatusTooManyRequests, "too many", "you have %d streams already: close a page", MaxStreamsOfUser)
	}
	p.retry = "10"
	return p
}

func (p *problem) write(w http.ResponseWriter) {
	if p.retry != "" {
		w.Header().Set("Retry-After", p.retry)
	}
	access.Refuse(w, p.status, p.cause, p.detail)
}
