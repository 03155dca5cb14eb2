// Package dingtalk has the error handler DINGTALK: it posts each failure to a robot of a DingTalk group.
//
//	handlers := errorhandler.Default()
//	err := handlers.Register(dingtalk.Name, dingtalk.New)
//	s, err := scheduler.New(registry, scheduler.WithErrorHandlers(handlers))
//
// A job that names it in [job.Config.ErrorHandler] has its settings in [job.Config.Props], named as in ElasticJob
// 3.x:
//
//	dingtalk.webhook                      the robot's address; required
//	dingtalk.keyword                      a word that the robot asks for; it begins the text
//	dingtalk.secret                       by which calls are signed, if the robot asks for it
//	dingtalk.connectTimeoutMilliseconds   default 3000
//	dingtalk.readTimeoutMilliseconds      default 5000
//
// The address and the secret need not be in the configuration: "env:DINGTALK_SECRET" stands for a variable of
// the process; see [job.PropsReader].
//
// An answer other than errcode 0 is a failure of the handler.
package dingtalk

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/internal/chat"
)

// Name is the name under which the handler is registered, for [job.Config.ErrorHandler].
const Name = "DINGTALK"

// longest is what a robot takes of a text, in bytes, with room for the keyword.
const longest = 18_000

type handler struct {
	robot           chat.Robot
	webhook         *url.URL
	keyword, secret string
}

// New makes the handler of a job. It is an [errorhandler.Factory].
func New(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) { return newHandler(cfg, nil) }

// Guarded returns a factory as [New] is one, of handlers that call only what a guard allows.
func Guarded(guard errorhandler.Guard) errorhandler.Factory {
	return func(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) { return newHandler(cfg, guard) }
}

func newHandler(cfg job.Config, guard errorhandler.Guard) (job.ErrorHandler, error) {
	p := job.ReadProps(cfg.Props)
	address := p.WebAddress("dingtalk.webhook")
	h := &handler{
		robot:   chat.New(p, "dingtalk.", cfg.Props["dingtalk.webhook"], address, guard),
		keyword: p.Text("dingtalk.keyword", ""), secret: p.Text("dingtalk.secret", ""),
	}
	p.Only("dingtalk.", "dingtalk.webhook", "dingtalk.keyword", "dingtalk.secret", "dingtalk.connectTimeoutMilliseconds",
		"dingtalk.readTimeoutMilliseconds")
	if err := p.Err(); err != nil {
		return nil, err
	}
	var err error
	h.webhook, err = url.Parse(address)
	return h, err
}

// HandleError posts the failure.
func (h *handler) HandleError(ctx context.Context, name string, sc job.ShardingContext, err error) error {
	text := errorhandler.Describe(name, sc, err, longest)
	if h.keyword != "" {
		text = h.keyword + ": " + text
	}
	if err := h.robot.Say(ctx, h.address(time.Now()), text); err != nil {
		return fmt.Errorf("dingtalk: %w", err)
	}
	return nil
}

// address returns where to post, signed for this moment if there is a secret.
func (h *handler) address(now time.Time) string {
	if h.secret == "" {
		return h.webhook.String()
	}
	timestamp := strconv.FormatInt(now.UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(h.secret))
	_, _ = mac.Write([]byte(timestamp + "\n" + h.secret))
	signed := *h.webhook
	query := signed.Query()
	query.Set("timestamp", timestamp)
	query.Set("sign", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	signed.RawQuery = query.Encode()
	return signed.String()
}
