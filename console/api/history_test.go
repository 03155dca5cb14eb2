package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func TestHistoryOfAStore(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	require.NoError(t, store.Write(t.Context(), []history.Event{
		history.Execution{ID: "a", Round: "r1", Job: "orders", TaskID: "t", Hostname: "h", IP: "10.0.0.1", Source: "scheduled", Item: 0, Start: at, Complete: at.Add(time.Second), Success: true},
		history.Execution{ID: "b", Round: "r1", Job: "orders", TaskID: "orders@-@1@-@READY@-@10.0.0.2@-@7-b", Hostname: "h", IP: "10.0.0.2", Source: "scheduled", Item: 1, Start: at.Add(time.Minute), Complete: at.Add(2 * time.Minute), FailureCause: "exit <3>"},
		history.Execution{ID: "c", Round: "r2", Job: "mail", TaskID: "t", Hostname: "h", IP: "10.0.0.1", Source: "manual", Item: 0, Start: at.Add(time.Hour)},
		history.Status{ID: "s", Round: "r1", Job: "orders", TaskID: "t", SlaveID: "10.0.0.1", Source: history.SourceLite, ExecutionType: history.ExecutionReady, ShardingItems: "[0]", State: history.Finished, Time: at},
	}))
	w := newWorld(t, store)
	ids := func(query string) (ids []string) {
		t.Helper()
		var page wire.ExecutionPage
		got := w.ask(t, vera, "GET", "/executions"+query, nil)
		require.Equal(t, 200, got.status, string(got.body))
		got.into(t, &page)
		require.Equal(t, wire.FromStore, page.Recorded)
		for _, e := range page.Executions {
			ids = append(ids, e.ID)
		}
		return ids
	}
	for query, want := range map[string][]string{
		"": {"c", "b", "a"}, "?job=orders": {"b", "a"}, "?round=r1&ascending": {"a", "b"}, "?item=1": {"b"}, "?ip=10.0.0.1": {"c", "a"}, "?success=true": {"a"},
		"?instance=10.0.0.2@-@7-b": {"b"}, "?instance=10.0.0.1@-@7": nil, "?outcome=running": {"c"}, "?outcome=failure": {"b"}, "?outcome=success": {"a"}, "?outcome=success&success=false": {"a"},
		"?success=false&job=orders": {"b"}, "?from=2026-03-02T12:00:30Z&until=2026-03-02T12:30:00Z": {"b"}, "?per-page=1&page=2": {"b"}, "?sort=shardingItem&ascending=true&job=orders": {"a", "b"},
	} {
		require.Equal(t, want, ids(query), query)
	}
	var rounds wire.RoundPage
	w.ask(t, vera, "GET", "/rounds?state=TASK_FINISHED", nil).into(t, &rounds)
	require.Equal(t, 1, rounds.Total)
	require.Equal(t, "[0]", rounds.Rounds[0].Items)
	w.ask(t, mailer, "GET", "/executions?job=mail", nil)
	w.ask(t, mailer, "GET", "/executions", nil).problem(t, 403)
	w.ask(t, mailer, "GET", "/rounds?job=orders", nil).problem(t, 403)
	for _, query := range []string{"?item=x", "?item=-1", "?success=maybe", "?from=now", "?until=x", "?page=0", "?per-page=1001", "?sort=size", "?ascending=up", "?outcome=lost"} {
		w.ask(t, vera, "GET", "/executions"+query, nil).problem(t, 400)
	}
	for _, query := range []string{"?state=DANCING", "?sort=startTime"} {
		w.ask(t, vera, "GET", "/rounds"+query, nil).problem(t, 400)
	}
}

// The history keeps a part of a long name. Who may read one job with such a name is not shown what others ran that begin so;
// who may read all of the namespace is.
func TestTheHistoryOfALongName(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	short := strings.Repeat("a", history.MaxJobName-1)
	alike, secret := short+"a", short+"a-of-others"
	var events []history.Event
	for _, name := range []string{short, secret} {
		events = append(events,
			history.Execution{ID: "e" + name[98:], Round: "r", Job: name, TaskID: "t", Hostname: "h", IP: "10.0.0.1", Source: "scheduled", Start: at, Complete: at, FailureCause: "exit 3"},
			history.Status{ID: "s" + name[98:], Round: "r", Job: name, TaskID: "t", State: history.Finished, Time: at})
	}
	require.NoError(t, store.Write(t.Context(), events))
	w := newWorld(t, store)
	for _, name := range []string{short, alike, short + "a-of-mine"} {
		reader := access.Identity{Name: "reader", How: access.ByToken, Grants: []access.Grant{{Role: access.Viewer, Namespace: "shop", Jobs: name}}}
		for _, list := range []string{"/executions?job=", "/rounds?job="} {
			var page struct{ Total int }
			if name != short {
				p := w.ask(t, reader, "GET", list+name, nil).problem(t, 403)
				require.Contains(t, p.Detail, "the first 100 characters")
			} else {
				w.ask(t, reader, "GET", list+name, nil).into(t, &page)
				require.Equal(t, 1, page.Total)
			}
			w.ask(t, vera, "GET", list+name, nil).into(t, &page)
			require.Equal(t, 1, page.Total, name)
		}
	}
}

// A list of executions tells of which the output is kept.
func TestExecutionsWithOutputs(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for i, id := range []string{"a", "b", "c"} {
		begun := history.Execution{ID: id, Job: "orders", TaskID: "orders@-@0@-@READY@-@10.0.0.1@-@7", Item: i, Source: "scheduled", Start: at.Add(time.Duration(i) * time.Second)}
		require.NoError(t, store.Write(t.Context(), []history.Event{begun}))
	}
	require.NoError(t, store.KeepOutput(t.Context(), history.Output{ID: "b", Job: "orders", Item: 1, Start: at, Bytes: 900, Text: "b"}, 9))
	w := newWorld(t, store)
	var page wire.ExecutionPage
	w.ask(t, mailer, "GET", "/executions?job=orders", nil).problem(t, 403)
	w.ask(t, vera, "GET", "/executions?job=orders&ascending=true", nil).into(t, &page)
	written := make(map[string]int64)
	for _, e := range page.Executions {
		written[e.ID] = e.Output
	}
	require.Equal(t, map[string]int64{"a": 0, "b": 900, "c": 0}, written)
}

// What executions wrote is for who may read their job.
func TestOutputs(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, o := range []history.Output{
		{ID: "a", Job: "orders", Item: 0, Token: 40, Start: at, Bytes: 5, Text: "<a>\x01\n"},
		{ID: "b", Job: "orders", Item: 1, Token: 41, Start: at.Add(time.Second), Bytes: 900, Text: "b"},
		{ID: "c", Job: "mail", Item: 0, Start: at.Add(time.Hour), Bytes: 1, Text: "c"},
	} {
		require.NoError(t, store.KeepOutput(t.Context(), o, 9))
	}
	w := newWorld(t, store)
	for query, want := range map[string][]string{"": {"b"}, "?limit=9": {"b", "a"}, "?item=0": {"a"}, "?token=40": {"a"}, "?item=1&token=40": nil} {
		var list wire.OutputList
		got := w.ask(t, vera, "GET", "/jobs/orders/outputs"+query, nil)
		require.Equal(t, 200, got.status, string(got.body))
		got.into(t, &list)
		var ids []string
		for _, o := range list.Outputs {
			require.Empty(t, o.Text)
			ids = append(ids, o.ID)
		}
		require.Equal(t, want, ids, query)
	}
	var one wire.Output
	w.ask(t, vera, "GET", "/jobs/orders/outputs/a", nil).into(t, &one)
	require.Equal(t, wire.Output{ID: "a", Job: "orders", Token: 40, Start: at, Bytes: 5, Text: "<a>\x01\n"}, one)
	w.ask(t, vera, "GET", "/jobs/orders/outputs/none", nil).problem(t, 404)
	w.ask(t, mailer, "GET", "/jobs/mail/outputs/c", nil).into(t, &one)
	require.Equal(t, "c", one.Text)
	w.ask(t, mailer, "GET", "/jobs/orders/outputs/a", nil).problem(t, 403)
	w.ask(t, mailer, "GET", "/jobs/mail/outputs/a", nil).problem(t, 404)
	for _, query := range []string{"?item=-1", "?item=x", "?token=0", "?token=x", "?limit=0", "?limit=101"} {
		w.ask(t, vera, "GET", "/jobs/orders/outputs"+query, nil).problem(t, 400)
	}
	require.NoError(t, store.Close())
	w.ask(t, vera, "GET", "/jobs/orders/outputs", nil).problem(t, 500)
	w.ask(t, vera, "GET", "/jobs/orders/outputs/a", nil).problem(t, 500)

	w = newWorld(t, away{})
	p := w.ask(t, vera, "GET", "/jobs/orders/outputs", nil).problem(t, 404)
	require.Contains(t, p.Detail, "has no history with outputs")
	w.ask(t, vera, "GET", "/jobs/orders/outputs/a", nil).problem(t, 404)
}

// Without a store there is what the registry keeps.
func TestHistoryOfTheRegistry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var page wire.ExecutionPage
	w.ask(t, vera, "GET", "/executions", nil).into(t, &page)
	require.Equal(t, wire.FromRegistry, page.Recorded)
	require.Equal(t, 2, page.Total)
	w.ask(t, vera, "GET", "/executions?success=false&job=mail", nil).into(t, &page)
	require.Len(t, page.Executions, 1)
	require.Equal(t, "exit 3", page.Executions[0].Error)
	require.Equal(t, first, page.Executions[0].Instance)
	require.True(t, page.Connected)
	require.False(t, page.AsOf.IsZero())
	for query, want := range map[string]int{"?instance=" + first: 2, "?instance=" + second: 0, "?outcome=failure": 1, "?outcome=success": 1, "?outcome=running": 0} {
		w.ask(t, vera, "GET", "/executions"+query, nil).into(t, &page)
		require.Equal(t, want, page.Total, query)
	}
	w.ask(t, vera, "GET", "/executions?page=2", nil).into(t, &page)
	require.Empty(t, page.Executions)
	w.ask(t, vera, "GET", "/executions?sort=jobName", nil).problem(t, 400)
	var rounds wire.RoundPage
	w.ask(t, vera, "GET", "/rounds", nil).into(t, &rounds)
	require.Empty(t, rounds.Rounds)
}

// A store that is away is a problem of this request, of which the log tells more than the answer.
func TestAHistoryThatIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, away{})
	p := w.ask(t, vera, "GET", "/executions", nil).problem(t, 500)
	require.NotContains(t, p.Detail, "geheim")
	w.ask(t, access.Identity{Name: "x", How: access.ByToken, Grants: vera.Grants}, "GET", "/rounds", nil).problem(t, 503)
}

// What the client broke off is no failure of the server; what the server stops by itself is.
func TestARequestThatIsBrokenOff(t *testing.T) {
	t.Parallel()
	ctx, breakOff := context.WithCancel(access.NewContext(t.Context(), vera))
	w := newWorld(t, onceAsked(breakOff))
	recorder := httptest.NewRecorder()
	w.api.ServeHTTP(recorder, httptest.NewRequestWithContext(ctx, http.MethodGet, "/namespaces/shop/executions", nil))
	p := answer{recorder.Code, recorder.Header(), recorder.Body.Bytes()}.problem(t, 499)
	require.Equal(t, wire.CauseBrokenOff, p.Cause)
	require.NotEmpty(t, p.Title)
	require.Empty(t, recorder.Header().Get("Retry-After"))

	w = newWorld(t, onceAsked(func() {}))
	require.Equal(t, wire.CauseUnavailable, w.ask(t, vera, "GET", "/executions", nil).problem(t, 503).Cause)
}

// onceAsked is called when a store is asked, which then says that it was cancelled.
type onceAsked func()

func (f onceAsked) Executions(context.Context, history.ExecutionQuery) (history.Page[history.Execution], error) {
	f()
	return history.Page[history.Execution]{}, fmt.Errorf("read: %w", context.Canceled)
}

func (f onceAsked) Statuses(context.Context, history.StatusQuery) (history.Page[history.Status], error) {
	return history.Page[history.Status]{}, nil
}

type away struct{}

func (away) Executions(context.Context, history.ExecutionQuery) (history.Page[history.Execution], error) {
	return history.Page[history.Execution]{}, errors.New("no database at mysql://u:geheim@db")
}

func (away) Statuses(context.Context, history.StatusQuery) (history.Page[history.Status], error) {
	return history.Page[history.Status]{}, context.DeadlineExceeded
}

// A history has the starts of what a process ran that was killed, and no ends. The registry shows which executions run.
func TestWhatRunsOfAHistory(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	server := memory.NewServer()
	reg := server.Open("shop", memory.WithTTL(time.Hour))
	text, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 6})
	require.NoError(t, err)
	tree := jobtree.For("orders")
	at := time.Now().UTC().Truncate(time.Minute).Add(-time.Minute) // so long ago that the registry has had time to show it
	over := func(token int64, when time.Time) string {
		began, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: first, Session: 7, Source: job.Scheduled, Fire: when, Round: "r", Time: when})
		require.NoError(t, err)
		ended, err := began.End(jobtree.End{Token: token, Time: when, Outcome: jobtree.Success})
		require.NoError(t, err)
		return jobtree.EncodeRecord(ended)
	}
	running, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: first, Session: 7, Source: job.Scheduled, Fire: at, Round: "r", Time: at})
	require.NoError(t, err)
	lost, err := running.DeclareLost(5, at.Add(time.Second), 0)
	require.NoError(t, err)
	once, err := running.End(jobtree.End{Token: 11, Time: time.Now(), Outcome: jobtree.Success})
	require.NoError(t, err)
	more, err := once.Begin(jobtree.Begin{Instance: first, Session: 7, Source: job.Scheduled, Fire: at.Add(time.Minute), Round: "s", Time: time.Now()})
	require.NoError(t, err)
	token, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put(tree.Config(), text), registry.Put(tree.ItemRecord(0), jobtree.EncodeRecord(running)), registry.Put(tree.ItemRecord(1), jobtree.EncodeRecord(running)),
		registry.Put(tree.ItemRecord(2), jobtree.EncodeRecord(lost)),
		registry.Put(tree.ItemRecord(3), over(8, time.Now())), registry.Put(tree.ItemRecord(4), over(9, at.Add(-time.Hour))),
		registry.Put(tree.ItemRecord(5), jobtree.EncodeRecord(more)),
	}})
	require.NoError(t, err)
	row := func(id, name string, item int, token int64, start time.Time) history.Execution {
		return history.Execution{ID: id, Job: name, TaskID: "t", Source: job.Scheduled, Item: item, Token: token, Start: start}
	}
	ended := row("ended", "orders", 0, 3, at.Add(-time.Minute))
	ended.Complete, ended.Success = at, true
	require.NoError(t, store.Write(t.Context(), []history.Event{
		ended,
		row("runs, by its token", "orders", 0, int64(token), at.Add(3*time.Millisecond)),
		row("runs, by its begin", "orders", 1, 0, at),
		row("killed, and begun again since", "orders", 1, 5, at.Add(-time.Hour)),
		row("killed, and known to be lost", "orders", 2, 5, at),
		row("runs, or has just ended", "orders", 3, 8, at),
		row("runs, or has just ended while the next one runs", "orders", 5, 11, at),
		row("ended long ago, and the history did not hear", "orders", 4, 9, at.Add(-time.Hour)),
		row("of a name that is cut off", strings.Repeat("a", history.MaxJobName), 0, 6, at),
		row("of a job that is gone", "former", 0, 6, at),
	}))
	w := serve(t, reg, store)
	look := func(rows int) {
		t.Helper()
		var page wire.ExecutionPage
		w.ask(t, vera, "GET", "/executions", nil).into(t, &page)
		require.Len(t, page.Executions, rows)
		for _, e := range page.Executions {
			require.Equal(t, strings.HasPrefix(e.ID, "runs"), e.Running, e.ID)
			require.Equal(t, !e.Running && e.ID != "ended", e.EndUnknown, e.ID)
		}
	}
	look(10)

	// While the registry does not answer, the history is believed of what the registry had no time to show.
	server.Stop()
	t.Cleanup(server.Start) // so that the server can end
	require.Eventually(t, func() bool { return !w.api.namespaces["shop"].Hub.Picture().Connected }, time.Minute, 10*time.Millisecond)
	require.NoError(t, store.Write(t.Context(), []history.Event{row("runs, as the history says", "orders", 2, 77, time.Now().Add(time.Second))}))
	look(11)
}
