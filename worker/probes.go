package worker

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/elasticron/elasticron/health"
	"github.com/elasticron/elasticron/metrics/prometheus"
)

// Readiness is the answer of /ready.
type Readiness struct {
	health.Verdict
	// Notes are what is not as the files of jobs here have it, because others decide, or the files go on changing. They are
	// no reason not to be ready.
	Notes []string `json:"notes,omitempty"`
}

// handlerOf serves /live, /ready, /cluster and / as package health does, and /metrics.
func (w *Worker) handlerOf(p *parts) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", health.Handler(p.scheduler))
	mux.Handle("GET /metrics", prometheus.Handler(w.metrics))
	mux.HandleFunc("GET /ready", func(rw http.ResponseWriter, r *http.Request) {
		// No job is asked: one whose runner waits for the registry would have the probe wait, too.
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		answer := w.readiness(ctx, p)
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Cache-Control", "no-store")
		if !answer.OK {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(rw).Encode(answer) // what fails here is the connection
	})
	return mux
}

// readiness judges whether the worker can take part in jobs, and whether its files count.
func (w *Worker) readiness(ctx context.Context, p *parts) Readiness {
	r := Readiness{Verdict: health.Ready(p.scheduler.Health(ctx))}
	w.mu.Lock()
	draining, ready := w.draining, w.ready
	w.mu.Unlock()
	switch {
	case draining:
		r.Reasons = append(r.Reasons, "the worker stops")
	case !ready:
		r.Reasons = append(r.Reasons, "the worker has not joined its jobs yet")
	}
	if p.files != nil {
		state := p.files.State()
		if !state.Read && len(state.Faults) == 0 {
			r.Reasons = append(r.Reasons, "the files of jobs have not been compared with the registry yet")
		}
		r.Reasons, r.Notes = append(r.Reasons, state.Faults...), state.Notes
	}
	r.OK = len(r.Reasons) == 0
	return r
}
