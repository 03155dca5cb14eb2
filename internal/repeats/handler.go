package repeats

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"unicode"

	"github.com/elasticron/elasticron/internal/texts"
)

const (
	maxText   = 512      // how much of a text tells causes apart
	maxLogged = 64 << 10 // how much of it is logged: an error may have a whole answer in its text
)

// Handler returns one that counts the repetitions of some messages in log and hands everything else, and each
// first line of those, to inner. Lines are of one cause if they have the same message, job and values of the
// attributes tell. Of causes that differ in numbers alone, and in words with digits in them, only some are told
// apart. Of those values at most 64 KiB each are logged.
func Handler(inner slog.Handler, log *Log, messages, tell []string) slog.Handler {
	return &handler{inner: inner, log: log, messages: messages, tell: tell}
}

type handler struct {
	inner    slog.Handler
	log      *Log
	messages []string
	tell     []string
	job      string // that all lines are of; empty if they tell it themselves
}

// keyJob is the attribute that names the job.
const keyJob = "job"

// Enabled implements [slog.Handler].
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.inner.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.inner = h.inner.WithAttrs(attrs)
	for _, a := range attrs {
		if a.Key == keyJob {
			with.job = a.Value.String()
		}
	}
	return &with
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	with := *h
	with.inner = h.inner.WithGroup(name)
	return &with
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if slices.Contains(h.messages, r.Message) {
		line, logged := h.line(r)
		if !h.log.first(line) {
			return nil
		}
		r = logged
	}
	return h.inner.Handle(ctx, r)
}

// line returns a record as what is counted and as what is logged.
func (h *handler) line(r slog.Record) (Line, slog.Record) {
	line := Line{Level: r.Level, Message: r.Message, Job: h.job, Attrs: make([]any, 0, r.NumAttrs())}
	var causes []string
	logged := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if slices.Contains(h.tell, a.Key) {
			text := a.Value.String()
			causes = append(causes, text[:min(len(text), maxText)])
			if len(text) > maxLogged {
				a.Value = slog.StringValue(texts.ShortenTo(text, maxLogged))
			}
		}
		logged.AddAttrs(a)
		if a.Key == keyJob {
			line.Job = a.Value.String()
		} else {
			line.Attrs = append(line.Attrs, a)
		}
		return true
	})
	causes = append(causes, line.Job, r.Level.String())
	line.Cause = strings.Join(causes, "\x00")
	for i, text := range causes[:len(causes)-2] {
		causes[i] = shape(text)
	}
	line.Kind = strings.Join(causes, "\x00")
	return line, logged
}

// shape returns a text with a mark in the place of every word that has a digit in it: a number, an address, an
// id.
func shape(text string) string {
	out := make([]rune, 0, len(text))
	word, digit := 0, false // where the word begins, and whether it has a digit
	end := func() {
		if digit {
			out = append(out[:word], '#')
		}
		digit = false
	}
	for _, c := range text {
		isDigit := unicode.IsDigit(c)
		if !isDigit && !unicode.IsLetter(c) {
			end()
			out = append(out, c)
			word = len(out)
			continue
		}
		digit = digit || isDigit
		out = append(out, c)
	}
	end()
	return string(out)
}
