package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// Limits of each request, see the package comment.
const (
	maxBody   = 1 << 20
	maxMany   = 16 << 20 // about several jobs, with what was shown of each
	maxImport = 8 << 20  // a file
	maxTime   = 20 * time.Second

	// maxValues bounds the values of a request about several jobs: decoded, an empty one takes many times its bytes.
	maxValues = 1 << 20
	// mostLarge is how many requests that are longer than maxBody are decoded and done at once.
	mostLarge = 3
	// mostBodies is how many that may be longer are read at once, or wait to be done, and mostOfOne how many of them are of one
	// user: fewer than mostLarge, so that nobody has all turns.
	mostBodies = 6
	mostOfOne  = 2
)

// limitOf is how many bytes a request may have.
func limitOf(rt route, r *http.Request) int64 {
	switch importing := strings.HasSuffix(rt.path, "/import"); {
	case importing && !isJSON(r):
		return maxImport
	case importing || strings.HasSuffix(rt.path, "/bulk") || rt.method == http.MethodPost && rt.scope == asked:
		return maxMany
	default:
		return maxBody
	}
}

// statusBrokenOff is the status of a request whose client did not wait for the answer. Nobody reads it; it keeps such
// requests from counting as failures of the server.
const statusBrokenOff = 499

// call is one request.
type call struct {
	*API
	w   http.ResponseWriter
	r   *http.Request
	ctx context.Context //nolint:containedctx // it is the request's, bounded

	rt  route
	who access.Identity
	ns  *namespace // nil where the route is about none
	job string     // that the route is about; empty is none

	text  []byte // the body, if whole says that it was read
	whole bool

	operation string // id of the operation that was begun
}

// carriedOut makes a route a handler: it bounds the request, decides whether it is allowed, and turns errors into
// problems.
func (a *API) carriedOut(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, limitOf(rt, r))
		c := &call{API: a, w: w, r: r, rt: rt, who: access.FromContext(r.Context())}
		defer c.anew()()
		err := c.allowed(rt)
		if err == nil {
			err = knownParameters(r.URL.RawQuery, rt.parameters)
		}
		if err == nil {
			err = c.inTurn(limitOf(rt, r), func() error { return protect.Call(func() error { return rt.do(c) }) }) //nolint:contextcheck // c has it, bounded
		}
		if err == nil {
			return
		}
		p := problemOf(err, c.operation)
		if p.Status == http.StatusServiceUnavailable && errors.Is(r.Context().Err(), context.Canceled) {
			p.Status, p.Cause, p.Title = statusBrokenOff, wire.CauseBrokenOff, "Client Closed Request"
		}
		if p.Status >= http.StatusInternalServerError {
			c.conceal(&p, err)
		}
		writeProblem(w, p)
	})
}

// conceal writes into the log why a request failed. Of a fault of the server nobody else is told more.
func (c *call) conceal(p *wire.Problem, err error, attrs ...any) {
	c.log.WarnContext(c.ctx, "request failed", append([]any{"method", c.r.Method, "path", c.r.URL.Path, "status", p.Status, "error", err}, attrs...)...)
	if p.Status == http.StatusInternalServerError {
		p.Detail = "a fault of the server, which its log tells"
	}
}

// inTurn does what was asked for. If that may be long, few others are read at once, and it waits then until fewer are done:
// what was shown of thousands of jobs takes many times its bytes in memory. So nobody waits for somebody else who sends slowly.
// Who has waited has its time from then on.
func (c *call) inTurn(limit int64, do func() error) error {
	if limit <= maxBody || 0 <= c.r.ContentLength && c.r.ContentLength <= maxBody {
		return do()
	}
	leave, err := c.place(c.bodies)
	if err != nil {
		return err
	}
	defer leave()
	if c.text, err = c.read(); err != nil {
		return err
	}
	c.whole = true
	defer c.anew()()
	if len(c.text) <= maxBody {
		return do()
	}
	ctx, cancel := c.waiting()
	defer cancel()
	if err := enter(ctx, c.large); err != nil {
		return err
	}
	defer func() { <-c.large }()
	if err := c.allowedStill(); err != nil {
		return err
	}
	defer c.anew()()
	return do()
}

// place waits for a place of who asks.
func (c *call) place(of *places) (leave func(), err error) {
	ctx, cancel := c.waiting()
	defer cancel()
	return of.take(ctx, c.who.Name)
}

// waiting is for what waits until others are done.
func (c *call) waiting() (context.Context, context.CancelFunc) {
	busy := fault(http.StatusServiceUnavailable, wire.CauseUnavailable, "others that are as long are under way, and nothing was done for this request: send it again")
	return context.WithTimeoutCause(c.ctx, maxTime, busy)
}

// anew gives a request its whole time from now on.
func (c *call) anew() (cancel context.CancelFunc) {
	c.ctx, cancel = context.WithTimeout(c.r.Context(), maxTime+wire.MaxWait)
	if c.rt.path != inNamespace+"/events" { // which bounds each frame
		// A connection that cannot have deadlines is bounded by its server.
		_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(2*maxTime + wire.MaxWait))
	}
	return cancel
}

// read reads the whole body.
func (c *call) read() ([]byte, error) {
	if c.whole {
		return c.text, nil
	}
	text, err := io.ReadAll(c.r.Body)
	if err != nil {
		return nil, unread(err)
	}
	return text, c.allowedStill()
}

// allowed finds what the route is about, and asks whether who asks may do it. What there is not is told only to who
// might know.
func (c *call) allowed(rt route) error {
	if c.who.Name == "" {
		return fault(http.StatusUnauthorized, wire.CauseNobody, "log in, or give a token")
	}
	if rt.scope == anybody {
		return nil
	}
	name := c.r.PathValue("namespace")
	c.job = c.r.PathValue("job")
	if rt.scope == asked {
		c.job = c.r.URL.Query().Get("job")
	}
	if strings.Contains(c.job, "/") {
		return malformed("job", "%q is given, want the name of one job", c.job)
	}
	var may bool
	switch rt.scope {
	case oneJob:
		may = c.job != "" && c.who.May(rt.action, name, c.job)
	case visible:
		may = c.who.Sees(name)
	case named: // what is named is read only for who may do it to something
		if !c.who.MaySome(rt.action, name) {
			return fault(http.StatusForbidden, wire.CauseForbidden, "you may not %s any job of namespace %s", rt.action, name)
		}
		may = true
	default: // all jobs, or the one that was asked for
		may = c.who.May(rt.action, name, c.job)
	}
	if !may {
		return forbidden(rt.action, name, c.job)
	}
	if c.ns = c.namespaces[name]; c.ns == nil {
		return notFound("there is no namespace %q here", name)
	}
	return nil
}

// allowedStill asks anew whether who asks may do it. What was let in may come slowly or wait for its turn, and their session,
// token or grants may be taken away meanwhile: from then on nothing is to be done or shown for them.
func (c *call) allowedStill() error {
	c.who = c.who.Again(time.Now())
	return c.allowed(c.rt)
}

// mayEach asks for each job that the request names.
func (c *call) mayEach(action access.Action, jobs ...string) error {
	for _, job := range jobs {
		if job == "" || !c.who.May(action, c.ns.Name, job) {
			return forbidden(action, c.ns.Name, job)
		}
	}
	return nil
}

func forbidden(action access.Action, namespace, job string) error {
	what := "all jobs"
	if job != "" {
		what = "job " + job
	}
	return fault(http.StatusForbidden, wire.CauseForbidden, "you may not %s %s of namespace %s", action, what, namespace)
}

// reads tells whether who asks may read a job.
func (c *call) reads(job string) bool { return c.who.May(access.Read, c.ns.Name, job) }

// readable returns what tells whether who asks may read a job, for those who ask for many.
func (c *call) readable() func(job string) bool {
	if c.reads("") {
		return func(string) bool { return true }
	}
	return c.reads
}

// answer writes JSON.
func (c *call) answer(status int, value any) error {
	text, err := encoded(value)
	if err != nil {
		return err
	}
	return c.send(status, text)
}

func encoded(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return text.Bytes(), err
}

// send writes JSON that is encoded. What is shown may have been long in coming, and so is shown to who may still see it; what
// was done is told in any case.
func (c *call) send(status int, text []byte) error {
	if c.rt.method == http.MethodGet {
		if err := c.allowedStill(); err != nil {
			return err
		}
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(status)
	_, _ = c.w.Write(text) // who has gone needs no answer
	return nil
}

// maxHow bounds, in bytes, what is written down of the program that was used.
const maxHow = 100

// operator is who asks, as an operator of the namespace.
func (c *call) operator() (*operate.Operator, error) {
	how := "console"
	if agent := c.r.UserAgent(); strings.HasPrefix(agent, "elasticron ") && len(agent) <= maxHow {
		how = agent
	}
	if c.who.How != access.ByNothing {
		how += ", by " + c.who.How
	}
	return operate.New(c.ns.Store, operate.By(c.who.Name, strings.ToValidUTF8(how, "")), operate.WithLogger(c.log))
}

// namespace is a namespace and what is worked out of its copy.
type namespace struct {
	Namespace
	java   bool
	events http.Handler

	// written is the newest revision that an operation committed here: what is shown afterwards is no older.
	written atomic.Int64

	servers, instances keptRows
	kept               keptStates
}

// catchUp bounds how long a reader waits for the copy to show what was committed here before.
const catchUp = 5 * time.Second

// picture returns what the copy shows, with all that was committed here before, unless the copy is late.
func (c *call) picture() *live.Picture {
	ctx, cancel := context.WithTimeout(c.ctx, catchUp)
	defer cancel()
	wanted := registry.Revision(c.ns.written.Load())
	p := c.ns.Hub.Picture()
	for p.State.Revision() < wanted {
		select {
		case <-p.Newer:
			p = c.ns.Hub.Picture()
		case <-ctx.Done():
			return p
		}
	}
	return p
}

// answering returns the picture, if the registry answers. Programs take what they get for what is stored now, and so are
// told of an outage as they would be by the registry.
func (c *call) answering() (*live.Picture, error) {
	p := c.picture()
	if !p.Connected {
		return nil, fault(http.StatusServiceUnavailable, wire.CauseUnavailable,
			"the registry does not answer: the server knows what was stored at %s, and no more", p.AsOf.UTC().Format(time.RFC3339))
	}
	return p, nil
}

// wrote remembers a commit.
func (n *namespace) wrote(revision registry.Revision) {
	for {
		was := n.written.Load()
		if was >= int64(revision) || n.written.CompareAndSwap(was, int64(revision)) {
			return
		}
	}
}

func shown(p *live.Picture) wire.Shown {
	return wire.Shown{Revision: p.Revision, AsOf: p.AsOf.UTC(), Connected: p.Connected}
}
