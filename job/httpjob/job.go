package httpjob

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/internal/webcall"
)

const (
	// Class is the class of HTTP jobs, which is the word of 3.x for their type.
	Class = "HTTP"
	// ContextHeader is the header that holds the sharding context.
	ContextHeader = "shardingContext"
	// TriggerParameterHeader is the header that holds what came with a request by hand, as a JSON string.
	TriggerParameterHeader = "triggerParameter"

	mostRetries   = 100
	mostRedirects = 100
	mostBytes     = 1 << 30
	tailBytes     = 2 << 10
)

// Job is a [job.Handler] that calls the address in its job's settings, once for each item. The zero Job is
// ready for use.
type Job struct{}

var _ job.Handler = Job{}

// Configure returns the function that makes the calls, or every fault of the settings.
func (Job) Configure(cfg job.Config) (job.HandlerFunc, error) {
	p := job.ReadProps(cfg.Props)
	c := &call{
		address: p.WebAddress("http.uri"),
		shown:   cfg.Props["http.uri"],
		method:  strings.ToUpper(p.Required("http.method")),
		data:    p.Text("http.data", ""),
		header:  make(http.Header),
		total:   p.Milliseconds("http.total.timeout.milliseconds", 0),
		strict:  p.Flag("http.fail.on.status", true),
		retries: p.Number("http.retries", 0, 0, mostRetries),
		pause:   p.Milliseconds("http.retry.milliseconds", time.Second),
	}
	if c.method != "" {
		c.method = p.Word("http.method", http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
			http.MethodPatch, http.MethodDelete, http.MethodOptions)
	}
	for name, value := range p.Below("http.header.") {
		c.header.Set(name, value)
	}
	if kind := p.Text("http.content.type", ""); kind != "" {
		c.header.Set("Content-Type", kind)
	}
	c.caller = webcall.New(webcall.Limits{
		Connect:   p.Milliseconds("http.connect.timeout.milliseconds", 3*time.Second),
		Read:      p.Milliseconds("http.read.timeout.milliseconds", 5*time.Second),
		Redirects: p.Number("http.redirects", 10, 0, mostRedirects),
		Bytes:     int64(p.Number("http.answer.bytes", 1<<20, 0, mostBytes)),
		Tail:      tailBytes,
		Address:   c.shown,
		Redact:    p.Redact,
	})
	p.Only("http.", "http.uri", "http.method", "http.data", "http.content.type", "http.connect.timeout.milliseconds",
		"http.read.timeout.milliseconds", "http.header.", "http.total.timeout.milliseconds", "http.fail.on.status",
		"http.retries", "http.retry.milliseconds", "http.redirects", "http.answer.bytes")
	if err := p.Err(); err != nil {
		return nil, err
	}
	if _, err := c.request(context.Background(), job.ShardingContext{}); err != nil {
		return nil, err
	}
	return c.run, nil
}
