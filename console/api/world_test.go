package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// The people of the tests.
var (
	anna   = access.Identity{Name: "anna", How: access.ByToken, Grants: []access.Grant{{Role: access.Admin, Namespace: "shop"}}}
	olaf   = access.Identity{Name: "olaf", How: access.BySession, Grants: []access.Grant{{Role: access.Operator, Namespace: "shop"}}}
	vera   = access.Identity{Name: "vera", How: access.BySession, Grants: []access.Grant{{Role: access.Viewer, Namespace: "shop"}}}
	mailer = access.Identity{Name: "mailer", How: access.ByToken, Grants: []access.Grant{{Role: access.Operator, Namespace: "shop", Jobs: "mail*"}}}
	nobody = access.Identity{}
)

const (
	first  = "10.0.0.1@-@7-a"
	second = "10.0.0.2@-@7-b"
)

// world is a server over a namespace in memory.
type world struct {
	api *API
	reg *memory.Registry
}

// newWorld fills a namespace: orders is fine, mail has failed and has a secret, nightly is disabled, broken cannot be
// read.
func newWorld(tb testing.TB, kept history.Reader) *world {
	tb.Helper()
	reg := memory.NewServer().Open("shop", memory.WithTTL(time.Hour)) // so that a busy machine ends no session
	session, err := reg.Session(tb.Context())
	require.NoError(tb, err)
	fire := time.Now().UTC().Truncate(time.Minute)
	var writes []registry.Write
	add := func(c job.Config) jobtree.Tree {
		text, err := jobtree.EncodeConfig(c)
		require.NoError(tb, err)
		tree := jobtree.For(c.Name)
		writes = append(writes, registry.Put(tree.Config(), text))
		for item, owner := range []string{first, second} {
			writes = append(writes, registry.PutOwned(tree.Instance(owner), "", session), registry.Put(tree.ItemInstance(item), owner))
		}
		writes = append(writes, registry.PutOwned(tree.Leader(), first, session))
		return tree
	}
	orders := add(job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 2, Failover: true, TimeZone: "Europe/Berlin", ShardingItemParameters: "0=a,1=b"})
	mail := add(job.Config{Name: "mail", Cron: "0 0/2 * * * ?", ShardingTotalCount: 2, JobParameter: "geheim"})
	add(job.Config{Name: "nightly", Cron: "0 30 2 ? * MON-FRI", ShardingTotalCount: 2, Disabled: true})
	writes = append(writes,
		registry.Put(orders.ItemRecord(0), jobtree.EncodeRecord(ran(tb, fire, jobtree.Success, ""))),
		registry.Put(mail.ItemRecord(1), jobtree.EncodeRecord(ran(tb, fire, jobtree.Failure, "exit 3"))),
		registry.Put(mail.Server("10.0.0.9"), "DISABLED"),
		registry.Put("/broken/config", "{"),
		registry.Put(jobtree.For("nightly").Operated(), jobtree.EncodeOperated(jobtree.Operated{Files: &jobtree.Files{Owner: "shop-files", Version: 1}})),
	)
	_, err = reg.Commit(tb.Context(), registry.Txn{Then: writes})
	require.NoError(tb, err)
	return serve(tb, reg, kept)
}

// serve makes a server over a namespace.
func serve(tb testing.TB, reg *memory.Registry, kept history.Reader) *world {
	tb.Helper()
	hub, err := live.Open(tb.Context(), live.Config{Registry: reg, Namespace: "shop"})
	require.NoError(tb, err)
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	running.Go(func() { _ = hub.Run(ctx) })
	tb.Cleanup(func() {
		stop()
		hub.Close()
		running.Wait()
		require.NoError(tb, reg.Close(context.Background()))
	})
	a, err := New(Config{Namespaces: []Namespace{{Name: "shop", Store: reg, Hub: hub, History: kept}}})
	require.NoError(tb, err)
	return &world{api: a, reg: reg}
}

func ran(tb testing.TB, fire time.Time, outcome jobtree.Outcome, text string) jobtree.Record {
	tb.Helper()
	r, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: first, Session: 7, Source: job.Scheduled, Fire: fire, Round: "r", Time: fire.Add(20 * time.Millisecond)})
	require.NoError(tb, err)
	r, err = r.End(jobtree.End{Token: 41, Time: fire.Add(time.Second), Outcome: outcome, Error: text})
	require.NoError(tb, err)
	return r
}

// answer is what the server said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) into(tb testing.TB, value any) {
	tb.Helper()
	reflect.ValueOf(value).Elem().SetZero() // what the answer leaves out is not what another one said
	require.NoError(tb, json.Unmarshal(a.body, value), string(a.body))
}

// problem is the answer as a problem with a status.
func (a answer) problem(tb testing.TB, status int) wire.Problem {
	tb.Helper()
	require.Equal(tb, status, a.status, string(a.body))
	require.Equal(tb, "application/problem+json", a.header.Get("Content-Type"))
	var p wire.Problem
	a.into(tb, &p)
	require.Equal(tb, status, p.Status)
	require.NotEmpty(tb, p.Cause)
	require.NotEmpty(tb, p.Detail)
	return p
}

// ask sends a request as somebody, and holds the answer against openapi.yaml. Headers are given as "Name: value".
func (w *world) ask(tb testing.TB, who access.Identity, method, path string, body any, headers ...string) answer {
	tb.Helper()
	return w.askAt(tb, who, method, "/namespaces/shop"+path, body, headers...)
}

func (w *world) askAt(tb testing.TB, who access.Identity, method, path string, body any, headers ...string) answer {
	tb.Helper()
	var text []byte
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case string:
		text = []byte(b)
		if strings.Contains(path, "/import") {
			kind = "application/yaml"
		}
	default:
		var err error
		text, err = json.Marshal(b)
		require.NoError(tb, err)
	}
	r := httptest.NewRequestWithContext(access.NewContext(tb.Context(), who), method, path, bytes.NewReader(text))
	if text != nil {
		r.Header.Set("Content-Type", kind)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	w.api.ServeHTTP(recorder, r)
	got := answer{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
	described(tb, r, got)
	return got
}

// contract is openapi.yaml.
var contract = sync.OnceValues(func() (routers.Router, error) {
	for _, kind := range []string{"application/yaml", "text/event-stream"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.FileBodyDecoder)
	}
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(doc)
})

// described fails the test if an answer is not one that openapi.yaml describes.
func described(tb testing.TB, r *http.Request, got answer) {
	tb.Helper()
	router, err := contract()
	require.NoError(tb, err)
	at, err := url.Parse("/api/v1" + r.URL.RequestURI())
	require.NoError(tb, err)
	asked := r.Clone(r.Context())
	asked.URL = at
	route, params, err := router.FindRoute(asked)
	if err != nil {
		require.Contains(tb, []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest}, got.status, "%s %s: %s", r.Method, r.URL, err)
		return
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: asked, PathParams: params, Route: route, Options: options},
		Status:                 got.status, Header: got.header, Body: io.NopCloser(bytes.NewReader(got.body)), Options: options,
	})
	require.NoError(tb, err, "%s %s: %s", r.Method, r.URL, got.body)
}
