package worker

import (
	"fmt"
	"log/slog"

	"github.com/elasticron/elasticron/internal/option"
)

// ErrInvalidOption is the error of an option that is not allowed.
var ErrInvalidOption = option.ErrInvalid

// Option sets something of a worker that its file does not.
type Option func(*Worker) error

// WithLogger sets where the worker logs. The default is nowhere.
func WithLogger(log *slog.Logger) Option {
	return func(w *Worker) error {
		if log == nil {
			return fmt.Errorf("%w: the logger is nil", ErrInvalidOption)
		}
		w.log = log
		return nil
	}
}

// WithNotify sets who is told how far the worker is, in the words of systemd's sd_notify: READY=1, RELOADING=1,
// STOPPING=1, WATCHDOG=1. It is called once at a time, and nothing waits for it: while it does not return, the watchdog is
// not fed, and Run goes without it half a second after the end. The default is nobody.
func WithNotify(notify func(state string)) Option {
	return func(w *Worker) error {
		if notify == nil {
			return fmt.Errorf("%w: who is to be notified is nil", ErrInvalidOption)
		}
		w.notices.hear = notify
		return nil
	}
}
