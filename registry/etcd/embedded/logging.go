package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newZap returns the logger that etcd's server wants, for a server in a folder. Without a logger it is silent, but for what
// ends the process.
func newZap(o *options, dir string) *zap.Logger {
	core := zapcore.Core(lastCore{dir: dir, say: o.lastWords})
	if o.logger != nil {
		core = zapcore.NewTee(slogCore{handler: o.logger.Handler()}, core)
	}
	return zap.New(core, zap.WithFatalHook(exiting(o.exit)))
}

// exiting ends the process, as etcd asks for when it says something fatal.
type exiting func(status int)

func (e exiting) OnWrite(*zapcore.CheckedEntry, []zapcore.Field) { e(1) }

// sayTime is how long the last words of a server may take: its log may be where nobody reads it.
const sayTime = time.Second

// lastCore tells what etcd says right before it ends the process.
type lastCore struct {
	dir string
	say func(error)
}

func (lastCore) Enabled(level zapcore.Level) bool    { return level >= zapcore.PanicLevel }
func (c lastCore) With([]zapcore.Field) zapcore.Core { return c }
func (lastCore) Sync() error                         { return nil }
func (c lastCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(entry.Level) {
		return checked
	}
	return checked.AddCore(entry, c)
}

// Write says it, and waits until it is said.
func (c lastCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	why := entry.Message
	for _, f := range fields {
		if failed, is := f.Interface.(error); is && f.Type == zapcore.ErrorType {
			why += ": " + failed.Error()
		}
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		c.say(fmt.Errorf("etcd in %s cannot go on: %s", c.dir, why))
	}()
	select {
	case <-said:
	case <-time.After(sayTime):
	}
	return nil
}

// slogCore hands etcd's log entries to a slog handler.
type slogCore struct{ handler slog.Handler }

// Enabled asks the handler.
func (c slogCore) Enabled(level zapcore.Level) bool {
	return c.handler.Enabled(context.Background(), slogLevel(level))
}

// With attaches fields to all later entries.
func (c slogCore) With(fields []zapcore.Field) zapcore.Core {
	return slogCore{handler: c.handler.WithAttrs(attributes(fields))}
}

// Check adds this core to those that write the entry.
func (c slogCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(entry.Level) {
		return checked
	}
	return checked.AddCore(entry, c)
}

// Write hands one entry on.
func (c slogCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	record := slog.NewRecord(entry.Time, slogLevel(entry.Level), entry.Message, 0)
	record.AddAttrs(attributes(fields)...)
	return c.handler.Handle(context.Background(), record)
}

// Sync has nothing to do: slog handlers keep nothing back.
func (slogCore) Sync() error { return nil }

func attributes(fields []zapcore.Field) []slog.Attr {
	encoder := zapcore.NewMapObjectEncoder()
	attrs := make([]slog.Attr, 0, len(fields))
	for _, f := range fields {
		f.AddTo(encoder)
		if value, ok := encoder.Fields[f.Key]; ok {
			attrs = append(attrs, slog.Any(f.Key, value))
		}
	}
	return attrs
}

func slogLevel(level zapcore.Level) slog.Level {
	switch {
	case level < zapcore.InfoLevel:
		return slog.LevelDebug
	case level == zapcore.InfoLevel:
		return slog.LevelInfo
	case level == zapcore.WarnLevel:
		return slog.LevelWarn
	default:
		return slog.LevelError
	}
}
