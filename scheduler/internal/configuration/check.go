package configuration

import (
	"context"
	"errors"
	"log/slog"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/scheduler/internal/asking"
)

// CheckCode tells what the code of a job that is declared finds wrong with its configuration. It waits for the code,
// while ctx lasts and at most for [asking.Timeout].
func CheckCode(ctx context.Context, cfg job.Config, handler job.Handler) error {
	if handler == nil {
		return errors.New("the job has no code: handler is nil")
	}
	err := asking.InTime(ctx, "Configure", func() error {
		_, err := codeOf(handler, cfg)
		return err
	})
	if checker, is := handler.(job.Checker); is && err == nil {
		return asking.InTime(ctx, "Check", func() error { return checker.Check(cfg) })
	}
	return err
}

// CheckErrorHandler tells why the error handler of a job that is declared cannot be made. It waits as [CheckCode] does.
func CheckErrorHandler(ctx context.Context, cfg job.Config, handlers *errorhandler.Registry, log *slog.Logger) error {
	return asking.InTime(ctx, "the constructor of the error handler", func() error {
		_, err := newErrorHandler(handlers, cfg, log)
		return err
	})
}
