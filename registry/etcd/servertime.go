package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// maxVersionBody bounds what is read of an answer that only its header is wanted of.
const maxVersionBody = 64 << 10

// ServerTime implements [registry.Clock]. etcd's API shows no clock, but its members answer HTTP on
// the address of the clients, and with it comes their time, in whole seconds: off by half a second and half the way of the
// answer at most. All endpoints are asked at once, and the middle one of their times counts, the later one of the middle two:
// among three members, one whose clock is wrong decides nothing. It waits for members that do not answer for
// [Config.RequestTimeout], and goes by the others.
//
// Where HTTP is answered on another port, or not at all, the error is [registry.ErrUnsupported].
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
	case errors.Is(all, registry.ErrUnsupported):
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
