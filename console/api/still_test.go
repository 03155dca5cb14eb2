package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// What one may is asked again of what came slowly or had to wait: somebody may have taken it away meanwhile.
func TestWhatOneMayIsAskedAgainAfterAWait(t *testing.T) {
	t.Parallel()
	const admin, viewer = "{role: admin, namespace: shop}", "{role: viewer, namespace: shop}"
	for name, is := range map[string]struct {
		now               string // the token, by then
		read, write, long int
	}{
		"nobody any more": {"", 401, 401, 401},
		"less":            {viewer, 403, 403, 403},
		"otherwise":       {viewer + ", " + admin, 200, 202, 202},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			token, sum := access.NewToken()
			file := filepath.Join(t.TempDir(), "users.yaml")
			grant := func(grants string) {
				text := "users: {}\n"
				if grants != "" {
					text = "tokens: {ci: {sha256: " + sum + ", end: 2099-01-01T00:00:00Z, grants: [" + grants + "]}}\n"
				}
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			}
			grant(admin)
			guard, err := access.New(access.Config{UsersFile: file})
			require.NoError(t, err)
			entered := make(chan struct{}, 1)
			behind := guard.Protect(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				entered <- struct{}{}
				w.api.ServeHTTP(rw, r)
			}))
			// ask returns what is answered later, once the guard has let the request through.
			ask := func(method, path string, body io.Reader) <-chan answer {
				r := httptest.NewRequestWithContext(t.Context(), method, path, body)
				r.Header.Set("Authorization", "Bearer "+token)
				answered := make(chan answer, 1)
				go func() {
					recorder := httptest.NewRecorder()
					behind.ServeHTTP(recorder, r)
					got := answer{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
					answered <- got
				}()
				select {
				case <-entered:
				case got := <-answered:
					answered <- got
				}
				return answered
			}
			of := func(method, path string) string {
				got := <-ask(method, path, nil)
				return strconv.Itoa(got.status) + string(got.body)
			}

			first := <-ask("GET", "/namespaces/shop/nodes?secrets=true", nil)
			require.Equal(t, 200, first.status)
			reads := ask("GET", "/namespaces/shop/nodes?secrets=true&after="+strings.Trim(first.header.Get("ETag"), `"`), nil)
			slow, write := io.Pipe()
			writes := ask("POST", "/namespaces/shop/jobs/orders/disable", slow)
			_, err = write.Write([]byte("{"))
			require.NoError(t, err)
			for range cap(w.api.large) {
				w.api.large <- struct{}{}
			}
			long := ask("POST", "/namespaces/shop/bulk", strings.NewReader(`{"verb":"disable","jobs":["mail"]}`+strings.Repeat(" ", maxBody)))

			was := of("GET", "/me")
			grant(is.now)
			require.Eventually(t, func() bool { return of("GET", "/me") != was }, time.Minute, 50*time.Millisecond)

			_, err = w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/late/config", `{"jobParameter":"NEWSECRET"}`)}})
			require.NoError(t, err)
			got := <-reads
			require.Equal(t, is.read, got.status, string(got.body))
			require.Equal(t, is.read == 200, strings.Contains(string(got.body), "NEWSECRET"))

			_, err = write.Write([]byte("}"))
			require.NoError(t, err)
			require.NoError(t, write.Close())
			got = <-writes
			require.Equal(t, is.write, got.status, string(got.body))
			for range cap(w.api.large) {
				<-w.api.large
			}
			got = <-long
			require.Equal(t, is.long, got.status, string(got.body))
			for _, job := range []string{"orders", "mail"} {
				n, err := w.reg.Get(t.Context(), jobtree.For(job).Config())
				require.NoError(t, err)
				require.Equal(t, is.write == 202, strings.Contains(n.Value, `"disabled":true`), job)
			}
		})
	}
}
