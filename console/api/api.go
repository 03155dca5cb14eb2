package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// Namespace is one namespace that the API shows and operates.
type Namespace struct {
	Name string
	// Store is where operations are committed.
	Store operate.Store
	// Copy returns what is shown. It is called once or twice for each request, at the same time by many, and must not block.
	Copy func() Picture
	// History is where executions are kept; nil if there is no such store.
	History history.Reader
	// Events answers with the stream; nil if there is none.
	Events http.Handler
}

// Picture is what a copy of a namespace shows at one moment. Nobody changes it.
type Picture struct {
	State registry.Snapshot
	Jobs  []Row // in the order of their names
	// AsOf is a time at which it was so, and Connected whether the registry has answered since.
	AsOf      time.Time
	Connected bool
	// Newer is closed when there is a newer picture. nil: nobody tells.
	Newer <-chan struct{}
}

// Row is a job of a list, and its JSON.
type Row struct {
	operate.JobRow
	JSON json.RawMessage
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

// API is the handler of all that lies below /api/v1. It may be used by many at once.
type API struct {
	namespaces map[string]*namespace
	names      []string
	log        *slog.Logger
	now        func() time.Time
	mux        *http.ServeMux
}

// New makes the handler. The paths of requests begin behind /api/v1. Errors: [ErrInvalidOption].
func New(c Config) (*API, error) {
	a := &API{namespaces: make(map[string]*namespace), log: c.Logger, now: c.Now}
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
		case n.Name == "" || n.Store == nil || n.Copy == nil:
			faults = append(faults, fmt.Errorf("%w: namespace %q needs a name, a store and a copy", ErrInvalidOption, n.Name))
		case a.namespaces[n.Name] != nil:
			faults = append(faults, fmt.Errorf("%w: namespace %q is given twice", ErrInvalidOption, n.Name))
		default:
			a.namespaces[n.Name] = &namespace{Namespace: n, java: operate.MayHoldJava(n.Store)}
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
