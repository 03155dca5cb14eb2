// Package wechat has the error handler WECHAT: it posts each failure to a robot of a WeCom group.
//
//	handlers := errorhandler.Default()
//	err := handlers.Register(wechat.Name, wechat.New)
//	s, err := scheduler.New(registry, scheduler.WithErrorHandlers(handlers))
//
// A job that names it in [job.Config.ErrorHandler] has its settings in [job.Config.Props], named as in ElasticJob
// 3.x:
//
//	wechat.webhook                      the robot's address; required
//	wechat.connectTimeoutMilliseconds   default 3000
//	wechat.readTimeoutMilliseconds      default 5000
//
// The address has the robot's key in it. It need not be in the configuration: "env:WECHAT_WEBHOOK" stands for a
// variable of the process; see [job.PropsReader].
//
// An answer other than errcode 0 is a failure of the handler.
package wechat

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/internal/chat"
)

// Name is the name under which the handler is registered, for [job.Config.ErrorHandler].
const Name = "WECHAT"

// longest is what a robot takes of a text, in bytes.
const longest = 2048

type handler struct {
	robot   chat.Robot
	webhook string
}

// New makes the handler of a job. It is an [errorhandler.Factory].
func New(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) { return newHandler(cfg, nil) }

// Guarded returns a factory as [New] is one, of handlers that call only what a guard allows.
func Guarded(guard errorhandler.Guard) errorhandler.Factory {
	return func(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) { return newHandler(cfg, guard) }
}

func newHandler(cfg job.Config, guard errorhandler.Guard) (job.ErrorHandler, error) {
	p := job.ReadProps(cfg.Props)
	address := p.WebAddress("wechat.webhook")
	h := &handler{webhook: address, robot: chat.New(p, "wechat.", cfg.Props["wechat.webhook"], address, guard)}
	p.Only("wechat.", "wechat.webhook", "wechat.connectTimeoutMilliseconds", "wechat.readTimeoutMilliseconds")
	return h, p.Err()
}

// HandleError posts the failure.
func (h *handler) HandleError(ctx context.Context, name string, sc job.ShardingContext, err error) error {
	if err := h.robot.Say(ctx, h.webhook, errorhandler.Describe(name, sc, err, longest)); err != nil {
		return fmt.Errorf("wechat: %w", err)
	}
	return nil
}
