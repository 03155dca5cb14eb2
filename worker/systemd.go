package worker

import (
	"context"
	"slices"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/elasticron/elasticron/scheduler"
)

// tellSystemd tells when the worker is ready, and from then on that it is alive, if the service has a watchdog.
func (w *Worker) tellSystemd(ctx context.Context, s *scheduler.Scheduler) {
	select {
	case <-s.Ready():
	case <-ctx.Done():
		return
	}
	if !hasJoined(ctx, s) {
		return
	}
	w.isReady()
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		w.log.Warn("systemd's watchdog is not served", "error", err)
	}
	if err != nil || limit == 0 {
		return
	}
	beats := time.NewTicker(limit / 3)
	defer beats.Stop()
	for {
		alive, cancel := context.WithTimeout(ctx, limit/3)
		s.Health(alive) // which a process that stands still does not come back from
		cancel()
		w.notices.tellAlive()
		select {
		case <-ctx.Done():
			return
		case <-beats.C:
		}
	}
}

// How long a worker waits for its jobs until it is ready all the same, and how often it looks at them meanwhile.
const (
	joinPatience = 10 * time.Second
	joinLook     = 100 * time.Millisecond
	joinAnswer   = 2 * time.Second // that jobs have each time
)

// hasJoined waits until the worker has joined its jobs: in a rollout, another one leaves as soon as this one is ready. A job
// that it cannot join holds it up for a while at most, and others never do. It is false if ctx ends before.
func hasJoined(ctx context.Context, s *scheduler.Scheduler) bool {
	looks := time.NewTicker(joinLook)
	defer looks.Stop()
	var since time.Time
	for {
		asked, cancel := context.WithTimeout(ctx, joinAnswer)
		h := s.Health(asked)
		cancel()
		if h.Session.State == "connected" {
			if since.IsZero() {
				since = time.Now()
			}
			if !slices.ContainsFunc(h.Jobs, joins) || time.Since(since) >= joinPatience {
				return true
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-looks.C:
		}
	}
}

// joins tells whether a job is not joined yet and may be soon.
func joins(j scheduler.JobHealth) bool {
	out := j.Leaving || j.ShutDown || j.Config != "" || j.Blind != "" || j.Clock != ""
	return !j.Answered || !j.Joined && !out
}

// isReady notes that the worker is ready, and says so unless it stops already.
func (w *Worker) isReady() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready = true
	if !w.draining {
		w.notices.tell("READY=1")
	}
}
