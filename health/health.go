// Package health serves the state of a scheduler over HTTP, for load balancers, orchestrators and people.
//
//	http.Handle("/health/", http.StripPrefix("/health", health.Handler(s)))
//
// The handler has four paths, and answers each with JSON:
//
//	/live     is about this process: 503 means that Run has returned, so that only a restart would help.
//	/ready    is about this process: 503 means that it is stopping, or has no session with the registry.
//	/cluster  is about the jobs, as this process sees them: 503 names the jobs without a leader, jobs with
//	          items that nobody owns or that should have run and did not, or that have run here and whose
//	          ends wait to be recorded, jobs that pause because of their configuration, and jobs that this
//	          process does not take part in or cannot follow.
//	/         always 200, with everything that [scheduler.Health] says.
//
// A probe may act on /live and /ready: other processes, an operator or a slow registry cannot make them fail, or wait.
// The other two give the jobs two seconds to answer.
// /cluster is for alerts. If a load balancer or an orchestrator acted on it, a fault of one process or one job
// would take every process out of service. Before Run, a process is live and ready, because it has not failed in
// anything. The handler sends no requests to the registry. It shows names of jobs and instances, and no
// values that may be secret: where it tells what is wrong with a setting, it hides those.
package health

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/elasticron/elasticron/scheduler"
)

// patience is how long the runners have to answer where jobs are told of.
const patience = 2 * time.Second

// Source is where a handler gets its reports. A [scheduler.Scheduler] is one. For /live and /ready it is asked with a context
// that has ended, and is to return at once what it knows without asking jobs.
type Source interface {
	Health(ctx context.Context) scheduler.Health
}

var _ Source = (*scheduler.Scheduler)(nil)

// Verdict is the answer of /live, /ready and /cluster.
type Verdict struct {
	OK      bool     `json:"ok"`
	Reasons []string `json:"reasons,omitempty"` // why not
}

// Handler serves the state of a scheduler on /live, /ready, /cluster and /. The package documentation says what each
// of them means.
func Handler(source Source) http.Handler {
	mux := http.NewServeMux()
	// A runner that waits for the registry answers late, and kubelets wait for a second by themselves: what a probe asks is told
	// without the runners.
	serve := func(path string, patience time.Duration, answer func(scheduler.Health) (any, bool)) {
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
	serve("/live", 0, func(h scheduler.Health) (any, bool) { v := Live(h); return v, v.OK })
	serve("/ready", 0, func(h scheduler.Health) (any, bool) { v := Ready(h); return v, v.OK })
	serve("/cluster", patience, func(h scheduler.Health) (any, bool) { v := Cluster(h); return v, v.OK })
	serve("/{$}", patience, func(h scheduler.Health) (any, bool) { return h, true })
	return mux
}

// Live judges whether the process goes on, which it does until Run has returned.
func Live(h scheduler.Health) Verdict {
	var v Verdict
	v.require(h.State != scheduler.StateStopped, "the scheduler has stopped")
	return v.judged()
}

// Ready judges whether the process can take part in jobs. It can while its session is in doubt, for example because
// the registry is slow: what runs goes on.
func Ready(h scheduler.Health) Verdict {
	var v Verdict
	stops := h.State == scheduler.StateStopping || h.State == scheduler.StateStopped
	v.require(!stops, "the scheduler is %s", h.State)
	held := h.Session.State == "connected" || h.Session.State == "suspended"
	v.require(h.State != scheduler.StateRunning || held, "the session with the registry is %s", h.Session.State)
	return v.judged()
}

// Cluster judges whether the jobs are as they should be, as far as this process sees. That all servers of a job are
// disabled is no fault: somebody wants it so.
func Cluster(h scheduler.Health) Verdict {
	var v Verdict
	v.require(h.Blind == "", "the list of jobs cannot be followed: %s", h.Blind)
	for _, j := range h.Jobs {
		if !j.Answered {
			v.require(h.State != scheduler.StateRunning, "job %q: its runner does not answer", j.Job)
			continue
		}
		v.require(j.Blind == "", "job %q: cannot be followed: %s", j.Job, j.Blind)
		v.require(j.Config == "" || j.LeftToOthers, "job %q: %s", j.Job, j.Config)
		v.require(!j.LeftToOthers, "job %q is left to other instances: %s", j.Job, cmp.Or(j.Config, j.Clock))
		if h.State != scheduler.StateRunning || j.Blind != "" || j.Config != "" {
			continue
		}
		v.require(j.Joined || j.Leaving || j.LeftToOthers, "job %q: not joined", j.Job)
		v.require(j.Disabled || j.Leader != "", "job %q: no leader", j.Job)
		v.require(j.Sharding == "", "job %q: items stay where they are: %s", j.Job, j.Sharding)
		v.require(j.Disabled || len(j.Unowned) == 0, "job %q: items %v have no owner", j.Job, j.Unowned)
		v.require(len(j.Unrecorded) == 0, "job %q: %d items have ended here, and the registry has not taken that for more than ten seconds", j.Job, len(j.Unrecorded))
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
