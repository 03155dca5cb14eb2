package browser

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// delayed answers the second question of those that are meant as it was when it was asked, once it is let go.
func (s *scene) delayed(meant func(*http.Request) bool, answers http.HandlerFunc) (asked *atomic.Int32, letGo func()) {
	asked = new(atomic.Int32)
	hold := make(chan bool)
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		if !meant(r) || asked.Add(1) != 2 {
			return false
		}
		recorder := httptest.NewRecorder()
		answers(recorder, r)
		held(r, hold)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(recorder.Body.Bytes())
		return true
	})
	return asked, sync.OnceFunc(func() { close(hold) })
}

// answered waits until the page has the answers to all that was asked.
func (t *tab) answered(path string, asked *atomic.Int32) {
	t.tb.Helper()
	await(t, `performance.getEntriesByType("resource").filter(e => new URL(e.name).pathname.endsWith(`+quote(path)+`) && e.responseEnd > 0).length`, func(n int32) bool { return n >= asked.Load() })
	t.settled()
}

// An older answer of what the page of a job reads does not take the place of a newer one.
func TestAnOlderDetail(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	asked, letGo := s.delayed(func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/jobs/orders-settle")
	}, func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.SetPathValue("job", "orders-settle")
		recorder := httptest.NewRecorder()
		s.detail(recorder, r)
		_, _ = w.Write([]byte(strings.Replace(recorder.Body.String(), `"disabled":true,"instances":["10.0.0.3`, `"disabled":false,"instances":["10.0.0.3`, 1)))
	})
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.live()
	require.Eventually(t, func() bool { return asked.Load() == 2 }, patience, interval)
	tab.click("#deeds button", "Disable")
	tab.sees("dialog .plan", "item 2")
	tab.click("dialog footer button", "Disable")
	tab.lacks("dialog")
	require.Eventually(t, func() bool { return asked.Load() > 2 }, patience, interval)
	tab.sees("#instances tr:last-child", "Enable server")
	letGo()
	tab.answered("/jobs/orders-settle", asked)
	require.Contains(t, value[string](tab, `document.querySelector("#instances tr:last-child").textContent`), "Enable server")
}

// An older answer of the list of jobs does not take the place of a newer one.
func TestAnOlderList(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	asked, letGo := s.delayed(func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/jobs")
	}, s.list)
	tab := look(t)
	tab.open(s.shop("jobs"))
	tab.sees("#rows", "orders-settle")
	for _, button := range []string{"Reshard", "Disable"} { // each is followed by a question
		tab.click(`input[aria-label="Select orders-settle"]`, "")
		tab.click("#bulk button", button)
		tab.sees("dialog .plan", "1 job")
		tab.click("dialog footer button", button)
		tab.lacks("dialog")
	}
	const row = `[data-job="orders-settle"] .status`
	tab.sees(row, "Disabled")
	require.Eventually(t, func() bool { return asked.Load() > 2 }, patience, interval)
	letGo()
	tab.answered("/jobs", asked)
	require.Contains(t, value[string](tab, `document.querySelector('`+row+`').textContent`), "Disabled")
}
