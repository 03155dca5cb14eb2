package zkcompat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// Open connects to an ensemble, gets a session, and shows that the namespace may be read, if there is one. The context
// and Config.ConnectionTimeout bound that; nothing of the handle depends on the context afterwards.
//
// Errors: [registry.ErrInvalid] for every fault of the config; [registry.ErrDenied] if the namespace
// belongs to another digest; [registry.ErrUnsupported] if the server is older than 3.6; otherwise
// [registry.ErrUnavailable], which names the servers and what the last try came to. On an error nothing
// is left behind.
func Open(ctx context.Context, config Config) (*Registry, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, remote.OpError(registry.OpOpen, "", err)
	}
	r := newRegistry(config)
	r.start()
	if err := r.reach(ctx); err != nil {
		r.Vanish() //nolint:contextcheck // it says nothing to the server
		return nil, remote.OpError(registry.OpOpen, "", err)
	}
	return r, nil
}

// reach waits for a session and reads the namespace. A connection that breaks meanwhile is no answer.
func (r *Registry) reach(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, r.config.ConnectionTimeout)
	defer cancel()
	if _, err := r.keeper.current(bound); err != nil {
		return r.unreachable(ctx, r.keeper.failure())
	}
	var last error
	for failed := 0; ; failed++ {
		if !remote.Sleep(bound, remote.Backoff(failed)) {
			return r.unreachable(ctx, last)
		}
		l, err := r.keeper.usable(bound)
		if err == nil {
			_, err = r.fetch(bound, l, r.ns.base)
		}
		if err == nil {
			err = r.watchOnce(bound, l)
		}
		switch {
		case err == nil:
			return nil
		case refusal(err) != nil:
			return fmt.Errorf("namespace %q on %s: %w", r.config.Namespace, strings.Join(r.config.Servers, ", "), refusal(err))
		case bound.Err() == nil || last == nil:
			last = err
		}
	}
}

// watchOnce proves that the server knows watches of subtrees.
func (r *Registry) watchOnce(ctx context.Context, l *link) error {
	for failed := 0; ; failed++ {
		epoch, _ := l.ready()
		if w := l.present(epoch); w != nil {
			probe := childOf(r.ns.base, "any")
			err := w.watch(ctx, probe)
			if err == nil {
				err = w.unwatch(ctx, probe)
			}
			if err == nil || !isPassing(err) {
				return err
			}
		}
		if !remote.Sleep(ctx, remote.Backoff(failed+1)) {
			return context.Cause(ctx)
		}
	}
}

func (r *Registry) unreachable(ctx context.Context, last error) error {
	if refused := refusal(last); refused != nil {
		return fmt.Errorf("namespace %q: %w", r.config.Namespace, refused)
	}
	if last == nil {
		last = errors.New("no session was granted")
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: no session from %s before the context ended (%w): %w",
			registry.ErrUnavailable, strings.Join(r.config.Servers, ", "), context.Cause(ctx), last)
	}
	return fmt.Errorf("%w: no session from %s within %s: %w",
		registry.ErrUnavailable, strings.Join(r.config.Servers, ", "), r.config.ConnectionTimeout, last)
}
