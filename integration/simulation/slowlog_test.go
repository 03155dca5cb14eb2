package simulation_test

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"log/slog"
	"sync/atomic"
	"time"
)

// slowLog is a log of processes of which some take seconds for a line: nothing may wait for that.
type slowLog struct {
	slog.Handler
	over *atomic.Bool // the test: what is left is written at once
	id   string
	seed uint64
}

// slowest is how long a line takes at most. It is longer than the time between the loss of a session and the end of its TTL.
const slowest = 4 * time.Second

// logOf returns the log of a process: of every third run, in every second process a slow one.
func (c *cluster) logOf(id string) *slog.Logger {
	if c.slowLogs%3 != 1 || (&slowLog{id: id, seed: c.slowLogs}).number(0)%2 == 0 {
		return c.log
	}
	return slog.New(&slowLog{Handler: c.log.Handler(), over: &c.over, id: id, seed: c.slowLogs})
}

// number returns one of the process and a moment, the same in every replay.
func (s *slowLog) number(at int64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte(s.id), s.seed), uint64(at)))
	return h.Sum64()
}

// Enabled tells that lines are wanted which are slow to write, though nobody reads them.
func (s *slowLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle takes its time.
func (s *slowLog) Handle(ctx context.Context, r slog.Record) error {
	if !s.over.Load() {
		time.Sleep(time.Duration(s.number(r.Time.UnixNano()) % uint64(slowest)))
	}
	if s.Handler.Enabled(ctx, r.Level) {
		return s.Handler.Handle(ctx, r)
	}
	return nil
}

// WithAttrs implements [slog.Handler].
func (s *slowLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &slowLog{s.Handler.WithAttrs(attrs), s.over, s.id, s.seed}
}

// WithGroup implements [slog.Handler].
func (s *slowLog) WithGroup(name string) slog.Handler {
	return &slowLog{s.Handler.WithGroup(name), s.over, s.id, s.seed}
}
