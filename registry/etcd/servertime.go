package etcd

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// ServerTime implements [registry.Clock]. etcd's API shows no clock, but its members answer HTTP on
// the address of the clients, and with it comes their time, in whole seconds: off by half a second and half the way of the
// answer at most. All endpoints are asked at once, and the middle one of their times counts, the later one of the middle two:
// among three members, one whose clock is wrong decides nothing. It waits for members that do not answer for
// [Config.RequestTimeout], and goes by the others.
//
// Where HTTP is answered on another port, or not at all, the error is [registry.ErrUnsupported]: each endpoint has answered,
// and none of them by HTTP.
func (r *Registry) ServerTime(ctx context.Context) (time.Time, error) {
	t, err := r.serverTime(ctx)
	return t, r.opError(registry.OpServerTime, "", err)
}

func (r *Registry) serverTime(ctx context.Context) (time.Time, error) {
	if r.life.Err() != nil {
		return time.Time{}, registry.ErrClosed
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	endpoints, began := r.client.Endpoints(), time.Now()
	ahead, faults := make([]time.Duration, len(endpoints)), make([]error, len(endpoints))
	var asked sync.WaitGroup
	for i, endpoint := range endpoints {
		asked.Go(func() {
			sent := time.Now()
			var date time.Time
			date, faults[i] = r.config.dateOf(ctx, r.versionURL(endpoint))
			ahead[i] = date.Sub(sent.Add(time.Since(sent) / 2))
		})
	}
	asked.Wait()
	var answers []time.Duration
	for i, err := range faults {
		if err == nil {
			answers = append(answers, ahead[i])
		}
	}
	if len(answers) > 0 {
		middle := began.Add(time.Since(began) / 2)         // as whoever waits for the answer takes it to be of
		return middle.Add(middleOf(answers)).Round(0), nil // without this process's monotonic clock, which is no clock of theirs
	}
	all := errors.Join(faults...)
	switch {
	case ctx.Err() != nil:
		return time.Time{}, remote.GivenUp(ctx, registry.ErrUnavailable, all)
	case !slices.ContainsFunc(faults, func(err error) bool { return !errors.Is(err, registry.ErrUnsupported) }):
		return time.Time{}, all
	default:
		return time.Time{}, fmt.Errorf("%w: %w", registry.ErrUnavailable, all)
	}
}

// middleOf returns the middle one of some differences, or the greater one of two.
func middleOf(differences []time.Duration) time.Duration {
	slices.Sort(differences)
	return differences[len(differences)/2]
}

// versionURL returns where a member tells its version, which needs no permission.
func (r *Registry) versionURL(endpoint string) string {
	if !strings.Contains(endpoint, "://") {
		scheme := "http://"
		if r.config.TLS != nil {
			scheme = "https://"
		}
		endpoint = scheme + endpoint
	}
	return strings.TrimSuffix(endpoint, "/") + "/version"
}

// httpBegins is how every answer by HTTP/1 begins.
const httpBegins = "HTTP/"

// dateOf asks one member for its time. The error is [registry.ErrUnsupported] only if what answers is certainly no HTTP, or
// shows no time. A connection that is refused, reset or cut says nothing of what the member can do.
func (c Config) dateOf(ctx context.Context, address string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, c.RequestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", registry.ErrUnsupported, err)
	}
	req.Close = true
	conn, err := c.dialHTTP(ctx, req.URL)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask %s: %w", address, err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // which ends the waits below
	defer func() { _ = conn.Close() }()
	date, err := askDate(conn, req)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("ask %s: %w", address, err)
	}
	return date.Add(time.Second / 2), nil
}

// line is a connection to a member.
type line struct {
	net.Conn
	carrier *carrier // of what is said over TLS; nil = it is said in the open
}

// bidFarewell tells of a line that has come to its end whether the other side has said so under its key. Nobody between can.
func (l line) bidFarewell() bool { return l.carrier != nil && !l.carrier.ended }

// carrier is what TLS goes over.
type carrier struct {
	net.Conn
	ended bool
}

func (c *carrier) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.ended = c.ended || err != nil
	return n, err
}

// dialHTTP connects to a member.
func (c Config) dialHTTP(ctx context.Context, to *url.URL) (line, error) {
	ports := map[string]string{"http": "80", "https": "443"}
	port, known := ports[to.Scheme]
	if !known {
		return line{}, fmt.Errorf("%w: no HTTP is spoken by %q", registry.ErrUnsupported, to.Scheme)
	}
	if to.Port() != "" {
		port = to.Port()
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(to.Hostname(), port))
	if err != nil || to.Scheme == "http" {
		return line{Conn: conn}, err
	}
	config, err := c.tlsNow()
	if err != nil {
		_ = conn.Close()
		return line{}, err
	}
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if config.ServerName == "" {
		config.ServerName = to.Hostname()
	}
	under := &carrier{Conn: conn}
	over := tls.Client(under, config)
	if err := over.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return line{}, err
	}
	return line{Conn: over, carrier: under}, nil
}

// askDate sends the request, and returns the time that the answer shows.
func askDate(conn line, req *http.Request) (time.Time, error) {
	if err := req.Write(conn); err != nil {
		return time.Time{}, err
	}
	answer := bufio.NewReader(conn)
	begins, err := answer.Peek(len(httpBegins))
	switch {
	case !strings.HasPrefix(httpBegins, string(begins)):
		return time.Time{}, fmt.Errorf("%w: it answers no HTTP, but %q", registry.ErrUnsupported, begins)
	case len(begins) == 0 && errors.Is(err, io.EOF) && conn.bidFarewell(): // as gRPC does
		return time.Time{}, fmt.Errorf("%w: it answers no HTTP: %w", registry.ErrUnsupported, err)
	case err != nil:
		return time.Time{}, err
	}
	resp, err := http.ReadResponse(answer, req)
	if err != nil {
		return time.Time{}, err
	}
	_ = resp.Body.Close() // what else comes does not matter
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: it tells no time: %w", registry.ErrUnsupported, err)
	}
	return date, nil
}
