package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
)

const (
	// startPatience is how long a worker or a server waits for its registry when it starts. Kubernetes starts what ends anew,
	// but later each time, up to five minutes, in which nothing would happen though the registry is back. The startup probes of
	// the chart wait for five minutes.
	startPatience = 4*time.Minute + 30*time.Second
	startPause    = time.Second // between two tries, each of which takes some time itself
)

// Lines of a start.
const (
	logNotYet  = "the registry does not answer yet, will try again"
	logAnswers = "the registry answers"
)

// startWait is how long a process waits for registries when it starts.
type startWait struct {
	log   *slog.Logger
	until time.Time
}

// newStartWait begins to wait. systemd starts what ends anew after the same few seconds each time, and whoever has it start
// something waits for that: under it, one try is enough.
func (p *program) newStartWait(log *slog.Logger) startWait {
	if p.env("NOTIFY_SOCKET") != "" {
		return startWait{log: log}
	}
	return startWait{log: log, until: time.Now().Add(p.startPatience)}
}

// open opens a registry. It goes on trying while that does not answer; what refuses it is told at once.
func (s startWait) open(ctx context.Context, open func(context.Context) (registry.Registry, error)) (registry.Registry, error) {
	lines := repeats.New(s.log, repeats.Every)
	defer lines.Close()
	for waited := false; ; waited = true {
		reg, err := open(ctx)
		if err == nil && waited {
			lines.Close()
			s.log.InfoContext(ctx, logAnswers)
		}
		if err == nil || !errors.Is(err, registry.ErrUnavailable) || ctx.Err() != nil || !time.Now().Before(s.until) {
			return reg, err
		}
		lines.Tell(repeats.Line{Level: slog.LevelWarn, Message: logNotYet, Attrs: []any{"error", err}})
		if !wait(ctx, startPause) {
			return nil, err
		}
	}
}
