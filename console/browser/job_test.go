package browser

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// The page of a job that is idle says what a cron means that somebody has changed.
func TestTheCronOfAnIdleJobChanges(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	reg, err := etcd.Open(t.Context(), etcd.Config{Endpoints: s.server.Endpoints(), Namespace: "shop", DialTimeout: patience})
	require.NoError(t, err)
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	put := func(cron string) {
		text, err := jobtree.EncodeConfig(job.Config{Name: "monthly", Cron: cron, ShardingTotalCount: 1})
		require.NoError(t, err)
		_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(jobtree.For("monthly").Config(), text)}})
		require.NoError(t, err)
	}
	put("0 0/5 * * * ?")
	anna := look(t)
	s.logIn(anna, "anna", "jobs/monthly")
	anna.live()
	anna.sees("#state", "Every 5 minutes")
	put("0 0 3 1 * ?")
	anna.sees("#state", "At 03:00, on day 1 of the month")
}

// What the stream does not tell of a job is read again while the job is busy all the time, and not each time.
func TestABusyJobIsReadAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			return false
		}
		_, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			text, _ := json.Marshal(s.jobFrame("orders-settle", time.Now()))
			_, _ = io.WriteString(w, "event: job/orders-settle\ndata: "+string(text)+"\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond)
		}
		return true
	})
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.live()
	// By the clock of the page: to a server that has stood still, two questions come at once.
	const reads = `performance.getEntriesByType("resource").filter(e => e.name.endsWith("/jobs/orders-settle")).map(e => e.startTime)`
	from := len(value[[]float64](tab, reads))
	all := await(tab, reads, func(all []float64) bool { return len(all) >= from+4 })
	require.Greater(t, all[from+3]-all[from], 2000.0, "in ms")
}
