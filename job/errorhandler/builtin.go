package errorhandler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/elasticron/elasticron/job"
)

// The names of the built-in handlers, which are those of ElasticJob 3.x.
const (
	Log    = "LOG"
	Ignore = "IGNORE"
	Throw  = "THROW"
)

// logging is the handler LOG.
type logging struct {
	log *slog.Logger
}

// HandleError logs the failure; the logger names the job already.
func (l logging) HandleError(ctx context.Context, _ string, sc job.ShardingContext, err error) error {
	attrs := []any{"item", sc.Item, "fire", sc.Fire, "source", string(sc.Source), "token", sc.Token, "error", err}
	var panicked *job.PanicError
	if errors.As(err, &panicked) {
		attrs = append(attrs, "stack", string(panicked.Stack))
	}
	l.log.ErrorContext(ctx, "item failed", attrs...)
	return nil
}

func ignore(context.Context, string, job.ShardingContext, error) error { return nil }

// throw has the round fail for the reason that the item failed.
func throw(_ context.Context, _ string, sc job.ShardingContext, err error) error {
	return fmt.Errorf("%w: item %d: %w", job.ErrFailRound, sc.Item, err)
}
