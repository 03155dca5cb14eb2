package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/history"
)

// Whatever a query and headers say, each reader of them gives a value within its bounds or names the field that is wrong.
func FuzzQueries(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""},
		{"limit=5&offset=3&sort=-next&match=a*&status=x,y", "K"},
		{"wait=5s&dry-run", `"7"`},
		{"wait=9999999h&dry-run=no", "*"},
		{"limit=-1&match=[", ""},
		{"expression=0+0+*+*+*+?&zone=Europe/Berlin&count=3", ""},
		{"from=2026-01-01T00:00:00Z&success=maybe&item=x&page=0", "W/7"},
		{"a=%zz;", "\x00"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, head string) {
		query, _ := url.ParseQuery(text) // as requests do, which take what can be read
		header := http.Header{wire.HeaderKey: {head}, wire.HeaderIfMatch: {head}}
		check := func(err error) {
			if err == nil {
				return
			}
			p := problemOf(err, "")
			require.Contains(t, []int{400, 422, 428}, p.Status)
			require.NotEmpty(t, p.Detail)
			if p.Status == 400 {
				require.NotEmpty(t, p.Field)
			}
			_, failed := json.Marshal(p)
			require.NoError(t, failed)
		}
		s, err := parseSelection(query)
		check(err)
		if err == nil {
			require.True(t, s.limit >= 1 && s.limit <= mostJobs && s.offset >= 0 && sorts[s.sort] != nil)
			_, _, err := s.page(t.Context(), nil, func(string) bool { return true })
			require.NoError(t, err)
		}
		a, err := parseAsking(query, header)
		check(err)
		if err == nil {
			require.True(t, a.wait >= 0 && a.wait <= wire.MaxWait)
		}
		revision, err := matching(header)
		check(err)
		require.True(t, err != nil || revision > 0)
		executions, err := parseExecutionQuery(query)
		check(err)
		if err == nil {
			require.True(t, executions.Page >= 1 && executions.PerPage >= 1)
		}
		_, err = parseStatusQuery(query)
		check(err)
		written, err := parseOutputQuery(query)
		check(err)
		require.True(t, err != nil || written.Limit >= 1 && written.Limit <= history.MaxOutputs && written.Token >= 0)
		_, err = parseRevision(query, "after")
		check(err)
		c, err := parseCronQuery(query)
		check(err)
		require.True(t, err != nil || c.schedule != nil && c.count <= mostFires)
	})
}

// Whatever a body says, it is read as a whole or refused as malformed.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"reason":"x","items":[0,1],"fire":"2026-01-01T00:00:00Z"}`, `{"shown":{"verb":"x","changes":[{}]}}`, "{", "null", `{"items":[1e99]}`, "[]", `{} x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, err := range []error{
			bodyOf[wire.Asked](text), bodyOf[wire.Trigger](text), bodyOf[wire.BackfillRequest](text), bodyOf[wire.NewConfig](text),
			bodyOf[wire.NewJob](text), bodyOf[wire.Bulk](text), bodyOf[wire.RollBack](text), bodyOf[wire.Servers](text),
		} {
			var p *problem
			require.True(t, err == nil || errors.As(err, &p) && p.Status == 400 && p.Field == "body")
		}
	})
}

// bodyOf reads a body, and what was read must survive being sent again.
func bodyOf[T any](text []byte) error {
	value, err := parseBody[T](text)
	if err != nil {
		return err
	}
	again, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = parseBody[T](again)
	return err
}

// Whatever is asked for, by whatever method, the server answers, and not with a fault of its own.
func FuzzRequests(f *testing.F) {
	w := newWorld(f, nil)
	for _, seed := range [][3]string{
		{"GET", "/namespaces/shop/jobs", ""},
		{"POST", "/namespaces/shop/jobs/orders/disable?dry-run", "{}"},
		{"PUT", "/namespaces/shop/jobs/mail/config?dry-run", `{"text":"{}"}`},
		{"GET", "/namespaces/shop/nodes?path=//", ""},
		{"GET", "/namespaces/%2F/jobs/..%2f..", ""},
		{"POST", "/namespaces/shop/import?dry-run", "a: {config: {cron: x}}"},
		{"POST", "/namespaces/shop/bulk?dry-run", `{"verb":"trigger","match":"*"}`},
		{"POST", "/namespaces/shop/jobs/orders/items/99999999999999999999/enable?dry-run", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, path, text string) {
		r, err := http.NewRequestWithContext(access.NewContext(t.Context(), anna), method, "http://x"+path, strings.NewReader(text))
		if err != nil || strings.Contains(r.URL.Path, "/events") {
			t.Skip("no request, or one without an end")
		}
		query := r.URL.Query()
		query.Set(wire.ParamDryRun, "true")
		for _, slow := range []string{"after", "wait"} {
			query.Del(slow)
		}
		r.URL.RawQuery = query.Encode()
		r.Header.Set(wire.HeaderIfMatch, `"7"`)
		recorder := httptest.NewRecorder()
		w.api.ServeHTTP(recorder, r)
		require.Less(t, recorder.Code, 500, recorder.Body.String())
	})
}
