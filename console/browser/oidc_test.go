package browser

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
)

// issuer is a small OpenID provider with a page that asks who somebody is.
type issuer struct {
	tb     testing.TB
	url    string
	signer jose.Signer

	mu    sync.Mutex
	codes map[string]login
}

// login is a code that was given out: who it is for, and what the request said.
type login struct {
	name  string
	asked url.Values
}

var consent = template.Must(template.New("consent").Parse(`<!doctype html><html lang="en"><title>Provider</title><h1>Who are you?</h1>
{{range .}}<p><a href="{{.To}}">{{.Name}}</a></p>{{end}}</html>`))

func newIssuer(tb testing.TB) *issuer {
	tb.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(tb, err)
	i := &issuer{tb: tb, codes: make(map[string]login)}
	i.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, nil)
	require.NoError(tb, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{
			"issuer": i.url, "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token", "jwks_uri": i.url + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	server := httptest.NewServer(mux)
	tb.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	i.url = server.URL
	return i
}

// authorize shows who one may be, and one way to refuse.
func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	back := func(more url.Values) string {
		more.Set("state", asked.Get("state"))
		return asked.Get("redirect_uri") + "?" + more.Encode()
	}
	ways := []struct{ Name, To string }{{"nobody, thank you", back(url.Values{"error": {"access_denied"}})}}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, name := range []string{"sara@example.com", "eve@example.com", "otto@example.com"} {
		code := rand.Text()
		i.codes[code] = login{name, asked}
		ways = append(ways, struct{ Name, To string }{name, back(url.Values{"code": {code}})})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	assert.NoError(i.tb, consent.Execute(w, ways))
}

// token exchanges a code, once, if whoever asks knows the secret and the verifier.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	_ = r.ParseForm()
	code := r.Form.Get("code")
	given, known := i.codes[code]
	sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !known || given.asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || id != "console" || secret != "client-secret" {
		answer(w, 400, object{"error": "invalid_grant"})
		return
	}
	delete(i.codes, code)
	groups := []string{}
	switch given.name {
	case "sara@example.com":
		groups = append(groups, "sre")
	case "otto@example.com":
		groups = teams()
	}
	text, err := json.Marshal(object{
		"iss": i.url, "aud": "console", "sub": given.name, "nonce": given.asked.Get("nonce"), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
		"email": given.name, "email_verified": true, "groups": groups,
	})
	assert.NoError(i.tb, err)
	signed, err := i.signer.Sign(text)
	assert.NoError(i.tb, err)
	compact, err := signed.CompactSerialize()
	assert.NoError(i.tb, err)
	answer(w, 200, object{"access_token": "access", "token_type": "Bearer", "id_token": compact})
}

// teams are more groups than the cookie of a session has room for.
func teams() (names []string) {
	for n := range 100 {
		names = append(names, fmt.Sprintf("team-with-a-name-of-some-length-%02d", n))
	}
	return names
}

// At an OpenID provider somebody logs in from a page, comes back to that page, and may do what their groups may; who is
// refused there, may do nothing here, or is in more groups than a session has room for, is told so.
func TestLoginAtAProvider(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	var to *url.URL
	https := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	t.Cleanup(func() { https.CloseClientConnections(); https.Close() })
	h := newHall(t, 2, access.Config{UsersFile: usersFile(t), OIDC: &access.OIDC{
		Issuer: i.url, ClientID: "console", ClientSecret: "client-secret", RedirectURL: https.URL + "/oidc/callback",
	}})
	var err error
	to, err = url.Parse(h.url)
	require.NoError(t, err)

	sara := look(t)
	sara.open(https.URL + "/ns/shop/jobs/orders")
	sara.sees("form", "Log in")
	sara.click("a", "OpenID")
	sara.sees("h1", "Who are you?")
	sara.click("a", "nobody, thank you")
	sara.sees("main, body", "refused the login")
	sara.click("a", "OpenID")
	sara.click("a", "sara@example.com")
	sara.sees("h1", "orders") // where she wanted to go
	sara.live()
	sara.sees(".who", "sara@example.com")
	sara.sees("#deeds button", "Trigger") // her group may operate
	require.Zero(t, value[int](sara, `[...document.querySelectorAll("#more button")].filter(b => b.textContent.includes("Remove")).length`), "and not administer")

	eve := look(t)
	eve.open(https.URL + "/ns/shop/jobs/orders")
	eve.click("a", "OpenID")
	eve.click("a", "eve@example.com")
	eve.until(`location.origin === ` + quote(https.URL) + ` && !location.pathname.startsWith("/oidc")`)
	require.Equal(t, 403, value[int](eve, `fetch("/api/v1/namespaces/shop/jobs").then(r => r.status)`), "her groups are granted nothing")

	otto := look(t)
	otto.open(https.URL + "/ns/shop/jobs/orders")
	otto.click("a", "OpenID")
	otto.click("a", "otto@example.com")
	otto.sees("[role=alert]", "you are in too many groups for a session")
	otto.click("a", "OpenID")
	otto.click("a", "sara@example.com")
	otto.sees("h1", "orders") // the page on which it was said leads on
}
