package history

import (
	"context"
	"log/slog"
)

// logSinkTo writes events to a log.
type logSinkTo struct{ logger *slog.Logger }

// NewLogSink returns a sink that writes each event to a log as one line: starts and steps of rounds at
// level Debug, successes at Info, failures and rounds in error at Warn. Fields that are empty are left
// out. The line's time is the event's in "at"; it is written a moment later.
func NewLogSink(logger *slog.Logger) Sink { return logSinkTo{logger} }

// Write writes the events.
func (s logSinkTo) Write(ctx context.Context, events []Event) error {
	for _, e := range events {
		switch e := e.(type) {
		case Execution:
			s.execution(ctx, e)
		case Status:
			s.status(ctx, e)
		}
	}
	return nil
}

func (s logSinkTo) execution(ctx context.Context, e Execution) {
	level, text, at := slog.LevelInfo, "item succeeded", e.Complete
	switch {
	case e.Running():
		level, text, at = slog.LevelDebug, "item started", e.Start
	case !e.Success:
		level, text = slog.LevelWarn, "item failed"
	}
	attrs := []slog.Attr{
		slog.Time("at", at), slog.String("id", e.ID), slog.String("round", e.Round), slog.String("job", e.Job),
		slog.Int("item", e.Item), slog.String("source", string(e.Source)), slog.String("hostname", e.Hostname), slog.String("ip", e.IP),
	}
	if !e.Fire.IsZero() {
		attrs = append(attrs, slog.Time("fire", e.Fire))
	}
	if e.Token != 0 {
		attrs = append(attrs, slog.Int64("token", e.Token))
	}
	if !e.Complete.IsZero() {
		attrs = append(attrs, slog.Duration("duration", e.Complete.Sub(e.Start)))
	}
	if e.FailureCause != "" {
		attrs = append(attrs, slog.String("cause", e.FailureCause))
	}
	s.logger.LogAttrs(ctx, level, text, attrs...)
}

func (s logSinkTo) status(ctx context.Context, e Status) {
	level := slog.LevelDebug
	if e.State == Errored {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.Time("at", e.Time), slog.String("id", e.ID), slog.String("round", e.Round), slog.String("job", e.Job),
		slog.String("state", string(e.State)), slog.String("items", e.ShardingItems), slog.String("ip", e.SlaveID),
	}
	if e.Message != "" {
		attrs = append(attrs, slog.String("message", e.Message))
	}
	s.logger.LogAttrs(ctx, level, "round", attrs...)
}
