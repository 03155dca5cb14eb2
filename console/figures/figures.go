package figures

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticron/elasticron/console/live"
)

// Guard is what is asked of who comes in; an access.Guard has it.
type Guard interface {
	Logins() (succeeded, failed, delayed int64)
	Sessions() int
}

// Figures counts requests, and asks the parts of a console for the rest when somebody collects. It is a collector, and
// safe for concurrent use.
type Figures struct {
	hubs   map[string]*live.Hub // by namespace
	limits *live.Limits
	guard  Guard

	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
}

var _ prometheus.Collector = (*Figures)(nil)

// New returns the figures of a console, of which hubs are the namespaces.
func New(hubs map[string]*live.Hub, limits *live.Limits, guard Guard) *Figures {
	return &Figures{
		hubs: hubs, limits: limits, guard: guard,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "elasticron_console_requests_total",
			Help: "Requests that were answered, by part (api, events, page, login, probe) and class of status (2xx).",
		}, []string{"part", "status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "elasticron_console_request_duration_seconds",
			Help:    "Time from a request to the end of its answer, waits that it asked for included; streams are not in it.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 25},
		}, []string{"part"}),
	}
}

// ofNamespace is the label that names a namespace of a registry. It is not called namespace: Kubernetes gives that label
// to everything that is scraped there, and Prometheus would rename one of the two.
const ofNamespace = "registry_namespace"

// What is asked for when somebody collects.
var (
	streams = describe("streams", "Streams that are open.")
	refused = describe("streams_refused_total", "Streams that were refused, because a user or the server had too many.", "because")
	logins  = describe("logins_total", "Logins: ok, failed, or delayed because too many had failed.", "outcome")
	session = describe("sessions", "Sessions that were used here and have not ended; servers side by side may count the same.")

	connected = describe("connected", "1 while the registry answers.", ofNamespace)
	age       = describe("age_seconds", "How old what is shown may be: time since the registry was last known to have nothing else.", ofNamespace)
	still     = describe("still_seconds", "Time since the copy of the namespace was last looked after, which is done twice a second.", ofNamespace)
	jobs      = describe("jobs", "Jobs that are shown.", ofNamespace)
	nodes     = describe("nodes", "Nodes of the registry in the copy.", ofNamespace)
	cut       = describe("streams_cut_total", "Streams that were ended because their reader was too slow; browsers come back.", ofNamespace)
	untold    = describe("history_failures_total", "Reads of the history for a timeline that failed.", ofNamespace)
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("elasticron_console_"+name, help, labels, nil)
}

// Describe implements [prometheus.Collector].
func (f *Figures) Describe(to chan<- *prometheus.Desc) {
	f.requests.Describe(to)
	f.took.Describe(to)
	for _, d := range []*prometheus.Desc{streams, refused, session, logins, connected, age, still, jobs, nodes, cut, untold} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (f *Figures) Collect(to chan<- prometheus.Metric) {
	f.requests.Collect(to)
	f.took.Collect(to)
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	send(streams, prometheus.GaugeValue, float64(f.limits.Streams()))
	ofUser, inAll := f.limits.Refused()
	send(refused, prometheus.CounterValue, float64(ofUser), "user")
	send(refused, prometheus.CounterValue, float64(inAll), "server")
	send(session, prometheus.GaugeValue, float64(f.guard.Sessions()))
	succeeded, failed, delayed := f.guard.Logins()
	send(logins, prometheus.CounterValue, float64(succeeded), "ok")
	send(logins, prometheus.CounterValue, float64(failed), "failed")
	send(logins, prometheus.CounterValue, float64(delayed), "delayed")
	for name, hub := range f.hubs {
		p, now := hub.Picture(), time.Now()
		is := 0.0
		if p.Connected {
			is = 1
		}
		send(connected, prometheus.GaugeValue, is, name)
		send(age, prometheus.GaugeValue, max(0, now.Sub(p.AsOf).Seconds()), name)
		send(still, prometheus.GaugeValue, now.Sub(hub.Looked()).Seconds(), name)
		send(jobs, prometheus.GaugeValue, float64(len(p.Rows)), name)
		send(nodes, prometheus.GaugeValue, float64(p.State.Len()), name)
		slow, unread := hub.Faults()
		send(cut, prometheus.CounterValue, float64(slow), name)
		send(untold, prometheus.CounterValue, float64(unread), name)
	}
}

// Handler serves the figures, and those of the process and of Go.
func (f *Figures) Handler() http.Handler {
	all := prometheus.NewRegistry()
	all.MustRegister(f, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(all, promhttp.HandlerOpts{})
}

// The parts of a console.
const (
	partAPI    = "api"
	partEvents = "events"
	partLogin  = "login"
	partProbe  = "probe"
	partPage   = "page"
)

// partOf tells what a path belongs to. Paths are those behind the prefix.
func partOf(path string) string {
	switch {
	case strings.HasPrefix(path, "/api/") && strings.HasSuffix(path, "/events"):
		return partEvents
	case strings.HasPrefix(path, "/api/"):
		return partAPI
	case path == "/login" || path == "/logout" || strings.HasPrefix(path, "/oidc/"):
		return partLogin
	case path == "/live" || path == "/ready" || path == "/metrics":
		return partProbe
	default:
		return partPage
	}
}

// Count counts what goes through to next.
func (f *Figures) Count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part, began := partOf(r.URL.Path), time.Now()
		seen := &counted{ResponseWriter: w, tell: func(status int) {
			f.requests.WithLabelValues(part, strconv.Itoa(status/100)+"xx").Inc()
		}}
		status := http.StatusInternalServerError // if next panics
		defer func() {
			seen.begin(status) // nothing was written
			if part != partEvents {
				f.took.WithLabelValues(part).Observe(time.Since(began).Seconds())
			}
		}()
		next.ServeHTTP(seen, r)
		status = http.StatusOK
	})
}

// counted is an answer of which the status is told once, when it begins.
type counted struct {
	http.ResponseWriter
	tell func(status int)
}

func (c *counted) begin(status int) {
	if c.tell != nil && status >= http.StatusOK { // before that it is only on its way
		c.tell(status)
		c.tell = nil
	}
}

// WriteHeader tells the status.
func (c *counted) WriteHeader(status int) {
	c.begin(status)
	c.ResponseWriter.WriteHeader(status)
}

// Write begins an answer that went well.
func (c *counted) Write(p []byte) (int, error) {
	c.begin(http.StatusOK)
	return c.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] through, by which streams flush.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }
