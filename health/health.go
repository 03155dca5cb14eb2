// Package health serves the state of a scheduler over HTTP, for load balancers, orchestrators and people.
//
//	http.Handle("/health/", http.StripPrefix("/health", health.Handler(s)))
//
// It has three paths, and answers each with JSON:
//
//	/live    200 while the process can do its work: it runs, and its jobs' runners answer. 503 means that
//	         a restart would help.
//	/ready   200 while it takes part: the session is in order, and every job is joined, has a leader and
//	         a configuration that can be used, owns every item, and has run what was due. 503 names why
//	         not.
//	/        always 200, with all that [scheduler.Health] says.
//
// A registry that is away makes a process not ready, but leaves it live: a restart would not bring the
// registry back. The handler asks nothing of the registry. It shows names of jobs and instances, and
// no values.
package health

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/elasticron/elasticron/scheduler"
)

// patience is how long the runners have to answer.
const patience = 2 * time.Second

// Source is what a handler asks; a [scheduler.Scheduler] is one.
type Source interface {
	Health(ctx context.Context) scheduler.Health
}

var _ Source = (*scheduler.Scheduler)(nil)

// Verdict is the answer of /live and /ready.
type Verdict struct {
	OK      bool     `json:"ok"`
	Reasons []string `json:"reasons,omitempty"` // why not
}

// Handler serves the state of a scheduler.
func Handler(source Source) http.Handler {
	mux := http.NewServeMux()
	serve := func(path string, answer func(scheduler.Health) (any, bool)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), patience)
			defer cancel()
			body, ok := answer(source.Health(ctx))
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			if !ok {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			// What fails here is the connection, and then nobody is left to be told.
			_ = json.NewEncoder(w).Encode(body)
		})
	}
	serve("/live", func(h scheduler.Health) (any, bool) { v := Live(h); return v, v.OK })
	serve("/ready", func(h scheduler.Health) (any, bool) { v := Ready(h); return v, v.OK })
	serve("/{$}", func(h scheduler.Health) (any, bool) { return h, true })
	return mux
}

// Live judges whether the process can do its work.
func Live(h scheduler.Health) Verdict {
	var v Verdict
	v.require(h.Running, "the scheduler does not run")
	for _, j := range h.Jobs {
		v.require(j.Answered || h.Session.State != "connected", "job %q: its runner does not answer", j.Job)
	}
	return v.judged()
}

// Ready judges whether the process takes part in all its jobs, and whether these are as they should be.
func Ready(h scheduler.Health) Verdict {
	var v Verdict
	v.require(h.Running, "the scheduler does not run")
	v.require(h.Session.State == "connected", "the session with the registry is %s", h.Session.State)
	for _, j := range h.Jobs {
		if !j.Answered {
			v.require(false, "job %q: its runner does not answer", j.Job)
			continue
		}
		v.require(j.Joined, "job %q: not joined", j.Job)
		v.require(j.Config == "", "job %q: %s", j.Job, j.Config)
		v.require(j.Leader != "", "job %q: no leader", j.Job)
		v.require(len(j.Unowned) == 0, "job %q: items %v have no owner", j.Job, j.Unowned)
		v.require(len(j.Overdue) == 0, "job %q: %d items should have run and did not", j.Job, len(j.Overdue))
	}
	return v.judged()
}

func (v *Verdict) require(holds bool, format string, args ...any) {
	if !holds {
		v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...))
	}
}

func (v Verdict) judged() Verdict {
	v.OK = len(v.Reasons) == 0
	return v
}
