package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tellSystemd says something to systemd, if it listens.
func tellSystemd(log *slog.Logger, state string) {
	if err := notify(os.Getenv("NOTIFY_SOCKET"), state); err != nil {
		log.Warn("systemd was not told", "state", state, "error", err)
	}
}

// notifyPatience is how long systemd may take to have room for what it is told: it may stand still, and a stop is not to wait
// for it.
const notifyPatience = time.Second

// notify says something to a socket of systemd, if there is one.
func notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetWriteDeadline(time.Now().Add(notifyPatience)); err != nil {
		return err
	}
	_, err = conn.Write([]byte(state))
	return err
}

// underSystemd tells systemd that the server is ready, that it stops when ctx ends and, if the service has a watchdog,
// that the server lives. What it returns ends that, and waits for its end.
func underSystemd(ctx context.Context, handler http.Handler, log *slog.Logger) (end func()) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("systemd's watchdog is not served", "error", err)
	}
	tell := func(state string) { tellSystemd(log, state) }
	tell("READY=1")
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tellUntil(ctx, over, limit, handler, tell, log)
	}()
	return func() {
		close(over)
		<-done
	}
}

// tellUntil tells systemd the rest, until over is closed.
func tellUntil(ctx context.Context, over <-chan struct{}, limit time.Duration, handler http.Handler, tell func(state string), log *slog.Logger) {
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
			// A server that stops ends what it shows before it has answered all requests.
			if answer := ask(ctx, handler); answer.status == http.StatusOK || ctx.Err() != nil {
				tell("WATCHDOG=1")
			} else {
				log.ErrorContext(ctx, "systemd's watchdog is not fed", "status", answer.status, "error", strings.TrimSpace(answer.text.String()))
			}
		case <-stops:
			tell("STOPPING=1")
			stops = nil
		case <-over:
			if stops != nil && ctx.Err() != nil { // both came at once
				tell("STOPPING=1")
			}
			return
		}
	}
}

// ask has the handler say whether the server lives.
func ask(ctx context.Context, handler http.Handler) *heard {
	answer := &heard{status: http.StatusOK, header: make(http.Header)}
	probe, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/live", nil)
	if err == nil { // as it always is
		handler.ServeHTTP(answer, probe)
	}
	return answer
}

// heard is an answer to this process.
type heard struct {
	status int
	header http.Header
	text   strings.Builder
}

func (h *heard) Header() http.Header         { return h.header }
func (h *heard) Write(p []byte) (int, error) { return h.text.Write(p) }
func (h *heard) WriteHeader(status int)      { h.status = status }
