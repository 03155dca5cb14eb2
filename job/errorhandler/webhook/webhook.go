// Package webhook has the error handler WEBHOOK: it posts each failure as JSON to an address.
//
//	handlers := errorhandler.Default()
//	err := handlers.Register(webhook.Name, webhook.New)
//	s, err := scheduler.New(registry, scheduler.WithErrorHandlers(handlers))
//
// A job that names it in [job.Config.ErrorHandler] has its settings in [job.Config.Props]:
//
//	webhook.url                          address; required
//	webhook.header.<name>                a header, such as one with a secret: "env:WEBHOOK_KEY" stands for
//	                                     a variable of the process; see [job.PropsReader]. Host is the
//	                                     host that the call names, instead of the address's;
//	                                     Content-Length and its like, which HTTP sets, are refused
//	webhook.connectTimeoutMilliseconds   default 3000
//	webhook.readTimeoutMilliseconds      default 5000
//
// A status of 400 or more, and no answer in time, is a failure of the handler. Once a redirect has led to another scheme,
// host or port, requests have no header of the settings.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/internal/webcall"
)

// Name is the name under which the handler is registered, for [job.Config.ErrorHandler].
const Name = "WEBHOOK"

// Failure is the body of a call. Of a text of more than 64 KiB it has the beginning, and of a task id of more than 4 KiB the
// beginning of its items, as many services refuse bodies of a megabyte.
type Failure struct {
	Job           string     `json:"job"`
	TaskID        string     `json:"taskId"`
	Item          int        `json:"item"`
	TotalCount    int        `json:"totalCount"`
	ItemParameter string     `json:"itemParameter,omitempty"`
	Fire          *time.Time `json:"fire,omitempty"` // not there for a run by hand
	Source        string     `json:"source"`
	Token         int64      `json:"token,omitempty"`
	Error         string     `json:"error"`
	Stack         string     `json:"stack,omitempty"` // of a panic
}

type handler struct {
	caller *webcall.Caller
	url    string
	header http.Header
}

// New makes the handler of a job. It is an [errorhandler.Factory].
func New(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) { return newHandler(cfg, nil) }

// Guarded returns a factory as [New] is one, of handlers that call only what a guard allows.
func Guarded(guard errorhandler.Guard) errorhandler.Factory {
	return func(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) { return newHandler(cfg, guard) }
}

func newHandler(cfg job.Config, guard webcall.Guard) (job.ErrorHandler, error) {
	p := job.ReadProps(cfg.Props)
	h := &handler{url: p.WebAddress("webhook.url"), header: http.Header{"Content-Type": {"application/json"}}}
	webcall.AddHeaders(h.header, p, "webhook.header.")
	h.caller = webcall.New(webcall.Limits{
		Connect: p.Milliseconds("webhook.connectTimeoutMilliseconds", 3*time.Second),
		Read:    p.Milliseconds("webhook.readTimeoutMilliseconds", 5*time.Second),
		Bytes:   64 << 10, Tail: 512, Redirects: 3,
		Address: cfg.Props["webhook.url"], Redact: p, Guard: guard,
	})
	webcall.Judge(p, guard, "webhook.url", cfg.Props["webhook.url"], h.url, h.header)
	p.Only("webhook.", "webhook.url", "webhook.header.", "webhook.connectTimeoutMilliseconds", "webhook.readTimeoutMilliseconds")
	return h, p.Err()
}

// HandleError posts the failure.
func (h *handler) HandleError(ctx context.Context, name string, sc job.ShardingContext, failure error) error {
	body, err := json.Marshal(describe(name, sc, failure))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	webcall.SetHeaders(req, h.header)
	answer, err := h.caller.Do(ctx, req)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	if answer.Status >= http.StatusBadRequest {
		return fmt.Errorf("webhook: status %d: %s", answer.Status, answer.Tail)
	}
	return nil
}

// longest bounds each text of a call, in bytes.
const longest = 64 << 10

func describe(name string, sc job.ShardingContext, err error) Failure {
	f := Failure{
		Job: name, TaskID: texts.PassedTaskID(sc.TaskID), Item: sc.Item, TotalCount: sc.TotalCount,
		ItemParameter: texts.ShortenTo(sc.ItemParameter, longest), Source: string(sc.Source), Token: sc.Token,
		Error: texts.ShortenTo(err.Error(), longest),
	}
	if !sc.Fire.IsZero() {
		f.Fire = &sc.Fire
	}
	var panicked *job.PanicError
	if errors.As(err, &panicked) {
		f.Stack = texts.ShortenTo(string(panicked.Stack), longest)
	}
	return f
}
