package webhook_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var item = job.ShardingContext{
	JobName: "orders", TaskID: "task", Item: 3, TotalCount: 8, ItemParameter: "Oslo",
	Fire: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Source: job.Scheduled, Token: 17,
}

// handler makes the handler of the address, through the registry as a scheduler does.
func handler(t *testing.T, settings map[string]string) (job.ErrorHandler, error) {
	t.Helper()
	handlers := errorhandler.Default()
	require.NoError(t, handlers.Register(webhook.Name, webhook.New))
	return handlers.New(job.Config{ErrorHandler: webhook.Name, Props: settings}, slog.New(slog.DiscardHandler))
}

func TestAFailureIsPosted(t *testing.T) {
	t.Parallel()
	type call struct {
		header http.Header
		body   webhook.Failure
	}
	calls := make(chan call, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var c call
		c.header = r.Header
		_ = json.NewDecoder(r.Body).Decode(&c.body)
		calls <- c
	}))
	t.Cleanup(server.Close)
	h, err := handler(t, map[string]string{"webhook.url": server.URL, "webhook.header.Authorization": "Bearer x"})
	require.NoError(t, err)
	require.NoError(t, h.HandleError(t.Context(), "orders", item, errors.New("boom")))
	got := <-calls
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, "Bearer x", got.header.Get("Authorization"))
	require.Equal(t, webhook.Failure{
		Job: "orders", TaskID: "task", Item: 3, TotalCount: 8, ItemParameter: "Oslo", Fire: &item.Fire,
		Source: "scheduled", Token: 17, Error: "boom",
	}, got.body)

	require.NoError(t, h.HandleError(t.Context(), "orders", job.ShardingContext{}, &job.PanicError{Value: "boom", Stack: debug.Stack()}))
	got = <-calls
	require.Equal(t, "panic: boom", got.body.Error)
	require.Contains(t, got.body.Stack, "webhook_test.go")
	require.Nil(t, got.body.Fire)
}

// A service that refuses a body of a megabyte hears of all failures.
func TestTextsOfACallAreBounded(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	t.Cleanup(server.Close)
	h, err := handler(t, map[string]string{"webhook.url": server.URL})
	require.NoError(t, err)
	items := make([]int, 100_000)
	for i := range items {
		items[i] = i
	}
	sc, long := item, strings.Repeat("x", 10<<20)
	sc.TaskID = job.TaskID{Job: "orders", Items: items, Instance: "10.0.0.1@-@5"}.String()
	sc.ItemParameter = long
	require.NoError(t, h.HandleError(t.Context(), "orders", sc, &job.PanicError{Value: "no space: " + long, Stack: []byte("main.go" + long)}))
	body := <-bodies
	require.Less(t, len(body), 200<<10)
	for _, want := range []string{`"error":"panic: no space: xxx`, `"stack":"main.goxxx`, `,...@-@READY@-@10.0.0.1@-@5"`} {
		require.Contains(t, body, want)
	}
}

// Another place to which a redirect leads does not get the secrets of the first one.
func TestARedirectToAnotherPlace(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	t.Cleanup(there.Close)
	server := httptest.NewServer(http.RedirectHandler(there.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	h, err := handler(t, map[string]string{"webhook.url": server.URL, "webhook.header.X-Key": "swordfish"})
	require.NoError(t, err)
	require.NoError(t, h.HandleError(t.Context(), "orders", item, errors.New("boom")))
	sent := <-got
	require.Empty(t, sent.Values("X-Key"))
	require.Equal(t, "application/json", sent.Get("Content-Type"))
}

func TestAWebhookThatRefuses(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "go away", http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	h, err := handler(t, map[string]string{"webhook.url": server.URL})
	require.NoError(t, err)
	require.EqualError(t, h.HandleError(t.Context(), "orders", item, errors.New("boom")), "webhook: status 403: go away")
}

func TestAWebhookThatHangs(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices that its client has gone once it has read all
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	h, err := handler(t, map[string]string{"webhook.url": server.URL, "webhook.readTimeoutMilliseconds": "50", "webhook.connectTimeoutMilliseconds": "0"})
	require.NoError(t, err)
	require.ErrorContains(t, h.HandleError(t.Context(), "orders", item, errors.New("boom")), "no answer within the read timeout")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	_, err := handler(t, map[string]string{"webhook.uri": "x"})
	require.ErrorContains(t, err, `Props webhook.url "" must not be empty`)
	require.ErrorContains(t, err, `Props webhook.uri "x" must not be there`)
}

// What no call could send is found when the job is declared, and not in an incident.
func TestHeaders(t *testing.T) {
	t.Setenv("WEBHOOK_LINES", "two\nlines")
	_, err := handler(t, map[string]string{
		"webhook.url": "http://localhost/", "webhook.header.X Y": "a", "webhook.header.X-Key": "env:WEBHOOK_LINES",
		"webhook.header.Host": "a b", "webhook.header.": "z", "webhook.header.Content-Length": "3", "webhook.header.Z": "1", "webhook.header.z": "2",
	})
	for _, want := range []string{
		`Props webhook.header.X Y "a" must name a header`, `Props webhook.header.X-Key "env:WEBHOOK_LINES" must be one line`,
		`Props webhook.header.Host "a b" must be the name of a host`, `Props webhook.header. "z" must not be there`,
		`Props webhook.header.Content-Length "3" must not be there: HTTP sets this header by itself`,
		`Props webhook.header.z "2" must not be there beside webhook.header.Z: `,
	} {
		require.ErrorContains(t, err, want)
	}

	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Host }))
	t.Cleanup(server.Close)
	h, err := handler(t, map[string]string{"webhook.url": server.URL, "webhook.header.Host": "other.internal:8080"})
	require.NoError(t, err)
	require.NoError(t, h.HandleError(t.Context(), "orders", item, errors.New("boom")))
	require.Equal(t, "other.internal:8080", <-got)
}

func TestErrorsShowNoSecrets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such key: "+r.Header.Get("X-Key"), http.StatusForbidden)
	}))
	t.Setenv("WEBHOOK_URL", server.URL+"/?token=swordfish")
	t.Setenv("WEBHOOK_KEY", "swordfish")
	h, err := handler(t, map[string]string{"webhook.url": "env:WEBHOOK_URL", "webhook.header.X-Key": "env:WEBHOOK_KEY"})
	require.NoError(t, err)
	require.EqualError(t, h.HandleError(t.Context(), "orders", item, errors.New("boom")), "webhook: status 403: no such key: env:WEBHOOK_KEY")
	server.Close()
	err = h.HandleError(t.Context(), "orders", item, errors.New("boom"))
	require.ErrorContains(t, err, `webhook: Post "env:WEBHOOK_URL": dial tcp`)
	require.NotContains(t, err.Error(), "swordfish")
	h, err = handler(t, map[string]string{"webhook.url": server.URL + "/hook?token=swordfish"})
	require.NoError(t, err)
	err = h.HandleError(t.Context(), "orders", item, errors.New("boom"))
	require.ErrorContains(t, err, `webhook: Post "`+server.URL+`/hook": dial tcp`)
	require.NotContains(t, err.Error(), "swordfish")
}
