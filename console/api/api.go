package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/operate"
)

// Namespace is one namespace that the API shows and operates.
type Namespace struct {
	Name string
	// Store is where operations are committed.
	Store operate.Store
	// Hub follows the namespace: its pictures are what is shown, and its stream is what is sent.
	Hub *live.Hub
	// History is where executions are kept; nil if there is no such store.
	History history.Reader
}

// Config is what the API needs.
type Config struct {
	Namespaces []Namespace
	// Logger hears of operations, and of faults of the server. nil: nobody does.
	Logger *slog.Logger
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// ErrInvalidOption is the error of a setting that is not allowed.
var ErrInvalidOption = option.ErrInvalid

// API is the handler of all that lies below /api/v1. It may be used by many at once. Close it in the end.
type API struct {
	namespaces map[string]*namespace
	names      []string
	log        *slog.Logger
	now        func() time.Time
	mux        *http.ServeMux
	trees      chan struct{} // how many trees may be copied at once
	bodies     *places       // of long requests
	large      chan struct{} // how many of them may be done at once
	files      *places       // of files with many values, while they are read
	removals   removals
}

// mostTrees is how many answers of /nodes are made at once: each is as large as what it shows.
const mostTrees = 4

// New makes the handler. The paths of requests begin behind /api/v1. Errors: [ErrInvalidOption].
func New(c Config) (*API, error) {
	a := &API{
		namespaces: make(map[string]*namespace), log: c.Logger, now: c.Now,
		trees: make(chan struct{}, mostTrees), bodies: newPlaces(mostOfOne, mostBodies), large: make(chan struct{}, mostLarge),
		files:    newPlaces(1, 1),
		removals: removals{patience: removalTime, under: make(map[string]context.CancelFunc)},
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.now == nil {
		a.now = time.Now
	}
	var faults []error
	if len(c.Namespaces) == 0 {
		faults = append(faults, fmt.Errorf("%w: there are no namespaces, want one or more", ErrInvalidOption))
	}
	for _, n := range c.Namespaces {
		switch {
		case n.Name == "" || n.Store == nil || n.Hub == nil:
			faults = append(faults, fmt.Errorf("%w: namespace %q needs a name, a store and a hub", ErrInvalidOption, n.Name))
		case a.namespaces[n.Name] != nil:
			faults = append(faults, fmt.Errorf("%w: namespace %q is given twice", ErrInvalidOption, n.Name))
		default:
			a.namespaces[n.Name] = &namespace{Namespace: n, java: operate.MayHoldJava(n.Store), events: n.Hub.Events()}
			a.names = append(a.names, n.Name)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	a.mux = a.routed()
	return a, nil
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store") // answers are of one person and of one moment
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if _, pattern := a.mux.Handler(r); pattern == "" {
		a.unrouted(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// unrouted answers what no route is for.
func (a *API) unrouted(w http.ResponseWriter, r *http.Request) {
	if allowed := allowedAt(a.mux, r); len(allowed) > 0 {
		for _, method := range allowed {
			w.Header().Add("Allow", method)
		}
		writeProblem(w, problemOf(fault(http.StatusMethodNotAllowed, "method", "%s is not possible here", r.Method), ""))
		return
	}
	writeProblem(w, problemOf(notFound("there is no resource %q", r.URL.Path), ""))
}
