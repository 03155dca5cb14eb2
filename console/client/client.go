// Package client reaches a namespace through an elasticron server rather than its registry: it reads the tree as
// [registry.Reader] does, and operates it as [operate.Operator] does, with the same results and errors.
//
//	shop, err := client.Open(client.Config{URL: "https://cron.example.org", Namespace: "shop", Token: token})
//	ns, err := operate.ReadNamespace(ctx, shop, time.Now())
//	result, err := shop.DisableJob(ctx, "orders", operate.Options{Reason: "table is locked"})
//
// Who may do what is the server's affair: it knows the token. What is stored as a secret is hidden, unless it is asked
// for by [Namespace.WithSecrets].
//
// Every operation is sent with an id, under which the server does it once. So one whose answer was lost is sent again, a
// few times; after [registry.ErrUnknownOutcome] ask again with the id of the result, as of an operator. Once it is answered,
// what waits for the job to follow outlasts a server, and a registry behind it, that are away: that ends with the context.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/registry"
)

// Config says where the server is, and which namespace is meant.
type Config struct {
	// URL is that of the server, with its prefix if it has one.
	URL       string
	Namespace string
	// Token proves who asks; empty if the server asks nobody. It is never sent without TLS but to this machine.
	Token string
	// TLS is how the server is checked; nil is as the system does it.
	TLS *tls.Config
	// Agent names the program, for what is written down of operations: "elasticron v0.3.0".
	Agent string
}

// ErrInvalidOption is the error of a setting that is not allowed.
var ErrInvalidOption = option.ErrInvalid

// Namespace is a namespace as a server shows and operates it. Its methods may be called concurrently.
type Namespace struct {
	*link
	secrets bool
}

// link is the way to the server.
type link struct {
	base  string // of the API
	name  string
	token string
	agent string
	http  *http.Client
	java  atomic.Bool
}

// Open checks the settings, and makes no connection yet. Errors: [ErrInvalidOption].
func Open(c Config) (*Namespace, error) {
	at, err := url.Parse(c.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: the URL of the server: %w", ErrInvalidOption, err)
	case at.Scheme != "http" && at.Scheme != "https" || at.Host == "":
		return nil, fmt.Errorf("%w: the URL of the server is %q, want one such as https://cron.example.org", ErrInvalidOption, at.Redacted())
	case at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return nil, fmt.Errorf("%w: the URL of the server is %q, want one without user, query and fragment", ErrInvalidOption, at.Redacted())
	case c.Namespace == "" || strings.ContainsAny(c.Namespace, "/?#"):
		return nil, fmt.Errorf("%w: the namespace is %q, want the name of one", ErrInvalidOption, c.Namespace)
	case c.Token != "" && at.Scheme == "http" && !loopback(at.Hostname()):
		return nil, fmt.Errorf("%w: the token would be sent to %s in the clear: want https", ErrInvalidOption, at.Host)
	case strings.ContainsAny(c.Token+c.Agent, "\r\n"):
		return nil, fmt.Errorf("%w: the token has more than one line", ErrInvalidOption)
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: c.TLS, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: answerTime,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		// Without these, requests that get no answer would keep a connection that is dead: each goes over the same one.
		HTTP2: &http.HTTP2Config{SendPingTimeout: silence / 3, PingTimeout: silence / 3},
	}
	return &Namespace{link: &link{
		base: strings.TrimSuffix(at.String(), "/") + "/api/v1", name: c.Namespace, token: c.Token, agent: c.Agent,
		http: &http.Client{
			Transport: transport,
			// A server of ours never sends elsewhere: what does would get the token.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Limits of one request.
const (
	answerTime = 60 * time.Second // for the first byte of an answer
	silence    = 30 * time.Second // between two pieces of an answer. A server sends all of it at once
	maxAnswer  = 512 << 20        // bytes
)

// WithSecrets returns the same namespace, of which everything is read as it is stored. The server refuses who may not
// administer what is read.
func (n *Namespace) WithSecrets() *Namespace { return &Namespace{link: n.link, secrets: true} }

// Name returns the name of the namespace.
func (n *Namespace) Name() string { return n.name }

// Me returns who asks, and what they may. A list shows what they may read, and does not say that anything is left out.
func (n *Namespace) Me(ctx context.Context) (me wire.Me, err error) {
	err = n.once(ctx, request{method: http.MethodGet, path: "/me", above: true}, &me)
	return me, err
}

// Close ends the connections to the server. Nothing is called afterwards.
func (n *Namespace) Close(context.Context) error {
	n.http.CloseIdleConnections()
	return nil
}

// request is what is asked of the server.
type request struct {
	method string
	path   string // behind that of the namespace, its parts escaped
	above  bool   // it is about no namespace: path is behind that of the API
	query  url.Values
	header http.Header
	body   any // nil is none
	// fresh says that nobody has asked under its key before. So the state that the key names is told from the second try
	// on: what was done to the job since then matters only if the first may have been carried out.
	fresh bool
}

// next returns the request as it is sent next, when it may have been sent before, or not.
func (r request) next(sent bool) request {
	if id, _, named := strings.Cut(r.header.Get(wire.HeaderKey), "@"); named && r.fresh && !sent {
		r.header = r.header.Clone()
		r.header.Set(wire.HeaderKey, id)
	}
	return r
}

// errNotThere is the answer of a server that has nothing newer.
var errNotThere = errors.New("nothing is newer")

// once sends a request, and takes its answer. What only reads is sent a second time if there was no answer on a connection that
// had brought others: it may have died since, and what was open beside it with it.
func (l *link) once(ctx context.Context, r request, answer any) error {
	died, err := l.send(ctx, r, answer)
	if !died || ctx.Err() != nil {
		return err
	}
	l.http.CloseIdleConnections()
	if r.method == http.MethodGet { // what changes something is sent again by who knows whether it may be
		_, err = l.send(ctx, r, answer)
	}
	return err
}

// errBrokeOff is an answer of which the rest did not come.
var errBrokeOff = fmt.Errorf("the answer broke off: nothing more of it came for %s", silence)

// awaited is the body of an answer, of which each piece has to come in time.
type awaited struct {
	io.Reader
	late *time.Timer
}

func (a awaited) Read(p []byte) (int, error) {
	a.late.Reset(silence)
	return a.Reader.Read(p)
}

// send sends a request, and takes its answer. died tells that none came on a connection that had brought others before.
func (l *link) send(ctx context.Context, r request, answer any) (died bool, err error) {
	var content io.Reader
	if r.body != nil {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(r.body); err != nil {
			return false, err
		}
		content = &text
	}
	at := l.base + "/namespaces/" + url.PathEscape(l.name) + r.path
	if r.above {
		at = l.base + r.path
	}
	if len(r.query) > 0 {
		at += "?" + r.query.Encode()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	used := false
	tracing := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { used = c.Reused }})
	req, err := http.NewRequestWithContext(tracing, r.method, at, content)
	if err != nil {
		return false, err
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if r.header.Get(wire.HeaderKey) != "" { // or net/http would repeat it by itself, unheard, and without the state that all but the first name
		req.GetBody = nil
	}
	req.Header.Set("Accept", "application/json")
	if content != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if l.agent != "" {
		req.Header.Set("User-Agent", l.agent)
	}
	if l.token != "" {
		req.Header.Set("Authorization", "Bearer "+l.token)
	}
	response, err := l.http.Do(req)
	if err != nil {
		return used, lost(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	late := time.AfterFunc(silence, func() { cancel(errBrokeOff) })
	defer late.Stop()
	text, err := io.ReadAll(io.LimitReader(awaited{response.Body, late}, maxAnswer))
	if err != nil {
		return used, lost(ctx, err)
	}
	return false, answered(at, response, text, answer)
}

// answered judges an answer.
func answered(at string, response *http.Response, text []byte, answer any) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode == http.StatusNotModified:
		return errNotThere
	case kind == "application/problem+json":
		var p wire.Problem
		if err := json.Unmarshal(text, &p); err != nil {
			return fmt.Errorf("server: %s: %w", response.Status, err)
		}
		return p.Err()
	case response.StatusCode >= http.StatusInternalServerError: // of a proxy, behind which the server may have had it
		return &lostError{fmt.Errorf("%s answers %s (%s), which is no answer of an elasticron server", at, response.Status, kind), true}
	case response.StatusCode/100 != 2 || kind != "application/json":
		return fmt.Errorf("server: %s answers %s (%s), which is no answer of an elasticron server", at, response.Status, kind)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// lostError is a request that got no answer. sent tells that the server may have had it.
type lostError struct {
	err  error
	sent bool
}

func (e *lostError) Error() string { return "server: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

func lost(ctx context.Context, err error) error {
	var dial *net.OpError
	sent := !errors.As(err, &dial) || dial.Op != "dial"
	if cause := context.Cause(ctx); cause != nil {
		return &lostError{cause, sent}
	}
	return &lostError{err, sent}
}

// Tries of an operation whose answer was lost.
const (
	maxTries = 4
	pause    = 200 * time.Millisecond
)

// done sends an operation, which has an id, until there is an answer.
func (l *link) done(ctx context.Context, r request, answer any) error {
	_, err := l.doneOr(ctx, r, answer)
	return err
}

// doneOr is done that tells whether an answer was lost before the one that came: then the server may have done what it
// refuses now.
func (l *link) doneOr(ctx context.Context, r request, answer any) (sent bool, err error) {
	for try := 1; ; try++ {
		err := l.once(ctx, r.next(sent), answer)
		var gone *lostError
		if !errors.As(err, &gone) {
			if errors.Is(err, registry.ErrUnknownOutcome) && try < maxTries && wait(ctx, pause) {
				sent = true
				continue
			}
			return sent, err
		}
		sent = sent || gone.sent
		if try == maxTries || ctx.Err() != nil || !wait(ctx, time.Duration(try)*pause) {
			if sent {
				err = fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, err)
			}
			return sent, err
		}
	}
}

// insist is doneOr that goes on for as long as the server, or its registry, is away and the context goes on. It is for what may
// be asked for as often as one likes. tell hears why there is no answer, but for a hiccup.
func (l *link) insist(ctx context.Context, next func() request, answer any, tell func(why error)) (sent bool, err error) {
	for try := 1; ; try++ {
		err := l.once(ctx, next().next(sent), answer)
		var gone *lostError
		unknown := errors.Is(err, registry.ErrUnknownOutcome)
		if !unknown && !away(err) {
			return sent, err
		}
		sent = sent || unknown || errors.As(err, &gone) && gone.sent
		if try > 1 && ctx.Err() == nil {
			tell(err)
		}
		if !wait(ctx, min(pause<<min(try-1, maxTries), look)) {
			if sent && !unknown {
				err = fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, err)
			}
			return sent, err
		}
	}
}

// ended is the error of a wait that its context may have ended: that, and whether there was no answer at last.
func ended(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil, !away(err) && !errors.Is(err, registry.ErrUnknownOutcome): // it was answered
		return err
	case errors.Is(err, cause):
		return cause
	default:
		return fmt.Errorf("%w, and there was no answer at last: %s", cause, reasonOf(err))
	}
}

// reasonOf says why there is no answer, without the request that got none.
func reasonOf(err error) string {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return err.Error()
}

// wait tells whether the context outlasted a pause.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
