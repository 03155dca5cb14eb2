package health_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/health"
	"github.com/elasticron/elasticron/scheduler"
)

type source scheduler.Health

func (s source) Health(context.Context) scheduler.Health { return scheduler.Health(s) }

func good() scheduler.Health {
	return scheduler.Health{
		Instance: "10.0.0.1@-@a", Running: true, Session: scheduler.SessionHealth{State: "connected"},
		Jobs: []scheduler.JobHealth{{Job: "orders", Answered: true, Joined: true, Leader: "10.0.0.1@-@a", Items: 2}},
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change      func(*scheduler.Health)
		live, ready int
		reason      string
	}{
		"good":             {func(*scheduler.Health) {}, 200, 200, ""},
		"stopped":          {func(h *scheduler.Health) { h.Running = false }, 503, 503, "the scheduler does not run"},
		"session in doubt": {func(h *scheduler.Health) { h.Session.State = "suspended" }, 200, 503, "the session with the registry is suspended"},
		"stuck":            {func(h *scheduler.Health) { h.Jobs[0] = scheduler.JobHealth{Job: "orders"} }, 503, 503, `job "orders": its runner does not answer`},
		"registry away": {func(h *scheduler.Health) {
			h.Session.State, h.Jobs[0] = "none", scheduler.JobHealth{Job: "orders"}
		}, 200, 503, "the session with the registry is none"},
		"not joined": {func(h *scheduler.Health) { h.Jobs[0].Joined = false }, 200, 503, `job "orders": not joined`},
		"no leader":  {func(h *scheduler.Health) { h.Jobs[0].Leader = "" }, 200, 503, `job "orders": no leader`},
		"unowned":    {func(h *scheduler.Health) { h.Jobs[0].Unowned = []int{1} }, 200, 503, `job "orders": items [1] have no owner`},
		"overdue":    {func(h *scheduler.Health) { h.Jobs[0].Overdue = make([]scheduler.OverdueItem, 2) }, 200, 503, `job "orders": 2 items should have run and did not`},
		"paused":     {func(h *scheduler.Health) { h.Jobs[0].Config = "gone" }, 200, 503, `job "orders": gone`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := good()
			test.change(&h)
			handler := health.Handler(source(h))
			get := func(path string) (int, string) {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
				require.Equal(t, "application/json", w.Header().Get("Content-Type"))
				return w.Code, w.Body.String()
			}
			code, _ := get("/live")
			require.Equal(t, test.live, code)
			code, body := get("/ready")
			require.Equal(t, test.ready, code)
			var v health.Verdict
			require.NoError(t, json.Unmarshal([]byte(body), &v))
			if test.reason != "" {
				require.Contains(t, v.Reasons, test.reason)
			}
			code, body = get("/")
			require.Equal(t, 200, code)
			var all scheduler.Health
			require.NoError(t, json.Unmarshal([]byte(body), &all))
			require.Equal(t, h, all)
		})
	}
}
