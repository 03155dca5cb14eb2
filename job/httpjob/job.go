package httpjob

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
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

// The headers that tell a receiver what runs. The token is that of [job.ShardingContext], the fire is empty for a run
// by hand.
const (
	JobHeader   = "Elasticron-Job"
	ItemHeader  = "Elasticron-Item"
	FireHeader  = "Elasticron-Fire"
	TokenHeader = "Elasticron-Token"
)

// ErrForbidden is the error of a call that the [Guard] of its [Job] refuses. It is not tried again.
var ErrForbidden = webcall.ErrForbidden

// Guard says what may be called: whoever can write to the registry chooses the address. Its methods are called
// concurrently.
type Guard interface {
	// Allow is asked about each request before it is made, also those to which a redirect leads. If one names another
	// host in its header Host, it is asked about that one as well.
	Allow(address *url.URL) error
	// Dial is asked about each connection when the name of the host has been looked up, as [net.Dialer.Control] is.
	Dial(network, address string, conn syscall.RawConn) error
}

// Job is a [job.Handler] that calls the address in its job's settings, once for each item. The zero Job is
// ready for use. Its fields belong to this process. Do not change them after the job was declared.
type Job struct {
	// Guard says what may be called. With one, proxies of the environment are not used, as it could not see behind
	// them. The default, nil, allows everything.
	Guard Guard
	// Sign is called for each request when all of it is there, as [callback.Signer.Sign] is; also for those to which
	// redirects lead, until one leads to another scheme, host or port. The default, nil, signs nothing.
	//
	// [callback.Signer.Sign]: https://pkg.go.dev/github.com/elasticron/elasticron/job/httpjob/callback
	Sign func(req *http.Request, body []byte, at time.Time)
	// Output returns a writer for what an item's calls are answered: of each call a line with the status, an empty one,
	// and the body as far as it is read, with the values of references replaced. It is called once for each run, one
	// goroutine uses the writer, and its Close is called at the end of the run if it has one; nil is none. A write that fails ends
	// the call as a failure, which is tried again only if the status says so. By default, answers go nowhere.
	Output func(sc job.ShardingContext) io.Writer
}

var _ job.Handler = Job{}

// Configure returns the function that makes the calls, or every fault of the settings.
func (j Job) Configure(cfg job.Config) (job.HandlerFunc, error) {
	c, err := j.read(cfg, job.ReadProps(cfg.Props))
	if err != nil {
		return nil, err
	}
	if _, err := c.request(context.Background(), job.ShardingContext{}); err != nil {
		return nil, err
	}
	return c.run, nil
}

// Check returns every fault of the settings of a job of [Class] that can be seen where they are stored: what a reference stands
// for, only the process knows that makes the calls. Each is a [*job.FieldError].
func Check(cfg job.Config) error {
	_, err := Job{}.read(cfg, job.ReadStoredProps(cfg.Props))
	return err
}

// read reads what is to be called, and how.
func (j Job) read(cfg job.Config, p *job.PropsReader) (*call, error) {
	c := &call{
		address: p.WebAddress("http.uri"),
		shown:   webcall.Shown(cfg.Props["http.uri"]),
		method:  strings.ToUpper(p.Required("http.method")),
		data:    p.Text("http.data", ""),
		header:  make(http.Header),
		total:   p.Milliseconds("http.total.timeout.milliseconds", 0),
		strict:  p.Flag("http.fail.on.status", true),
		retries: p.Number("http.retries", 0, 0, mostRetries),
		pause:   p.Milliseconds("http.retry.milliseconds", time.Second),
		sign:    j.Sign, output: j.Output,
	}
	if c.method != "" {
		c.method = p.Word("http.method", http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
			http.MethodPatch, http.MethodDelete, http.MethodOptions)
	}
	own := []string{ContextHeader, TriggerParameterHeader, JobHeader, ItemHeader, FireHeader, TokenHeader}
	webcall.AddHeaders(c.header, p, "http.header.", own...)
	if kind := p.Text("http.content.type", ""); kind != "" {
		c.header.Set("Content-Type", kind)
	}
	c.caller = webcall.New(webcall.Limits{
		Connect:   p.Milliseconds("http.connect.timeout.milliseconds", 3*time.Second),
		Read:      p.Milliseconds("http.read.timeout.milliseconds", 5*time.Second),
		Redirects: p.Number("http.redirects", 10, 0, mostRedirects),
		Bytes:     int64(p.Number("http.answer.bytes", 1<<20, 0, mostBytes)),
		Tail:      tailBytes,
		Address:   cfg.Props["http.uri"],
		Redact:    p,
		Guard:     j.Guard, Redirected: c.signed,
		Open: own,
	})
	p.Only("http.", "http.uri", "http.method", "http.data", "http.content.type", "http.connect.timeout.milliseconds",
		"http.read.timeout.milliseconds", "http.header.", "http.total.timeout.milliseconds", "http.fail.on.status",
		"http.retries", "http.retry.milliseconds", "http.redirects", "http.answer.bytes")
	return c, p.Err()
}
