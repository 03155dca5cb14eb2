package access

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// How an OpenID provider is asked.
const (
	providerTime  = 10 * time.Second // for each request
	loginPatience = 3 * time.Second  // how long somebody who logs in waits until the provider is found
	firstPause    = time.Second      // before the second try to find it; it doubles up to the longest
	longestPause  = 30 * time.Second
)

// provider is an OpenID provider. Its addresses are looked for in the background, see run: who logs in while it is down
// hears so soon.
type provider struct {
	cfg      OIDC
	client   *http.Client
	patience time.Duration
	wanted   chan struct{} // somebody waits for the next try

	mu    sync.Mutex
	found *oidc.Provider
	err   error         // of the last try
	tried chan struct{} // closed when the next try is over
}

func newProvider(cfg OIDC) *provider {
	return &provider{
		cfg: cfg, client: &http.Client{Timeout: providerTime}, patience: loginPatience,
		wanted: make(chan struct{}, 1), tried: make(chan struct{}),
	}
}

// context is one in which requests go to the provider by the client with the timeout.
func (p *provider) context(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client)
}

// run asks for the provider's addresses until it has them or ctx ends. failed hears of each try that failed, and of how
// long it waits then, unless somebody wants to log in.
func (p *provider) run(ctx context.Context, failed func(err error, pause time.Duration)) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		found, err := oidc.NewProvider(p.context(ctx), p.cfg.Issuer)
		if ctx.Err() != nil {
			return
		}
		p.note(found, err)
		if err == nil {
			return
		}
		failed(err, pause)
		// However many want to log in, the provider is not asked more often than that.
		least, rest := time.NewTimer(firstPause), time.NewTimer(pause)
		select {
		case <-least.C:
			select {
			case <-rest.C:
			case <-p.wanted:
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		least.Stop()
		rest.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// note takes down what a try came to, and tells those who wait for it.
func (p *provider) note(found *oidc.Provider, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found, p.err = found, err
	close(p.tried)
	p.tried = make(chan struct{})
}

var errNotFound = errors.New("the provider has not answered yet")

// discover returns the provider, if it has been found or is by the next try.
func (p *provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	found, tried := p.found, p.tried
	p.mu.Unlock()
	if found != nil {
		return found, nil
	}
	select {
	case p.wanted <- struct{}{}:
	default:
	}
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case <-tried:
	case <-timer.C:
		return nil, errNotFound
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found, p.err
}
