package httpjob_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/job/internal/webcall"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var item = job.ShardingContext{
	JobName: "warmup", TaskID: "warmup@-@1@-@READY@-@10.0.0.1@-@5", Item: 1, TotalCount: 3, ItemParameter: "Zürich", JobParameter: "p=1",
}

// serve starts an endpoint and returns a job that calls it with further settings.
func serve(t *testing.T, handle http.HandlerFunc, settings map[string]string) job.HandlerFunc {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	all := map[string]string{"http.uri": server.URL + "/path?a=1", "http.method": "POST"}
	maps.Copy(all, settings)
	return configured(t, all)
}

func configured(t *testing.T, settings map[string]string) job.HandlerFunc {
	t.Helper()
	cfg := job.Config{Name: "warmup", Cron: "0 0 * * * ?", ShardingTotalCount: 3}
	cfg.Class, cfg.Props = httpjob.Class, settings
	require.NoError(t, cfg.Validate())
	code, err := httpjob.Job{}.Configure(cfg)
	require.NoError(t, err)
	return code
}

func TestACall(t *testing.T) {
	t.Parallel()
	type seen struct{ method, uri, body, kind, context, mine, host string }
	for name, test := range map[string]struct {
		settings map[string]string
		want     seen
	}{
		"as 3.x has it": {
			map[string]string{"http.data": "a=b", "http.content.type": "text/x"},
			seen{"POST", "/path?a=1", "a=b", "text/x", item.JSON(), "", ""},
		},
		"with headers": {
			map[string]string{"http.method": "put", "http.header.X-Mine": "y", "http.header.Host": "h"},
			seen{"PUT", "/path?a=1", "", "", item.JSON(), "y", "h"},
		},
		"GET has no body": {
			map[string]string{"http.method": "GET", "http.data": "a=b"},
			seen{"GET", "/path?a=1", "", "", item.JSON(), "", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := make(chan seen, 1)
			code := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				host := ""
				if !strings.HasPrefix(r.Host, "127.") {
					host = r.Host
				}
				got <- seen{
					r.Method, r.RequestURI, string(body), r.Header.Get("Content-Type"),
					r.Header.Get(httpjob.ContextHeader), r.Header.Get("X-Mine"), host,
				}
			}, test.settings)
			require.NoError(t, code(t.Context(), item))
			require.Equal(t, test.want, <-got)
		})
	}
}

// Many servers allow 8 KiB for all headers, and a process may have all items of a job, whose task id lists them.
func TestACallOfManyItems(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	code := serve(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get(httpjob.ContextHeader) }, nil)
	many := item
	id := job.TaskID{Job: "warmup", Items: make([]int, 2000), Instance: "10.0.0.1@-@5"}
	for n := range id.Items {
		id.Items[n] = n
	}
	many.TaskID = id.String()
	require.NoError(t, code(t.Context(), many))
	header := <-got
	require.Less(t, len(header), 1000)
	require.Contains(t, header, `,...@-@READY@-@10.0.0.1@-@5"`)
}

func TestTheParameterOfATrigger(t *testing.T) {
	t.Parallel()
	for _, parameter := range []string{"", "day=2026-03-01", "two\nlines", "\x7f \x00", `"Ä"`} {
		got := make(chan []string, 1)
		code := serve(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Values(httpjob.TriggerParameterHeader) }, nil)
		byHand := item
		byHand.TriggerParameter = parameter
		require.NoError(t, code(t.Context(), byHand))
		sent := <-got
		if parameter == "" {
			require.Empty(t, sent)
			continue
		}
		require.Len(t, sent, 1)
		var text string
		require.NoError(t, json.Unmarshal([]byte(sent[0]), &text), sent)
		require.Equal(t, parameter, text)
	}
}

// What may stand in parameters and not in a header does not keep a call from being made, and what cannot be sent is refused
// when the job is declared.
func TestWhatHeadersCannotHold(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	code := serve(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get(httpjob.ContextHeader) }, nil)
	odd := item
	odd.JobParameter, odd.ItemParameter = "a\x7fb", "c\nd"
	require.NoError(t, code(t.Context(), odd))
	var sent struct{ JobParameter, ShardingParameter string }
	require.NoError(t, json.Unmarshal([]byte(<-got), &sent))
	require.Equal(t, odd.JobParameter, sent.JobParameter)
	require.Equal(t, odd.ItemParameter, sent.ShardingParameter)

	for name, value := range map[string]string{"X Key": "a", "X-Key": "a\nb", "X:": "c"} {
		settings := map[string]string{"http.uri": "http://127.0.0.1:1/", "http.method": "GET", "http.header." + name: value}
		_, err := httpjob.Job{}.Configure(job.Config{Name: "warmup", Props: settings})
		require.ErrorContains(t, err, "http.header."+name)
	}
}

// Headers that would be lost are refused, too: those that HTTP and the call set themselves, and one of two that differ in case.
func TestHeadersThatWouldBeLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"Content-Length"}, `http.header.Content-Length "1" must not be there: HTTP sets this header by itself`},
		{[]string{"transfer-encoding"}, `http.header.transfer-encoding "1" must not be there: HTTP sets this header by itself`},
		{[]string{"Trailer"}, `http.header.Trailer "1" must not be there: HTTP sets this header by itself`},
		{[]string{"shardingcontext"}, `http.header.shardingcontext "1" must not be there: this header is set by each call`},
		{[]string{"TriggerParameter"}, `http.header.TriggerParameter "1" must not be there: this header is set by each call`},
		{[]string{"Elasticron-Token"}, `http.header.Elasticron-Token "1" must not be there: this header is set by each call`},
		{[]string{"x-key", "X-Key"}, `http.header.x-key "2" must not be there beside http.header.X-Key: the case of a header does not count`},
	} {
		settings := map[string]string{"http.uri": "http://127.0.0.1:1/", "http.method": "GET", "http.header.X-Other": "0"}
		for _, name := range test.names {
			settings["http.header."+name] = "1"
		}
		if len(test.names) > 1 {
			settings["http.header.x-key"] = "2"
		}
		_, err := httpjob.Job{}.Configure(job.Config{Name: "warmup", Props: settings})
		require.ErrorContains(t, err, test.want)
		require.ErrorIs(t, err, job.ErrInvalidConfig)
	}
}

func TestAStatusIsAFailure(t *testing.T) {
	t.Parallel()
	for status, fails := range map[int]bool{200: false, 204: false, 399: false, 400: true, 404: true, 500: true, 599: true} {
		handle := func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			if status >= 400 {
				_, _ = io.WriteString(w, strings.Repeat("x", 5000)+"the reason")
			}
		}
		err := serve(t, handle, nil)(t.Context(), item)
		require.Equal(t, fails, err != nil, "status %d", status)
		if fails {
			var failed *httpjob.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, status, failed.Status)
			require.Contains(t, err.Error(), "xthe reason")
			require.Less(t, len(err.Error()), 3000)
		}
		require.NoError(t, serve(t, handle, map[string]string{"http.fail.on.status": "false"})(t.Context(), item))
	}
}

// hang keeps a request until its client has gone.
func hang(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func TestAnEndpointThatHangs(t *testing.T) {
	t.Parallel()
	mute := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	short := map[string]string{"http.read.timeout.milliseconds": "50", "http.connect.timeout.milliseconds": "0"}
	require.ErrorIs(t, serve(t, mute, short)(t.Context(), item), webcall.ErrReadTimeout)
	require.ErrorIs(t, serve(t, hang, short)(t.Context(), item), webcall.ErrReadTimeout)
	require.ErrorIs(t, serve(t, hang, map[string]string{"http.total.timeout.milliseconds": "50"})(t.Context(), item), job.ErrTimeout)

	boom := errors.New("boom")
	arrived := make(chan struct{}, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-arrived; cancel(boom) }()
	err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		hang(w, r)
	}, map[string]string{"http.read.timeout.milliseconds": "0", "http.retries": "5"})(ctx, item)
	require.ErrorIs(t, err, boom)
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	require.ErrorContains(t, configured(t, map[string]string{"http.uri": server.URL, "http.method": "GET"})(t.Context(), item), "refused")
}

func TestWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status, calls int
		settings      map[string]string
	}{
		"not unless asked for":     {503, 1, nil},
		"what may pass":            {503, 4, map[string]string{"http.retries": "3"}},
		"not what will not":        {404, 1, map[string]string{"http.retries": "3"}},
		"not a status that counts": {503, 1, map[string]string{"http.retries": "3", "http.fail.on.status": "false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := map[string]string{"http.retry.milliseconds": "1"}
			maps.Copy(settings, test.settings)
			var calls atomic.Int32
			_ = serve(t, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.WriteHeader(test.status)
			}, settings)(t.Context(), item)
			require.EqualValues(t, test.calls, calls.Load())
		})
	}
}

// A status that is a failure decides whether the job calls again, also if its answer broke off. Whatever the status, the
// error says it.
func TestAnAnswerThatBreaksOff(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int32{200: 3, 404: 1, 503: 3} {
		settings := map[string]string{"http.retries": "2", "http.retry.milliseconds": "1"}
		var calls atomic.Int32
		handle := func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "the reason")
		}
		err := serve(t, handle, settings)(t.Context(), item)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorContains(t, err, "status "+strconv.Itoa(status))
		require.Equal(t, want, calls.Load(), "status %d", status)
		var failed *httpjob.Error
		require.Equal(t, status >= 400, errors.As(err, &failed))
		if failed != nil {
			require.Equal(t, []any{status, "the reason"}, []any{failed.Status, failed.Answer})
		}

		calls.Store(0)
		settings["http.fail.on.status"] = "false"
		require.ErrorIs(t, serve(t, handle, settings)(t.Context(), item), io.ErrUnexpectedEOF)
		require.EqualValues(t, 3, calls.Load(), "status %d", status)
	}
}

// full is a writer that takes no more after some bytes.
type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return 0, errFull
	}
	f.left -= len(p)
	return len(p), nil
}

// That an answer cannot be kept is no reason to call again.
func TestAnOutputThatFails(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int32{200: 1, 404: 1, 503: 3} {
		for _, room := range []int{0, 50} { // for nothing, and for the line with the status
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, strings.Repeat("x", 100))
			}))
			t.Cleanup(server.Close)
			code, err := httpjob.Job{Output: func(job.ShardingContext) io.Writer { return &full{room} }}.Configure(job.Config{Props: map[string]string{
				"http.uri": server.URL, "http.method": "POST", "http.retries": "2", "http.retry.milliseconds": "1",
			}})
			require.NoError(t, err)
			err = code(t.Context(), item)
			require.ErrorIs(t, err, errFull)
			require.ErrorContains(t, err, "status "+strconv.Itoa(status))
			require.Equal(t, want, calls.Load(), "status %d", status)
		}
	}
}

func TestRetryAfterIsRespected(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var at []time.Time
	code := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if at = append(at, time.Now()); len(at) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}, map[string]string{"http.retries": "1", "http.retry.milliseconds": "1"})
	require.NoError(t, code(t.Context(), item))
	require.Len(t, at, 2)
	require.GreaterOrEqual(t, at[1].Sub(at[0]), 900*time.Millisecond)
}

func TestRedirectsAndAnswersAreBounded(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	code := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	}, map[string]string{"http.redirects": "3", "http.retries": "5"})
	require.ErrorIs(t, code(t.Context(), item), webcall.ErrTooManyRedirects)
	require.EqualValues(t, 4, calls.Load())

	endless := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1024)); err != nil {
				return
			}
		}
	}, map[string]string{"http.answer.bytes": "100000"})
	require.NoError(t, endless(t.Context(), item))
}

// heard is the writer of a run.
type heard struct {
	strings.Builder
	closed int
}

func (h *heard) Close() error { h.closed++; return nil }

// All that is answered in a run goes to its writer, without secrets, also where the error has the end only.
func TestOutput(t *testing.T) {
	t.Setenv("HTTPJOB_KEY", "swordfish")
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, r.Header.Get("X-Key")+"\n"+strings.Repeat("x", 300<<10)+r.Header.Get("X-Key"))
	}))
	t.Cleanup(server.Close)
	var out []*heard
	answering := httpjob.Job{Output: func(sc job.ShardingContext) io.Writer {
		require.Equal(t, item, sc)
		out = append(out, new(heard))
		return out[len(out)-1]
	}}
	cfg := job.Config{Name: "warmup", Cron: "@daily", ShardingTotalCount: 3, Class: httpjob.Class, Props: map[string]string{
		"http.uri": server.URL, "http.method": "GET", "http.header.X-Key": "env:HTTPJOB_KEY", "http.retries": "1", "http.retry.milliseconds": "1",
	}}
	code, err := answering.Configure(cfg)
	require.NoError(t, err)
	require.NoError(t, code(t.Context(), item))
	require.Len(t, out, 1, "one for all calls of a run")
	require.Equal(t, "HTTP/1.1 503 Service Unavailable\n\nbusy\n\nHTTP/1.1 200 OK\n\nenv:HTTPJOB_KEY\n"+strings.Repeat("x", 300<<10)+"env:HTTPJOB_KEY\n", out[0].String())
	require.NoError(t, code(t.Context(), item))
	require.Len(t, out, 2)
	require.Equal(t, []int{1, 1}, []int{out[0].closed, out[1].closed})
}

// Whoever keeps no output of a call says so with nil.
func TestNoOutput(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "well") }))
	t.Cleanup(server.Close)
	cfg := job.Config{Props: map[string]string{"http.uri": server.URL, "http.method": "POST"}}
	code, err := httpjob.Job{Output: func(job.ShardingContext) io.Writer { return nil }}.Configure(cfg)
	require.NoError(t, err)
	require.NoError(t, code(t.Context(), item))
}

// What is cut off within a secret shows nothing of it, neither in an error nor in what is kept.
func TestAnAnswerThatIsCutWithinASecret(t *testing.T) {
	t.Setenv("HTTPJOB_KEY", "swordfish")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "xxxsword")
			return
		}
		http.Error(w, "xxxswordfish", http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	for path, bytes := range map[string]string{"/": "8", "/broken": "1000"} {
		out := new(heard)
		code, err := httpjob.Job{Output: func(job.ShardingContext) io.Writer { return out }}.Configure(job.Config{Props: map[string]string{
			"http.uri": server.URL + path, "http.method": "GET", "http.header.X-Key": "env:HTTPJOB_KEY", "http.answer.bytes": bytes,
		}})
		require.NoError(t, err)
		err = code(t.Context(), item)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "sword", path)
		require.Contains(t, out.String(), "\n\nxxx\n", path)
	}
}

func TestConfigureNamesEveryFault(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Name: "warmup", Cron: "0 0 * * * ?", ShardingTotalCount: 3}
	cfg.Props = map[string]string{
		"http.method": "FETCH", "http.retries": "-1", "http.fail.on.status": "maybe", "http.conect.timeout": "1",
		"http.header.host": "admin.internal:80.shop.internal",
	}
	_, err := httpjob.Job{}.Configure(cfg)
	require.ErrorIs(t, err, job.ErrInvalidConfig)
	for _, want := range []string{
		`Props http.uri "" must not be empty`, `Props http.method "FETCH" must be one of GET, HEAD, POST`, `Props http.retries "-1"`,
		`Props http.fail.on.status "maybe"`, `Props http.conect.timeout "1" must not be there`,
		`Props http.header.host "admin.internal:80.shop.internal" must be the name of a host`,
	} {
		require.ErrorContains(t, err, want)
	}
}

// Whoever stores settings may have none of the files and variables to which they refer.
func TestCheckLooksUpNothing(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Props: map[string]string{
		"http.uri": "file:/none/such", "http.method": "env:HTTPJOB_NONE", "http.header.Key": "env:HTTPJOB_NONE", "http.retries": "env:HTTPJOB_NONE",
	}}
	require.NoError(t, httpjob.Check(cfg))
	cfg.Props["http.methd"], cfg.Props["http.redirects"] = "GET", "some"
	delete(cfg.Props, "http.uri")
	faults := strings.Split(httpjob.Check(cfg).Error(), "\n")
	require.Equal(t, []string{
		`Props http.uri "" must not be empty`, `Props http.redirects "some" must be a whole number between 0 and 100`,
	}, faults[:2])
	require.Len(t, faults, 3)
	require.Contains(t, faults[2], `Props http.methd "GET" must not be there: the settings are http.uri, http.method, `)
}

// A job's errors are stored. So whatever goes wrong, they show where a secret is, and not what it is.
func TestErrorsShowNoSecrets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-r.Context().Done()
		case "/redirect":
			http.Redirect(w, r, r.RequestURI, http.StatusFound)
		default:
			http.Error(w, "no such key: "+r.Header.Get("X-Key"), http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("swordfish\n"), 0o600))
	const long, short = "60000", "50" // milliseconds, for those that answer and for the one that does not
	for name, test := range map[string]struct {
		address string
		within  string
		want    []string
	}{
		"a status":    {server.URL + "/?token=swordfish", long, []string{"POST env:HTTPJOB_URI: status 403", "no such key: file:" + file}},
		"no answer":   {server.URL + "/hang?token=swordfish", short, []string{`Post "env:HTTPJOB_URI"`, webcall.ErrReadTimeout.Error()}},
		"a redirect":  {server.URL + "/redirect?token=swordfish", long, []string{`"env:HTTPJOB_URI"`, webcall.ErrTooManyRedirects.Error()}},
		"nobody":      {closed.URL + "/?token=swordfish", long, []string{`Post "env:HTTPJOB_URI"`, "refused"}},
		"a user name": {strings.Replace(server.URL, "://", "://swordfish:swordfish@", 1), long, []string{"POST env:HTTPJOB_URI: status 403"}},
	} {
		t.Setenv("HTTPJOB_URI", test.address)
		open, _, _ := strings.Cut(strings.Replace(test.address, "swordfish:swordfish@", "", 1), "?")
		for setting, shown := range map[string]string{"env:HTTPJOB_URI": "env:HTTPJOB_URI", test.address: open} {
			code := configured(t, map[string]string{
				"http.uri": setting, "http.method": "POST", "http.header.X-Key": "file:" + file,
				"http.read.timeout.milliseconds": test.within, "http.connect.timeout.milliseconds": "0", "http.redirects": "1",
			})
			err := code(t.Context(), item)
			for _, want := range test.want {
				if name == "a redirect" && setting == test.address {
					shown = "/redirect" // as the answer had it
				}
				require.ErrorContains(t, err, strings.Replace(want, "env:HTTPJOB_URI", shown, 1), name)
			}
			require.NotContains(t, err.Error(), "swordfish", name)
		}
	}
}

func TestASecretThatIsNotThereIsFoundBeforeACall(t *testing.T) {
	t.Parallel()
	_, err := httpjob.Job{}.Configure(job.Config{Props: map[string]string{
		"http.uri": "env:HTTPJOB_NONE", "http.method": "GET", "http.header.X-Key": "file:/none/such", "http.data": "env:HTTPJOB_NONE",
	}})
	require.ErrorIs(t, err, job.ErrInvalidConfig)
	for _, want := range []string{`Props http.uri "env:HTTPJOB_NONE" must name`, `Props http.header.X-Key "file:/none/such" must name`, `Props http.data "env:`} {
		require.ErrorContains(t, err, want)
	}
}
