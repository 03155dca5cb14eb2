package browser

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// The answer to a dry run that was cancelled opens nothing any more.
func TestACancelledDryRun(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	hold := make(chan bool)
	var reads atomic.Int32
	s.hooked(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			held(r, hold)
		} else if strings.HasSuffix(r.URL.Path, "/config") {
			reads.Add(1)
		}
		return false
	})
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle/settings"))
	tab.types(`input[name="cron"]`, "0 0/2 * * * ?")
	s.somebodyElseCommits(`"shardingTotalCount":20`, `"shardingTotalCount":24`)
	tab.click("button", "Show what would change")
	tab.sees("dialog .plan", "Asking for a dry run")
	tab.click("dialog button", "Cancel")
	tab.lacks("dialog")
	close(hold)
	tab.until(`performance.getEntriesByType("resource").some(e => e.name.includes("dry-run") && e.responseEnd > 0)`)
	tab.settled()
	tab.click("button", "Show what would change")
	tab.sees("dialog.merge", "Somebody else committed meanwhile")
	require.Equal(t, 1, value[int](tab, `document.querySelectorAll("dialog[open]").length`))
	require.Equal(t, int32(2), reads.Load())
}

// What is asked for again after an answer that was lost is the same thing. Something else is another one, and its dialog says
// that the first may have been done.
func TestSomethingElseAfterALostAnswer(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	var mu sync.Mutex
	var keys []string
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/trigger") || r.URL.Query().Has("dry-run") {
			return false
		}
		mu.Lock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		mu.Unlock()
		answer(w, 502, object{"title": "bad gateway", "status": 502, "detail": "the proxy lost the answer"})
		return true
	})
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.click("#deeds button", "Trigger")
	const beside = "This is done besides"
	for i, items := range []string{"0", "0", "1", "0"} {
		if i == 1 { // it is not typed anew, as that looks again by itself
			tab.click("dialog button", "Look again")
		} else {
			tab.types("dialog fieldset input", items)
		}
		tab.sees("dialog .plan", "item 2")
		require.Equal(t, i > 1, value[bool](tab, `document.querySelector("dialog .plan").textContent.includes(`+quote(beside)+`)`))
		tab.click("dialog footer button", "Trigger")
		tab.sees("dialog .refusal", "the proxy lost the answer")
	}
	require.Len(t, keys, 4)
	require.Equal(t, keys[0], keys[1], "it may be done twice")
	require.NotEqual(t, keys[1], keys[2])
	require.Equal(t, keys[0], keys[3], "it may be done twice")
}
