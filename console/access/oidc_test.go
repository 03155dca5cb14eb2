package access

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
)

// issuer is a small OpenID provider, at which somebody is logged in already.
type issuer struct {
	*testing.T
	server *httptest.Server
	key    *rsa.PrivateKey
	claims map[string]any // of whoever logs in, besides what every token has
	spoil  func(claims map[string]any)
	asked  map[string]url.Values // by code: what the authorization request said
	key2   *rsa.PrivateKey       // signs in place of key if it is there
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	i := &issuer{T: t, key: key, asked: make(map[string]url.Values), claims: map[string]any{
		"email": "anna@example.com", "email_verified": true, "groups": []string{"sre", "others"},
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.json(w, map[string]any{
			"issuer": i.server.URL, "authorization_endpoint": i.server.URL + "/authorize", "token_endpoint": i.server.URL + "/token",
			"jwks_uri": i.server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.json(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("POST /token", i.token)
	i.server = httptest.NewServer(mux)
	t.Cleanup(i.server.Close)
	return i
}

func (i *issuer) json(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// authorize is what the provider does when the browser comes with a URL: it returns where it sends the browser back.
func (i *issuer) authorize(to string) string {
	i.Helper()
	u, err := url.Parse(to)
	require.NoError(i, err)
	asked := u.Query()
	require.Equal(i, "S256", asked.Get("code_challenge_method"))
	require.Equal(i, "code", asked.Get("response_type"))
	require.Equal(i, "openid email profile", asked.Get("scope"))
	i.asked["the-code"] = asked
	return "/oidc/callback?" + url.Values{"code": {"the-code"}, "state": {asked.Get("state")}}.Encode()
}

// token exchanges a code, if whoever asks knows the secret and the verifier.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	asked := i.asked[r.Form.Get("code")]
	sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || id != "console" || secret != "client-secret" {
		w.WriteHeader(http.StatusBadRequest)
		i.json(w, map[string]any{"error": "invalid_grant", "error_description": r.Form.Get("code_verifier")})
		return
	}
	delete(i.asked, r.Form.Get("code")) // it is good for once
	claims := map[string]any{
		"iss": i.server.URL, "aud": "console", "sub": "4711", "nonce": asked.Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	}
	for name, value := range i.claims {
		claims[name] = value
	}
	if i.spoil != nil {
		i.spoil(claims)
	}
	key := i.key
	if i.key2 != nil {
		key = i.key2
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, nil)
	if err != nil {
		panic(err)
	}
	text, _ := json.Marshal(claims)
	signed, err := signer.Sign(text)
	if err != nil {
		panic(err)
	}
	compact, _ := signed.CompactSerialize()
	i.json(w, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": compact})
}

func providerSite(t *testing.T, i *issuer) *site {
	t.Helper()
	s := newSite(t, func(c *Config) {
		c.OIDC = &OIDC{
			Issuer: i.server.URL, ClientID: "console", ClientSecret: "client-secret",
			RedirectURL: "http://localhost:8080/oidc/callback",
		}
	})
	s.guard.provider.patience = time.Minute // a busy machine takes its time to find the provider
	return s
}

// leaves begins a login, and returns where the provider sends the browser back, and the cookie for that.
func (s *site) leaves(i *issuer) (back, cookie string) {
	s.Helper()
	answer := s.asks("GET", "/oidc/login?next=/jobs", nil)
	require.Equal(s, http.StatusSeeOther, answer.StatusCode)
	return i.authorize(answer.Header.Get("Location")), cookieOf(s.T, answer, loginCookie)
}

func TestALoginAtAProvider(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := providerSite(t, i)
	back, cookie := s.leaves(i)
	answer := s.asks("GET", back, nil, "Cookie", cookie, "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusOK, answer.StatusCode, "a page that leads on, since a redirect would come without the cookie")
	var body bytes.Buffer
	_, err := body.ReadFrom(answer.Body)
	require.NoError(t, err)
	require.Contains(t, body.String(), `content="0;url=/jobs"`)
	session := cookieOf(t, answer, sessionCookie)
	me := s.asks("GET", "/api/v1/me", nil, "Cookie", session)
	var id Identity
	require.NoError(t, json.NewDecoder(me.Body).Decode(&id))
	require.Equal(t, "anna@example.com", id.Name)
	require.Equal(t, BySession, id.How)
	require.Equal(t, []Grant{{Admin, "*", ""}}, id.Grants, "of the group that is granted something")

	again := s.asks("GET", back, nil, "Cookie", cookie)
	require.Equal(t, http.StatusUnauthorized, again.StatusCode, "a code is good for once")
	require.NotContains(t, s.log.String(), "client-secret")
	require.NotContains(t, s.log.String(), "the-code")
}

func TestLoginsAtAProviderThatFail(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		spoil  func(i *issuer)
		status int
		says   string
	}{
		"another nonce":         {func(i *issuer) { i.spoil = func(c map[string]any) { c["nonce"] = "x" } }, http.StatusUnauthorized, "the nonce is another"},
		"for another client":    {func(i *issuer) { i.spoil = func(c map[string]any) { c["aud"] = "other" } }, http.StatusUnauthorized, "check the id token"},
		"of another issuer":     {func(i *issuer) { i.spoil = func(c map[string]any) { c["iss"] = "https://evil.com" } }, http.StatusUnauthorized, "check the id token"},
		"expired":               {func(i *issuer) { i.spoil = func(c map[string]any) { c["exp"] = 1 } }, http.StatusUnauthorized, "check the id token"},
		"an address unverified": {func(i *issuer) { i.claims["email_verified"] = false }, http.StatusUnauthorized, "the address is not verified"},
		"no name":               {func(i *issuer) { delete(i.claims, "email") }, http.StatusUnauthorized, `the claim \"email\" is no name`},
		"another key": {func(i *issuer) {
			var err error
			i.key2, err = rsa.GenerateKey(rand.Reader, 2048)
			require.NoError(i, err)
		}, http.StatusUnauthorized, "check the id token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			row.spoil(i)
			s := providerSite(t, i)
			back, cookie := s.leaves(i)
			answer := s.asks("GET", back, nil, "Cookie", cookie)
			require.Equal(t, row.status, answer.StatusCode)
			require.Contains(t, s.log.String(), row.says)
			for _, c := range answer.Cookies() {
				require.NotEqual(t, sessionCookie, c.Name)
			}
		})
	}
}

// A session has the groups of whoever logs in at a provider. If they are too many for a cookie, the person hears so: sent on
// without a session, they would only come back to the login.
func TestALoginOfSomebodyInTooManyGroups(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		groups int
		status int
	}{
		"few":                                {groups: 20, status: http.StatusOK},
		"many":                               {groups: 60, status: http.StatusForbidden},
		"very many that are granted nothing": {groups: -500, status: http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			s := providerSite(t, i)
			var groups, granted []string
			for n := range max(row.groups, -row.groups) {
				groups = append(groups, fmt.Sprintf("11111111-2222-3333-4444-%012d", n))
				if row.groups > 0 {
					granted = append(granted, "  "+groups[n]+`: {grants: [{role: viewer, namespace: "*"}]}`)
				}
			}
			i.claims["groups"] = groups
			s.write(strings.Replace(usersText(0, nobodysSum), "groups:", "groups:\n"+strings.Join(granted, "\n"), 1))
			require.Eventually(t, func() bool { return len(s.guard.users.current().groups) == len(granted)+1 }, time.Minute, 10*time.Millisecond)
			back, cookie := s.leaves(i)
			answer := s.asks("GET", back, nil, "Cookie", cookie)
			require.Equal(t, row.status, answer.StatusCode)
			page, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			if row.status == http.StatusOK {
				require.Contains(t, string(page), `content="0;url=/jobs"`)
				cookieOf(t, answer, sessionCookie)
				return
			}
			require.Contains(t, string(page), "you are in too many groups for a session")
			require.Contains(t, string(page), `<base href="/">`, "for links that are not below oidc/")
			require.Contains(t, string(page), `href="oidc/login?next=%2fjobs"`, "the way back is kept")
			require.NotContains(t, string(page), "refresh")
			for _, c := range answer.Cookies() {
				require.NotEqual(t, sessionCookie, c.Name)
			}
			require.Contains(t, s.log.String(), "a session is too long for a cookie")
			require.NotContains(t, s.log.String(), "somebody logged in")
		})
	}
}

// Browsers drop a cookie whose name and value have more than 4,096 bytes, some one that has a few less.
func TestNoCookieIsTooLongForABrowser(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte("k"), keyBytes)
	c := newCookies([][]byte{key}, "", true, sessionFor)
	longest := 0
	var err error
	s := session{Name: "anna", Began: time.Now().Unix()}
	for err == nil {
		s.Groups = append(s.Groups, "sre")
		w := httptest.NewRecorder()
		if err = c.setSession(w, s, time.Now()); err == nil {
			longest = len(cookieOf(t, w.Result(), sessionCookie))
		}
	}
	require.InDelta(t, 3_980, longest, 21, "with the sign between them")
}

// Nobody can have somebody else's browser end a login that it did not begin.
func TestALoginThatBeganElsewhere(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := providerSite(t, i)
	back, cookie := s.leaves(i)
	_, other := s.leaves(i)
	for name, answer := range map[string]*http.Response{
		"without the cookie":      s.asks("GET", back, nil),
		"with another's":          s.asks("GET", back, nil, "Cookie", other),
		"with another state":      s.asks("GET", "/oidc/callback?code=the-code&state=x", nil, "Cookie", cookie),
		"without a state":         s.asks("GET", "/oidc/callback?code=the-code", nil, "Cookie", cookie),
		"a session for the login": s.asks("GET", back, nil, "Cookie", loginCookie+"="+s.login()[len(sessionCookie)+1:]),
	} {
		require.Equal(t, http.StatusBadRequest, answer.StatusCode, name)
	}
	state := s.asks("GET", back, nil, "Cookie", cookie)
	require.Equal(t, http.StatusUnauthorized, state.StatusCode, "the verifier of this login does not fit the code of the other")
	refused, err := url.Parse(back)
	require.NoError(t, err)
	answer := s.asks("GET", "/oidc/callback?error=access_denied&state="+url.QueryEscape(refused.Query().Get("state")), nil, "Cookie", cookie)
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
}

// A provider that is down costs a clear answer and not the server, one that is slow no more than a while; when it is back,
// it is found.
func TestAProviderThatIsDown(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]func(w http.ResponseWriter, back <-chan struct{}){
		"down": func(w http.ResponseWriter, _ <-chan struct{}) { w.WriteHeader(http.StatusServiceUnavailable) },
		"slow": func(_ http.ResponseWriter, back <-chan struct{}) { <-back },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			back := make(chan struct{})
			whole := i.server.Config.Handler
			i.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-back:
				default:
					if asked(w, back); name == "down" {
						return
					}
				}
				whole.ServeHTTP(w, r)
			})
			s := providerSite(t, i)
			if name == "slow" {
				s.guard.provider.patience = 50 * time.Millisecond
			} else {
				s.guard.provider.patience = time.Minute // the next try ends it
			}
			for range 2 {
				answer := s.asks("GET", "/oidc/login?next=/jobs", nil)
				require.Equal(t, http.StatusBadGateway, answer.StatusCode)
				page, err := io.ReadAll(answer.Body)
				require.NoError(t, err)
				require.Contains(t, string(page), "does not answer")
				require.Contains(t, string(page), "next=%2fjobs", "the way back is kept")
				require.Empty(t, answer.Cookies())
			}
			close(back)
			s.guard.provider.patience = time.Minute
			require.Eventually(t, func() bool {
				return s.asks("GET", "/oidc/login", nil).StatusCode == http.StatusSeeOther
			}, time.Minute, 10*time.Millisecond)
		})
	}
}
