package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api"
	"github.com/elasticron/elasticron/console/figures"
	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/console/web"
)

// Server is a console. Make it by [New], and end it by [Server.Serve] or [Server.Close].
type Server struct {
	log     *slog.Logger
	guard   *access.Guard
	hubs    []*live.Hub
	names   []string // of their namespaces
	handler http.Handler
	api     *api.API

	follow  sync.WaitGroup
	stop    context.CancelFunc
	failed  chan error // why a namespace cannot be followed any more; the first one counts
	closing sync.Once
}

// New follows the namespaces, and returns when the first state of each is there; until then ctx bounds the call.
// Errors: [ErrInvalidOption], those of access.New, and those of the registries.
func New(ctx context.Context, c Config) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Access.Logger == nil {
		c.Access.Logger = c.Logger
	}
	s := &Server{log: c.Logger, failed: make(chan error, 1)}
	if err := s.assemble(ctx, c); err != nil {
		s.closeHubs()
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.follow.Go(func() { s.guard.Run(running) })
	for _, hub := range s.hubs {
		s.follow.Go(func() {
			if err := hub.Run(running); err != nil {
				select {
				case s.failed <- err:
				default:
				}
			}
		})
	}
	return s, nil
}

// assemble makes the parts and puts them together.
func (s *Server) assemble(ctx context.Context, c Config) (err error) {
	limits := live.NewLimits()
	var namespaces []api.Namespace
	hubs := make(map[string]*live.Hub)
	for _, n := range c.Namespaces {
		hub, err := live.Open(ctx, live.Config{Registry: n.Registry, Namespace: n.Name, History: n.History, Limits: limits, Logger: c.Logger})
		if err != nil {
			return err
		}
		s.hubs, hubs[n.Name] = append(s.hubs, hub), hub
		namespaces = append(namespaces, api.Namespace{Name: n.Name, Store: n.Registry, Hub: hub, History: n.History})
		s.names = append(s.names, n.Name)
	}
	pages, err := web.New(web.Config{Prefix: c.Access.Prefix, Who: func(r *http.Request) web.Who { return whoOf(r, s.names) }})
	if err != nil {
		return err
	}
	c.Access.Public = func(path string) bool { return web.Public(path) || path == pathLive || path == pathReady }
	c.Access.LoginPage = func(w http.ResponseWriter, _ *http.Request, p access.LoginPage) { pages.WriteLogin(w, web.Login(p)) }
	if s.guard, err = access.New(c.Access); err != nil {
		return err
	}
	resources, err := api.New(api.Config{Namespaces: namespaces, Logger: c.Logger})
	if err != nil {
		return err
	}
	s.api = resources
	routes := http.NewServeMux()
	routes.Handle("/api/v1/", http.StripPrefix("/api/v1", resources))
	for _, own := range []string{"/login", "/logout", "/oidc/"} {
		routes.Handle(own, s.guard.Routes())
	}
	routes.HandleFunc("GET "+pathLive, s.live)
	routes.HandleFunc("GET "+pathReady, s.ready)
	counts := figures.New(hubs, limits, s.guard)
	routes.Handle("GET "+pathMetrics, s.forAll(counts.Handler()))
	routes.Handle("/", pages)
	s.handler = behind(c.Access.Prefix, counts.Count(s.guard.Protect(routes)))
	return nil
}

// whoOf is who asks for a page, and the namespaces that they may see.
func whoOf(r *http.Request, names []string) web.Who {
	id := access.FromContext(r.Context())
	who := web.Who{Name: id.Name, How: id.How}
	for _, name := range names {
		if id.Sees(name) {
			who.Namespaces = append(who.Namespaces, name)
		}
	}
	return who
}

// behind takes the prefix off the paths of requests, if the proxy has not done so.
func behind(prefix string, next http.Handler) http.Handler {
	if prefix == "" {
		return next
	}
	within := http.StripPrefix(prefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == prefix:
			http.Redirect(w, r, prefix+"/", http.StatusPermanentRedirect)
		case strings.HasPrefix(r.URL.Path, prefix+"/"):
			within.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// The paths of probes, which anybody may ask.
const (
	pathLive  = "/live"
	pathReady = "/ready"
)

// standsStill is how long a hub may take for what it does twice a second before a new start is the better way: the whole of a
// large namespace may have to be read anew.
const standsStill = 30 * time.Second

// pathMetrics is where Prometheus asks, with a token if anybody is asked who they are.
const pathMetrics = "/metrics"

// forAll lets through who may see all namespaces: next tells of all of them.
func (s *Server) forAll(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := access.FromContext(r.Context())
		for _, name := range s.names {
			if !who.Sees(name) {
				http.Error(w, fmt.Sprintf("this tells of all namespaces, and you may see nothing of %q", name), http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// live tells that the process answers, and goes on with what it shows.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	for i, hub := range s.hubs {
		if since := time.Since(hub.Looked()); since > standsStill {
			s.log.ErrorContext(r.Context(), "a namespace stands still", "namespace", s.names[i], "since", since.Truncate(time.Second).String())
			http.Error(w, "stands still", http.StatusServiceUnavailable) // anybody may ask, and is told no names
			return
		}
	}
	_, _ = w.Write([]byte("ok\n"))
}

// ready tells whether what is shown is true: the registries answer.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	for _, hub := range s.hubs {
		if !hub.Picture().Connected {
			http.Error(w, "not connected to the registry", http.StatusServiceUnavailable)
			return
		}
	}
	_, _ = w.Write([]byte("ok\n"))
}

// Handler answers requests, as a part of a server of yours. Put it before nothing that buffers answers, as streams would
// stand still.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends all streams and lets go of the registries. It may be called more than once.
func (s *Server) Close() {
	s.closing.Do(func() {
		s.stop()
		s.closeHubs()
		s.api.Close()
		s.follow.Wait()
	})
}

func (s *Server) closeHubs() {
	for _, hub := range s.hubs {
		hub.Close()
	}
}

// ErrNotFollowed is the error of a server that cannot follow a namespace any more.
var ErrNotFollowed = errors.New("a namespace cannot be followed any more")

func notFollowed(err error) error { return fmt.Errorf("%w: %w", ErrNotFollowed, err) }
