package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tellSystemd says something to systemd, if it listens.
func tellSystemd(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("systemd was not told", "state", state, "error", err)
	}
}

// underSystemd tells systemd that the server is ready, that it stops when ctx ends and, if the service has a watchdog,
// that the handler still comes back. What it returns ends that, and waits for its end.
func underSystemd(ctx context.Context, handler http.Handler, log *slog.Logger) (end func()) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("systemd's watchdog is not served", "error", err)
	}
	tellSystemd(log, "READY=1")
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tellUntil(ctx, over, limit, handler, log)
	}()
	return func() {
		close(over)
		<-done
	}
}

// tellUntil tells systemd the rest, until over is closed.
func tellUntil(ctx context.Context, over <-chan struct{}, limit time.Duration, handler http.Handler, log *slog.Logger) {
	var beats <-chan time.Time
	if limit > 0 {
		ticker := time.NewTicker(limit / 3)
		defer ticker.Stop()
		beats = ticker.C
	}
	stops := ctx.Done()
	for {
		select {
		case <-beats:
			ask(ctx, handler) // which never comes back if the namespaces are locked for good
			tellSystemd(log, "WATCHDOG=1")
		case <-stops:
			tellSystemd(log, "STOPPING=1")
			stops = nil
		case <-over:
			if stops != nil && ctx.Err() != nil { // both came at once
				tellSystemd(log, "STOPPING=1")
			}
			return
		}
	}
}

// ask has the handler answer a probe. What the answer is makes no difference.
func ask(ctx context.Context, handler http.Handler) {
	probe, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/ready", nil)
	if err == nil { // as it always is
		handler.ServeHTTP(unheard{}, probe)
	}
}

// unheard is an answer that nobody reads.
type unheard struct{}

func (unheard) Header() http.Header         { return http.Header{} }
func (unheard) Write(p []byte) (int, error) { return len(p), nil }
func (unheard) WriteHeader(int)             {}
