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
		Instance: "10.0.0.1@-@a", Running: true, State: scheduler.StateRunning, Session: scheduler.SessionHealth{State: "connected"},
		Jobs: []scheduler.JobHealth{{Job: "orders", Answered: true, Joined: true, Leader: "10.0.0.1@-@a", Items: 2}},
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	job := func(h *scheduler.Health) *scheduler.JobHealth { return &h.Jobs[0] }
	for name, test := range map[string]struct {
		change               func(*scheduler.Health)
		live, ready, cluster int
		reason               string // in one of the answers
	}{
		"good": {func(*scheduler.Health) {}, 200, 200, 200, ""},
		"before Run": {func(h *scheduler.Health) {
			h.State, h.Session.State, h.Jobs[0] = "new", "none", scheduler.JobHealth{Job: "orders"}
		}, 200, 200, 200, ""},
		"stopping":      {func(h *scheduler.Health) { h.State = "stopping" }, 200, 503, 200, "the scheduler is stopping"},
		"stopped":       {func(h *scheduler.Health) { h.State = "stopped" }, 503, 503, 200, "the scheduler has stopped"},
		"slow registry": {func(h *scheduler.Health) { h.Session.State = "suspended" }, 200, 200, 200, ""},
		"slow commit":   {func(h *scheduler.Health) { h.Jobs[0] = scheduler.JobHealth{Job: "orders"} }, 200, 200, 503, `job "orders": its runner does not answer`},
		"registry away": {func(h *scheduler.Health) { h.Session.State = "none" }, 200, 503, 200, "the session with the registry is none"},
		"not joined":    {func(h *scheduler.Health) { job(h).Joined = false }, 200, 200, 503, `job "orders": not joined`},
		"no leader":     {func(h *scheduler.Health) { job(h).Leader = "" }, 200, 200, 503, `job "orders": no leader`},
		"one bad pod":   {func(h *scheduler.Health) { job(h).Unowned = []int{1} }, 200, 200, 503, `job "orders": items [1] have no owner`},
		"overdue":       {func(h *scheduler.Health) { job(h).Overdue = make([]scheduler.OverdueItem, 2) }, 200, 200, 503, `job "orders": 2 items should have run and did not`},
		"unrecorded":    {func(h *scheduler.Health) { job(h).Unrecorded = make([]scheduler.UnrecordedEnd, 2) }, 200, 200, 503, `job "orders": 2 items have ended here, and the registry has not taken that for more than ten seconds`},
		"paused config": {func(h *scheduler.Health) { job(h).Config, job(h).Joined = "gone", false }, 200, 200, 503, `job "orders": gone`},
		"left to others": {func(h *scheduler.Health) {
			job(h).Config, job(h).Joined, job(h).LeftToOthers = "a secret is missing", false, true
		}, 200, 200, 503, `job "orders" is left to other instances: a secret is missing`},
		"disabled job":    {func(h *scheduler.Health) { job(h).Disabled, job(h).Leader, job(h).Unowned = true, "", []int{0, 1} }, 200, 200, 200, ""},
		"denied":          {func(h *scheduler.Health) { job(h).Blind = "denied" }, 200, 200, 503, `job "orders": cannot be followed: denied`},
		"no list of jobs": {func(h *scheduler.Health) { h.Blind = "denied" }, 200, 200, 503, "the list of jobs cannot be followed: denied"},
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
			var reasons []string
			for path, want := range map[string]int{"/live": test.live, "/ready": test.ready, "/cluster": test.cluster} {
				code, body := get(path)
				require.Equal(t, want, code, path)
				var v health.Verdict
				require.NoError(t, json.Unmarshal([]byte(body), &v))
				require.Equal(t, want == 200, len(v.Reasons) == 0)
				reasons = append(reasons, v.Reasons...)
			}
			if test.reason != "" {
				require.Contains(t, reasons, test.reason)
			}
			code, body := get("/")
			require.Equal(t, 200, code)
			var all scheduler.Health
			require.NoError(t, json.Unmarshal([]byte(body), &all))
			require.Equal(t, h, all)
		})
	}
}
