package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// maxVersionBody bounds what is read of an answer that only its header is wanted of.
const maxVersionBody = 64 << 10

// ServerTime implements [registry.Clock]. etcd's API shows no clock, but its members answer HTTP on
// the address of the clients, and with it comes their time, in whole seconds. The result is the
// middle of that second: off by half a second and the way of the answer at most. Members are asked
// in the order of the endpoints until one answers; their clocks may differ.
//
// Where HTTP is answered on another port, or not at all, the error is [registry.ErrUnsupported].
func (r *Registry) ServerTime(ctx context.Context) (time.Time, error) {
	t, err := r.serverTime(ctx)
	return t, r.opError("server time", "", err)
}

func (r *Registry) serverTime(ctx context.Context) (time.Time, error) {
	if r.life.Err() != nil {
		return time.Time{}, registry.ErrClosed
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	var faults []error
	for _, endpoint := range r.client.Endpoints() {
		now, err := r.config.dateOf(ctx, r.versionURL(endpoint))
		if err == nil {
			return now, nil
		}
		faults = append(faults, err)
		if ctx.Err() != nil {
			return time.Time{}, remote.GivenUp(ctx, registry.ErrUnavailable, err)
		}
	}
	all := errors.Join(faults...)
	if errors.Is(all, registry.ErrUnsupported) {
		return time.Time{}, all
	}
	return time.Time{}, fmt.Errorf("%w: %w", registry.ErrUnavailable, all)
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

func (c Config) dateOf(ctx context.Context, url string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, c.RequestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", registry.ErrUnsupported, err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	if req.URL.Scheme == "https" {
		if transport.TLSClientConfig, err = c.tlsNow(); err != nil {
			return time.Time{}, fmt.Errorf("ask %s: %w", url, err)
		}
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return time.Time{}, noDate(url, err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, maxVersionBody) // what comes does not matter
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %s tells no time: %w", registry.ErrUnsupported, url, err)
	}
	return date.Add(time.Second / 2), nil
}

// noDate tells a member that does not answer, or that is not trusted, from one that answers, but not HTTP.
func noDate(url string, err error) error {
	var network *net.OpError
	var distrust *tls.CertificateVerificationError
	timeout := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	if timeout || errors.As(err, &distrust) || errors.As(err, &network) && network.Op == "dial" {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	return fmt.Errorf("%w: %s answers no HTTP: %w", registry.ErrUnsupported, url, err)
}
