package figures_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/figures"
	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// gate is a guard that has seen some come in.
type gate struct{}

func (gate) Logins() (succeeded, failed, delayed int64) { return 7, 3, 2 }
func (gate) Sessions() int                              { return 4 }

// The state of a copy is told: that the registry is away, how old what is shown is, and that nobody looks after it.
func TestTheStateOfNamespaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := memory.NewServer().Open("shop")
		defer func() { require.NoError(t, reg.Close(context.Background())) }()
		_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
			registry.Put("/orders/config", `{"jobName":"orders","cron":"@daily","shardingTotalCount":1}`), registry.Put("/orders/servers/10.0.0.1", ""),
		}})
		require.NoError(t, err)
		hub, err := live.Open(t.Context(), live.Config{Registry: reg, Namespace: "shop"})
		require.NoError(t, err)
		defer hub.Close()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- hub.Run(ctx) }()
		f := figures.New(map[string]*live.Hub{"shop": hub}, live.NewLimits(), gate{})
		tells := func(name, text string) {
			t.Helper()
			require.NoError(t, testutil.CollectAndCompare(f, strings.NewReader(help(t, f, name)+text+"\n"), name))
		}
		at := func(name string) float64 {
			all, err := gathered(f).Gather()
			require.NoError(t, err)
			for _, family := range all {
				if family.GetName() == name {
					return family.GetMetric()[0].GetGauge().GetValue()
				}
			}
			t.Fatal(name)
			return 0
		}
		time.Sleep(time.Minute)
		tells("elasticron_console_connected", `elasticron_console_connected{registry_namespace="shop"} 1`)
		tells("elasticron_console_jobs", `elasticron_console_jobs{registry_namespace="shop"} 1`)
		tells("elasticron_console_nodes", `elasticron_console_nodes{registry_namespace="shop"} 2`)
		tells("elasticron_console_sessions", `elasticron_console_sessions 4`)
		tells("elasticron_console_logins_total", `elasticron_console_logins_total{outcome="delayed"} 2
elasticron_console_logins_total{outcome="failed"} 3
elasticron_console_logins_total{outcome="ok"} 7`)
		require.LessOrEqual(t, at("elasticron_console_age_seconds"), 3.0)
		require.LessOrEqual(t, at("elasticron_console_still_seconds"), 1.0)
		reg.Cut()
		time.Sleep(time.Minute)
		tells("elasticron_console_connected", `elasticron_console_connected{registry_namespace="shop"} 0`)
		require.GreaterOrEqual(t, at("elasticron_console_age_seconds"), 55.0)
		require.LessOrEqual(t, at("elasticron_console_still_seconds"), 1.0)
		reg.Heal()
		stop()
		require.NoError(t, <-ended)
		time.Sleep(time.Minute)
		require.GreaterOrEqual(t, at("elasticron_console_still_seconds"), 60.0)
	})
}

// Requests are counted by what they were for and how they ended, once each; streams as soon as they begin.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	f := figures.New(nil, live.NewLimits(), gate{})
	during := make(chan string, 1)
	handler := f.Count(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/namespaces/shop/events":
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = fmt.Fprint(w, ":\n\n")
			require.NoError(t, http.NewResponseController(w).Flush())
			during <- "begun"
			<-r.Context().Done()
		case "/silent":
		default:
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK) // which has no effect
		}
	}))
	server := httptest.NewServer(handler)
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	ask := func(ctx context.Context, path string) *http.Response {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)
		answer, err := server.Client().Do(r)
		require.NoError(t, err)
		return answer
	}
	stream := ask(ctx, "/api/v1/namespaces/shop/events")
	<-during
	for _, path := range []string{"/api/v1/me", "/silent", "/ns/shop/", "/login", "/oidc/callback", "/live", "/metrics"} {
		require.NoError(t, ask(t.Context(), path).Body.Close())
	}
	server.Config.SetKeepAlivesEnabled(false)
	want := help(t, f, "elasticron_console_requests_total") + `elasticron_console_requests_total{part="api",status="4xx"} 1
elasticron_console_requests_total{part="events",status="2xx"} 1
elasticron_console_requests_total{part="login",status="4xx"} 2
elasticron_console_requests_total{part="page",status="2xx"} 1
elasticron_console_requests_total{part="page",status="4xx"} 1
elasticron_console_requests_total{part="probe",status="4xx"} 2
`
	require.NoError(t, testutil.CollectAndCompare(f, strings.NewReader(want), "elasticron_console_requests_total"))
	stop()
	_ = stream.Body.Close()
	server.Close()
	require.NoError(t, testutil.CollectAndCompare(f, strings.NewReader(want), "elasticron_console_requests_total"))
	require.Equal(t, 4, testutil.CollectAndCount(f, "elasticron_console_request_duration_seconds"), "of all parts but streams")
}

// A request whose handler panics before it answers went wrong.
func TestAPanicIsCounted(t *testing.T) {
	t.Parallel()
	f := figures.New(nil, live.NewLimits(), gate{})
	handler := f.Count(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/me", nil))
	})
	want := help(t, f, "elasticron_console_requests_total") + "elasticron_console_requests_total{part=\"api\",status=\"5xx\"} 1\n"
	require.NoError(t, testutil.CollectAndCompare(f, strings.NewReader(want), "elasticron_console_requests_total"))
}

func gathered(f *figures.Figures) *prometheus.Registry {
	all := prometheus.NewPedanticRegistry()
	all.MustRegister(f)
	return all
}

// help is what stands before the values of a metric.
func help(t *testing.T, f *figures.Figures, name string) string {
	t.Helper()
	all, err := gathered(f).Gather()
	require.NoError(t, err)
	for _, family := range all {
		if family.GetName() == name {
			return fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", name, family.GetHelp(), name, strings.ToLower(family.GetType().String()))
		}
	}
	require.Fail(t, "there is no such metric", name)
	return ""
}

// The table of docs/console.md has each metric, and none besides.
func TestTheTableOfFigures(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/console.md")
	require.NoError(t, err)
	var rows []string
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "| `elasticron_console_") {
			rows = append(rows, strings.TrimSpace(row))
		}
	}
	told := make(chan *prometheus.Desc, 100)
	figures.New(nil, live.NewLimits(), gate{}).Describe(told)
	close(told)
	form := regexp.MustCompile(`fqName: "(\w+)", help: "([^"]*)", .*variableLabels: \{([\w,]*)\}`)
	var want []string
	for d := range told {
		parts := form.FindStringSubmatch(d.String())
		require.NotNil(t, parts, d.String())
		kind, labels := "gauge", ""
		switch {
		case strings.HasSuffix(parts[1], "_total"):
			kind = "counter"
		case strings.Contains(parts[1], "duration"):
			kind = "histogram"
		}
		if parts[3] != "" {
			labels = "`" + strings.ReplaceAll(parts[3], ",", "`, `") + "`"
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", parts[1], kind, labels, parts[2]))
	}
	require.Equal(t, strings.Join(want, "\n"), strings.Join(rows, "\n"))
}
