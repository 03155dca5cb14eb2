// Package webcall makes single HTTP calls whose time and size are bounded at every step.
package webcall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/job/internal/tail"
)

// What a call ends with when a bound is reached, or when the writer of [Caller.DoTo] fails.
var (
	ErrNotWritten       = errors.New("the answer cannot be written on")
	ErrReadTimeout      = errors.New("no answer within the read timeout")
	ErrTooManyRedirects = errors.New("too many redirects")
	ErrForbidden        = errors.New("the address may not be called")
	ErrSwitches         = errors.New("the server goes on in another protocol than HTTP, which nobody asked it for")
)

// Guard says what may be called.
type Guard interface {
	// Allow is asked about each request before it is made, also those to which a redirect leads, and about the host that
	// it names in its header.
	Allow(address *url.URL) error
	// Dial is asked about each connection when the name of the host has been looked up, as [net.Dialer.Control] is.
	Dial(network, address string, conn syscall.RawConn) error
}

// Redactor hides secrets. A [job.PropsReader] is one.
//
// [job.PropsReader]: https://pkg.go.dev/github.com/elasticron/elasticron/job#PropsReader
type Redactor interface {
	Redact(text string) string
	// RedactCut is Redact for a text that may end within a secret.
	RedactCut(text string) string
}

// Limits bound a call.
type Limits struct {
	Connect   time.Duration // to connect, TLS included; 0 = none
	Read      time.Duration // between each request and its answer, and between parts of the answer; 0 = none
	Redirects int           // that are followed
	Bytes     int64         // of the answer that are read
	Tail      int           // bytes of the end of it that are kept

	// What is read of secrets must not get into errors, which are stored.
	Address string   // the setting of the address; if it is a reference, or if addresses are signed, errors show it, as Shown does
	Signed  bool     // the address of a call is that of the setting, and a signature
	Redact  Redactor // tells what an answer may show; nil = all

	Guard Guard // nil = everything may be called. With one, proxies of the environment are not used
	// Redirected prepares a request to which a redirect leads; nil = as it is. One that goes elsewhere, to another scheme,
	// host or port than the first, or comes from there, is not prepared: it has only the headers Content-Type and those
	// of Open.
	Redirected func(req *http.Request) error
	Open       []string // headers that are no secret
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Tail   string // the end of what was read
}

// Caller makes calls. It keeps no connections, and so no goroutines, between them. It is safe for
// concurrent use.
type Caller struct {
	limits Limits
	client *http.Client
}

// New returns a Caller.
func New(limits Limits) *Caller {
	dialer, proxy := &net.Dialer{Timeout: limits.Connect}, http.ProxyFromEnvironment
	if limits.Guard != nil { // which could not see behind a proxy
		proxy = nil
		dialer.Control = func(network, address string, conn syscall.RawConn) error {
			// On a goroutine of net/http, where a panic would end the process.
			return forbidden(protect.Call(func() error { return limits.Guard.Dial(network, address, conn) }))
		}
	}
	return &Caller{limits: limits, client: &http.Client{
		Transport: &http.Transport{
			Proxy:               proxy,
			DialContext:         dialer.DialContext,
			TLSHandshakeTimeout: limits.Connect,
			DisableKeepAlives:   true,
			ForceAttemptHTTP2:   true,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if w, is := req.Context().Value(watchKey{}).(*watch); is {
				w.connects()
			}
			if len(via) > limits.Redirects {
				return fmt.Errorf("%w: %d are followed", ErrTooManyRedirects, limits.Redirects)
			}
			if err := limits.allow(req); err != nil {
				return err
			}
			return limits.redirected(req, via)
		},
	}}
}

// redirected prepares a request to which a redirect leads. Go gives it the headers of the first one, and takes away only
// those that it knows to be secret; also the header Referer tells the address, which may have a token. Who was called
// elsewhere may lead back to any address of the first place, so that does not get them again.
func (l Limits) redirected(req *http.Request, via []*http.Request) error {
	elsewhere := func(r *http.Request) bool { return placeOf(r.URL) != placeOf(via[0].URL) }
	if !elsewhere(req) && !slices.ContainsFunc(via, elsewhere) {
		if l.Redirected == nil {
			return nil
		}
		return l.Redirected(req)
	}
	req.Host = "" // which Go takes from the first one as well
	for name := range req.Header {
		open := func(of string) bool { return strings.EqualFold(name, of) }
		if !open("Content-Type") && !slices.ContainsFunc(l.Open, open) {
			delete(req.Header, name)
		}
	}
	return nil
}

// placeOf is where an address leads.
func placeOf(address *url.URL) (place struct{ scheme, host, port string }) {
	place.scheme, place.host, place.port = address.Scheme, strings.ToLower(address.Hostname()), address.Port()
	if place.port == "" {
		place.port = map[string]string{"http": "80", "https": "443"}[place.scheme]
	}
	return place
}

// Judge notes as a fault of a setting that a guard refuses the address in it, which the setting may only refer to, or the host
// that headers name instead; so this is known before the first call. Without a guard, it notes nothing.
func Judge(settings Settings, guard Guard, name, setting, address string, header http.Header) {
	to, err := url.Parse(address)
	if guard == nil || address == "" || err != nil { // which is a fault by itself
		return
	}
	req := &http.Request{URL: to, Host: to.Host}
	if header != nil {
		SetHeaders(req, header)
	}
	err = Limits{Guard: guard}.allow(req)
	switch {
	case err == nil:
	case reference.Is(setting): // and its value is nobody's affair
		settings.Fault(name, "must lead to an address that may be called from here")
	default:
		settings.Fault(name, "must be an address that may be called from here: "+err.Error())
	}
}

// allow asks the guard about a request: about its address, and about that of the host which it names, as there may be several
// behind one address.
func (l Limits) allow(req *http.Request) error {
	if l.Guard == nil {
		return nil
	}
	if err := l.Guard.Allow(req.URL); err != nil || req.Host == "" || req.Host == req.URL.Host {
		return forbidden(err)
	}
	// What the header says may be a secret that a setting refers to, so no error has it.
	if !IsHost(req.Host) { // which servers may read otherwise than the guard does
		return forbidden(errors.New("the header Host must be a name, or a name and a port"))
	}
	named := *req.URL
	if named.Host = req.Host; named.Port() == "" && req.URL.Port() != "" {
		named.Host = net.JoinHostPort(named.Hostname(), req.URL.Port())
	}
	if err := l.Guard.Allow(&named); err != nil {
		return forbidden(reference.Redacted(err, func(string) string { return "not the host that the header Host names" }))
	}
	return nil
}

var host = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// IsHost tells whether a text is what the header Host may be: a name or an address, with a port or without one.
func IsHost(text string) bool { return host.MatchString(text) }

func forbidden(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrForbidden, err)
}

// Do makes a call. What the server answers is no error, whatever the status is. An answer that is
// longer than the limit is read so far and no further.
func (c *Caller) Do(ctx context.Context, req *http.Request) (Answer, error) {
	return c.DoTo(ctx, req, io.Discard)
}

// DoTo is [Caller.Do], and writes the answer as it comes, or, where secrets are to be replaced, a quarter of a MiB at a
// time: a line with the status, an empty one, what is read of the body, with secrets replaced, and the end of a line. If
// the body breaks off, or cannot be written on, the answer is what was read until then, and there is an error as well.
func (c *Caller) DoTo(ctx context.Context, req *http.Request, to io.Writer) (Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	heard := func() {}
	if c.limits.Read > 0 {
		w := &watch{time.AfterFunc(c.limits.Connect+c.limits.Read, func() { cancel(ErrReadTimeout) }), c.limits}
		defer w.timer.Stop()
		w.connects()
		heard = w.hears
		ctx = context.WithValue(ctx, watchKey{}, w)
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { w.hears() }})
	}
	answer, err := c.do(req.WithContext(ctx), heard, to)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return answer, err
}

// watch ends a call that is not answered in time.
type watch struct {
	timer  *time.Timer
	limits Limits
}

// watchKey is the key of the watch in the context of a call.
type watchKey struct{}

// connects starts the time of one of the requests of the call: that to connect and that for the answer, which starts anew with
// the connection. If there is no bound to connect, the time starts with the connection only.
func (w *watch) connects() {
	if w.limits.Connect == 0 {
		w.timer.Stop()
		return
	}
	w.timer.Reset(w.limits.Connect + w.limits.Read)
}

// hears starts the time until more is heard of the other side.
func (w *watch) hears() { w.timer.Reset(w.limits.Read) }

func (c *Caller) do(req *http.Request, heard func(), to io.Writer) (Answer, error) {
	if err := c.limits.allow(req); err != nil {
		return Answer{}, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return Answer{}, c.redacted(c.withoutAddress(err))
	}
	defer resp.Body.Close() //nolint:errcheck // the answer is read, or not wanted
	heard()
	to = &writingOn{to}
	end := tail.New(c.limits.Tail)
	bounded := &io.LimitedReader{R: resp.Body, N: c.limits.Bytes}
	read := func(to io.Writer) error {
		_, err := io.Copy(to, &listening{bounded, heard})
		return err
	}
	all := io.MultiWriter(end, to)
	if _, err := fmt.Fprintf(to, "%s %d %s\n\n", resp.Proto, resp.StatusCode, http.StatusText(resp.StatusCode)); err != nil {
		return Answer{Status: resp.StatusCode, Header: resp.Header}, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body is the bare connection, and no context ends a read of that
		return Answer{Status: resp.StatusCode, Header: resp.Header}, ErrSwitches
	}
	if c.limits.Redact == nil {
		err = read(all)
	} else {
		hidden := &redacting{to: all, redact: c.limits.Redact}
		err = read(hidden)
		if flushed := hidden.flush(err != nil || bounded.N <= 0); err == nil {
			err = flushed
		}
	}
	if _, ended := io.WriteString(to, "\n"); err == nil {
		err = ended
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Tail: end.String()}, err
}

// redacted replaces secrets in the error of a call: whoever is called may repeat in a redirect what it was told.
func (c *Caller) redacted(err error) error {
	if c.limits.Redact == nil {
		return err
	}
	return reference.Redacted(err, c.limits.Redact.Redact)
}

// withoutAddress replaces the address in the error of a call, which may be that of a redirect.
func (c *Caller) withoutAddress(err error) error {
	var failed *url.Error
	if !errors.As(err, &failed) {
		return err
	}
	address := failed.URL
	if reference.Is(c.limits.Address) || c.limits.Signed {
		address = c.limits.Address
	}
	return &url.Error{Op: failed.Op, URL: Shown(address), Err: failed.Err}
}

// Shown is an address, or the setting of one, as errors may have it: a reference as it is, and of anything else the scheme,
// the host and the path. A user, a password and a query are often secrets.
func Shown(address string) string {
	if reference.Is(address) {
		return address
	}
	set, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be shown"
	}
	shown := url.URL{Scheme: set.Scheme, Host: set.Host, Path: set.Path, RawPath: set.RawPath}
	return shown.String()
}

// writingOn tells the errors of a writer from those of who is read.
type writingOn struct {
	to io.Writer
}

func (w *writingOn) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrNotWritten, err)
	}
	return n, err
}

// listening tells of every part that was read.
type listening struct {
	io.Reader
	heard func()
}

func (l *listening) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if n > 0 {
		l.heard()
	}
	return n, err
}
