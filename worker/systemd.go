package worker

import (
	"context"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/elasticron/elasticron/scheduler"
)

// tellSystemd tells when the worker is ready, and from then on that it is alive, if the service has a watchdog.
func (w *Worker) tellSystemd(ctx context.Context, s *scheduler.Scheduler) {
	select {
	case <-s.Ready():
		w.isReady()
	case <-ctx.Done():
		return
	}
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
		w.notify("WATCHDOG=1")
		select {
		case <-ctx.Done():
			return
		case <-beats.C:
		}
	}
}

// isReady notes that the worker is ready, and says so unless it stops already.
func (w *Worker) isReady() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready = true
	if !w.draining {
		w.notify("READY=1")
	}
}
