package access

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// site is a guard before a page that says who asked.
type site struct {
	*testing.T
	guard   *Guard
	handler http.Handler
	users   string // the path of the users file
	log     bytes.Buffer
}

const someUsers = `
users:
  anna: {password: 'HASH', generation: GENERATION, grants: [{role: operator, namespace: shop}]}
  outside: {grants: [{role: viewer, namespace: shop}]}
groups:
  sre: {grants: [{role: admin, namespace: "*"}]}
tokens:
  deploy: {sha256: SUM, end: 2000-01-02T00:00:00Z, grants: [{role: viewer, namespace: shop}]}
`

func usersText(generation int, sum string) string {
	return strings.NewReplacer("HASH", annasHash, "GENERATION", fmt.Sprint(generation), "SUM", sum).Replace(someUsers)
}

func newSite(t *testing.T, change func(*Config)) *site {
	t.Helper()
	s := &site{T: t, users: filepath.Join(t.TempDir(), "users.yaml")}
	s.write(usersText(0, nobodysSum))
	cfg := Config{UsersFile: s.users, Logger: slog.New(slog.NewTextHandler(&s.log, nil))}
	if change != nil {
		change(&cfg)
	}
	var err error
	s.guard, err = New(cfg)
	require.NoError(t, err)
	if cfg.OIDC != nil {
		ctx, cancel := context.WithCancel(context.Background())
		var looking sync.WaitGroup
		looking.Go(func() { s.guard.Run(ctx) })
		t.Cleanup(func() {
			cancel()
			looking.Wait()
		})
	}
	mux := http.NewServeMux()
	for _, route := range []string{"/login", "/logout", "/oidc/"} {
		mux.Handle(route, s.guard.Routes())
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(FromContext(r.Context()))
	})
	s.handler = s.guard.Protect(mux)
	return s
}

func (s *site) write(text string) {
	s.Helper()
	writeUsers(s.T, s.users, text)
}

// asks is a request, with header fields by turns.
func (s *site) asks(method, path string, body url.Values, header ...string) *http.Response {
	s.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body.Encode()))
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "From" {
			r.RemoteAddr = header[i+1]
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w.Result()
}

// login returns the cookie of a session.
func (s *site) login() string {
	s.Helper()
	answer := s.asks("POST", "/login", url.Values{"name": {"anna"}, "password": {annasPassword}, "next": {"/jobs"}})
	require.Equal(s, http.StatusSeeOther, answer.StatusCode)
	require.Equal(s, "/jobs", answer.Header.Get("Location"))
	return cookieOf(s.T, answer, sessionCookie)
}

func cookieOf(t *testing.T, answer *http.Response, name string) string {
	t.Helper()
	for _, c := range answer.Cookies() {
		if c.Name == name || regexp.MustCompile("^"+name+"-[0-9a-f]{8}$").MatchString(c.Name) {
			require.True(t, c.Secure)
			require.True(t, c.HttpOnly)
			require.Equal(t, "/", c.Path)
			require.Empty(t, c.Domain)
			return c.Name + "=" + c.Value
		}
	}
	t.Fatalf("there is no cookie %s", name)
	return ""
}

// who returns the name that the page was told; empty if nobody got there.
func who(t *testing.T, answer *http.Response) string {
	t.Helper()
	if answer.StatusCode != http.StatusOK {
		return ""
	}
	var id Identity
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&id))
	return id.Name
}

// causeOf returns the word for programs of a problem.
func causeOf(t *testing.T, answer *http.Response) string {
	t.Helper()
	var p struct{ Cause string }
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&p))
	return p.Cause
}

func TestNobodyGetsIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) { c.Public = func(path string) bool { return strings.HasPrefix(path, "/assets/") } })
	api := s.asks("GET", "/api/v1/me", nil)
	require.Equal(t, http.StatusUnauthorized, api.StatusCode)
	require.Equal(t, "application/problem+json", api.Header.Get("Content-Type"))
	require.Equal(t, "unauthenticated", causeOf(t, api))
	page := s.asks("GET", "/jobs?status=OK", nil)
	require.Equal(t, http.StatusSeeOther, page.StatusCode)
	require.Equal(t, "/login?next=%2Fjobs%3Fstatus%3DOK", page.Header.Get("Location"))
	require.Equal(t, http.StatusUnauthorized, s.asks("POST", "/jobs", nil).StatusCode)
	require.Equal(t, http.StatusOK, s.asks("GET", "/assets/page.css", nil).StatusCode)
	login := s.asks("GET", "/login", nil)
	require.Equal(t, http.StatusOK, login.StatusCode)
	for _, answer := range []*http.Response{api, page, login} {
		for name, value := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin",
		} {
			require.Equal(t, value, answer.Header.Get(name))
		}
		policy := answer.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "frame-ancestors 'none'")
		require.NotContains(t, policy, "unsafe")
	}
	forged := []string{sessionCookie + "=", sessionCookie + "=x", sessionCookie + "=" + strings.Repeat("A", 4000)}
	for _, cookie := range forged {
		require.Equal(t, http.StatusUnauthorized, s.asks("GET", "/api/v1/me", nil, "Cookie", cookie).StatusCode)
	}
}

func TestALogin(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	cookie := s.login()
	require.Equal(t, "anna", who(t, s.asks("GET", "/api/v1/me", nil, "Cookie", cookie)))
	require.NotContains(t, s.log.String(), annasPassword)
	require.NotContains(t, s.log.String(), cookie[len(sessionCookie)+1:])
	for name, form := range map[string]url.Values{
		"a wrong password":    {"name": {"anna"}, "password": {"wrong"}},
		"nobody":              {"name": {"nobody"}, "password": {annasPassword}},
		"one without":         {"name": {"outside"}, "password": {""}},
		"no name":             {"password": {annasPassword}},
		"too long a password": {"name": {"anna"}, "password": {strings.Repeat("x", 2000)}},
	} {
		answer := s.asks("POST", "/login", form)
		require.Equal(t, http.StatusUnauthorized, answer.StatusCode, name)
		require.Empty(t, answer.Cookies(), name)
	}
	require.Equal(t, http.StatusBadRequest, s.asks("POST", "/login", url.Values{"name": {strings.Repeat("x", maxForm)}}).StatusCode)
	out := s.asks("POST", "/logout", nil, "Cookie", cookie)
	require.Equal(t, sessionCookie+"=", cookieOf(t, out, sessionCookie))
	require.Equal(t, http.StatusMethodNotAllowed, s.asks("GET", "/logout", nil, "Cookie", cookie).StatusCode, "a link logs nobody out")
}

func TestWhereALoginLeads(t *testing.T) {
	t.Parallel()
	g := Guard{cfg: Config{Prefix: "/cron"}}
	for next, wanted := range map[string]string{
		"/cron/jobs?a=b#c": "/cron/jobs?a=b#c", "": "/cron/", "/": "/cron/", "//evil.com": "/cron/", "/cron//evil": "/cron//evil",
		"https://evil.com/cron/": "/cron/", `/cron/\evil.com`: "/cron/", "/cron/\r\nX: y": "/cron/", "/cronevil": "/cron/",
	} {
		require.Equal(t, wanted, g.next(next), next)
	}
	bare := Guard{}
	for _, next := range []string{"//evil.com", `/\evil.com`, "evil.com", "/" + strings.Repeat("x", longestNext)} {
		require.Equal(t, "/", bare.next(next))
	}
}

// A session ends after an hour without a request, after twelve hours, and when its user's generation is raised or
// their password is taken away.
func TestASessionEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(dir, "users.yaml")
		write := func(text string) { writeUsers(t, path, text) }
		write(usersText(0, nobodysSum))
		s := newSite(t, func(c *Config) { c.UsersFile = path })
		lives := func(cookie string) bool {
			return who(t, s.asks("GET", "/api/v1/me", nil, "Cookie", cookie)) == "anna"
		}
		idle, used := s.login(), s.login()
		began := time.Now()
		for time.Since(began) < sessionFor-time.Minute {
			time.Sleep(50 * time.Minute)
			answer := s.asks("GET", "/api/v1/me", nil, "Cookie", used)
			if answer.StatusCode != http.StatusOK {
				break
			}
			used = cookieOf(t, answer, sessionCookie)
			require.Equal(t, time.Since(began) < sessionIdle, lives(idle))
		}
		require.GreaterOrEqual(t, time.Since(began), sessionFor, "one that is used lasts twelve hours")

		cookie := s.login()
		id, _ := s.guard.identify(httptest.NewRecorder(), withCookie(cookie))
		require.True(t, id.Valid(time.Now()))
		require.Equal(t, time.Now().Add(sessionIdle).Unix(), id.Until.Unix())
		write(strings.Replace(usersText(0, nobodysSum), "operator", "viewer", 1))
		time.Sleep(rereadEvery)
		require.True(t, lives(cookie), "other grants end no session")
		require.False(t, id.Valid(time.Now()), "but a stream that stands on them")
		require.Equal(t, Viewer, id.Again(time.Now()).Grants[0].Role, "and a request goes on with them")
		write(usersText(1, nobodysSum))
		time.Sleep(rereadEvery)
		require.False(t, lives(cookie), "the generation was raised")
		require.Equal(t, Identity{}, id.Again(time.Now()))
		cookie = s.login()
		require.True(t, lives(cookie))
		write(strings.Replace(usersText(1, nobodysSum), "password: '"+annasHash+"', ", "", 1))
		time.Sleep(rereadEvery)
		require.False(t, lives(cookie), "the password was taken away")
	})
}

func withCookie(cookie string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Cookie", cookie)
	return r
}

// A session outlives a change of keys for as long as its key is in the file, and is taken by every server that has it.
func TestKeysAreRotated(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	old, fresh := NewKey(), NewKey()
	with := func(keys ...string) *site {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(keys, "\n")), 0o600))
		return newSite(t, func(c *Config) { c.KeyFile = path })
	}
	cookie := with(old).login()
	is := func(s *site, cookie string) string { return who(t, s.asks("GET", "/api/v1/me", nil, "Cookie", cookie)) }
	both := with(fresh, old)
	require.Equal(t, "anna", is(both, cookie))
	require.Equal(t, "anna", is(with(fresh), both.login()), "the first key makes new sessions")
	require.Empty(t, is(with(fresh), cookie))
	require.Empty(t, is(newSite(t, nil), cookie))

	annas, r := browser{}, httptest.NewRequest("POST", "/login", nil)
	annas.asks(with(old), "POST", "/login", url.Values{"name": {"anna"}, "password": {annasPassword}})
	for name, value := range annas {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	require.NotEmpty(t, both.guard.deviceOf(r, "anna", 0), "a browser stays known, too")
	require.Empty(t, with(fresh).guard.deviceOf(r, "anna", 0))
}

// browser keeps the cookies of a host.
type browser map[string]string

func (b browser) asks(s *site, method, path string, body url.Values) *http.Response {
	var sent []string
	for name, value := range b {
		sent = append(sent, name+"="+value)
	}
	answer := s.asks(method, path, body, "Cookie", strings.Join(sent, "; "))
	for _, c := range answer.Cookies() {
		if b[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b, c.Name)
		}
	}
	return answer
}

// While keys are changed, servers side by side have the old key, both, or the new one. A session lasts meanwhile, and ends
// at all of them with a logout at any that could use it; who logs in afterwards is the new one everywhere.
func TestALogoutWhileKeysAreChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, fresh := NewKey(), NewKey()
	for name, keys := range map[string][2]string{
		"the new key is brought out": {fresh + "\n" + old, old}, "the old key is taken away": {fresh, fresh + "\n" + old},
	} {
		synctest.Test(t, func(t *testing.T) {
			var servers []*site
			for i, text := range keys {
				path := filepath.Join(dir, fmt.Sprint(name, i))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
				servers = append(servers, newSite(t, func(c *Config) {
					c.KeyFile = path
					users := strings.Replace(usersText(0, nobodysSum), "outside: {", "berta: {password: '"+annasHash+"', ", 1)
					require.NoError(t, os.WriteFile(c.UsersFile, []byte(users), 0o600))
				}))
			}
			for i := range 8 {
				at, goes, out := servers[i&1], servers[1-i&1], servers[i>>1&1]
				b := browser{}
				is := func(s *site) string { return who(t, b.asks(s, "GET", "/api/v1/me", nil)) }
				login := func(name string) {
					b.asks(at, "POST", "/login", url.Values{"name": {name}, "password": {annasPassword}})
				}
				login("anna")
				if i&4 != 0 { // so that another server renews the session
					time.Sleep(2 * renewAfter)
				}
				require.Equal(t, "anna", is(goes))
				require.Equal(t, "anna", is(at))
				b.asks(out, "POST", "/logout", nil)
				for _, s := range servers {
					require.Empty(t, is(s), "%s, %03b", name, i)
				}
				login("berta")
				require.Equal(t, "berta", is(goes))
				require.Equal(t, "berta", is(at))
			}
		})
	}
}

// A browser sends the cookies of a host to all its ports: servers with other keys, or another tag, keep theirs apart, and
// those that share a key share sessions.
func TestServersOfOneHost(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(NewKey()), 0o600))
	keyed := func(c *Config) { c.KeyFile = file }
	tagged := func(tag string) func(*Config) { return func(c *Config) { c.Cookie = tag } }
	is := func(s *site, cookies string) string {
		return who(t, s.asks("GET", "/api/v1/me", nil, "Cookie", cookies))
	}
	all := map[string]*site{"keys": newSite(t, keyed), "other keys": newSite(t, func(c *Config) {
		c.KeyFile = filepath.Join(t.TempDir(), "others")
		require.NoError(t, os.WriteFile(c.KeyFile, []byte(NewKey()), 0o600))
	}), "8080": newSite(t, tagged("8080")), "8081": newSite(t, tagged("8081"))}
	var sent []string
	names := make(map[string]bool)
	for name, s := range all {
		login := s.asks("POST", "/login", url.Values{"name": {"anna"}, "password": {annasPassword}})
		require.Len(t, login.Cookies(), 2, name) // of the session, and of the browser
		for _, c := range login.Cookies() {
			sent = append(sent, c.Name+"="+c.Value)
			names[c.Name] = true
		}
	}
	require.Len(t, names, 2*len(all))
	for name, s := range all {
		require.Equal(t, "anna", is(s, strings.Join(sent, "; ")), name)
	}
	require.Equal(t, "anna", is(newSite(t, keyed), all["keys"].login()), "servers that share keys")
	out := all["keys"].asks("POST", "/logout", nil, "Cookie", strings.Join(sent, "; "))
	require.Len(t, out.Cookies(), 1, "of the others nobody is logged out")
	_, err := New(Config{Cookie: "a=b"})
	require.ErrorContains(t, err, `Cookie "a=b"`)
}

func TestTokensGetIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		token, sum := NewToken()
		path := filepath.Join(dir, "users.yaml")
		require.NoError(t, os.WriteFile(path, []byte(usersText(0, sum)), 0o600))
		s := newSite(t, func(c *Config) { c.UsersFile = path })
		cookie := s.login()
		require.Equal(t, "deploy", who(t, s.asks("GET", "/api/v1/me", nil, "Authorization", "Bearer "+token)))
		other, _ := NewToken()
		for _, wrong := range []string{"Bearer " + other, "Bearer ", "Bearer x"} {
			answer := s.asks("GET", "/api/v1/me", nil, "Authorization", wrong, "Cookie", cookie)
			require.Equal(t, http.StatusUnauthorized, answer.StatusCode, "a wrong token is not made good by a session")
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		id, _ := s.guard.identify(httptest.NewRecorder(), r)
		require.True(t, id.Valid(time.Now()))
		time.Sleep(24 * time.Hour)
		require.Empty(t, who(t, s.asks("GET", "/api/v1/me", nil, "Authorization", "Bearer "+token)), "it has ended")
		require.False(t, id.Valid(time.Now()))
		require.NotContains(t, s.log.String(), token)
	})
}

func TestATrustedProxy(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) {
		c.Proxy = &Proxy{From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, UserHeader: "X-User", GroupsHeader: "X-Groups"}
	})
	from := "10.1.2.3:4000"
	require.Equal(t, "zoe", who(t, s.asks("GET", "/api/v1/me", nil, "From", from, "X-User", "zoe")))
	require.Empty(t, who(t, s.asks("GET", "/api/v1/me", nil, "From", "192.0.2.1:4000", "X-User", "zoe")), "of another address")
	require.Empty(t, who(t, s.asks("GET", "/api/v1/me", nil, "From", from, "X-User", "zoe", "X-User", "root")), "twice")
	require.Empty(t, who(t, s.asks("GET", "/api/v1/me", nil, "From", from, "X-User", "")))
	require.Equal(t, "zoe", who(t, s.asks("GET", "/api/v1/me", nil, "From", from, "X-User", "zoe", "Authorization", "Bearer eyJhbGciOi.x.y")), "the proxy's own token")
	other, _ := NewToken()
	require.Empty(t, who(t, s.asks("GET", "/api/v1/me", nil, "From", from, "X-User", "zoe", "Authorization", "Bearer "+other)), "a token of ours that is not in force")
	answer := s.asks("GET", "/api/v1/me", nil, "From", from, "X-User", "zoe", "X-Groups", "sre, others")
	var id Identity
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&id))
	require.Equal(t, []Grant{{Admin, "*", ""}}, id.Grants)

	for forwarded, client := range map[string]string{
		"192.0.2.9": "192.0.2.9", "198.51.100.1, 192.0.2.9, 10.0.0.7": "192.0.2.9", "": "10.1.2.3", "nonsense": "10.1.2.3",
		"192.0.2.9, nonsense": "10.1.2.3", "192.0.2.9:51234": "192.0.2.9", "198.51.100.1:80, 192.0.2.9:51234, 10.0.0.7:443": "192.0.2.9",
		"[2001:db8::7]:51234": "2001:db8::7", "2001:db8::7": "2001:db8::7", "192.0.2.9:x": "10.1.2.3",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = from
		r.Header.Set("X-Forwarded-For", forwarded)
		require.Equal(t, client, s.guard.cfg.Proxy.clientOf(r).String(), forwarded)
		r.RemoteAddr = "203.0.113.1:1"
		require.Equal(t, "203.0.113.1", s.guard.cfg.Proxy.clientOf(r).String(), "of another address")
	}
}

// Pages of other sites write nothing, in whatever way the browser is known.
func TestOtherSitesWriteNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) { c.Origins = []string{"https://ops.example.com"} })
	cookie := s.login()
	for name, row := range map[string]struct {
		header []string
		status int
	}{
		"the own page":           {[]string{"Sec-Fetch-Site", "same-origin"}, http.StatusOK},
		"another site":           {[]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"a neighbour":            {[]string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"an old browser's page":  {[]string{"Origin", "http://example.com"}, http.StatusOK},
		"an old browser's other": {[]string{"Origin", "http://evil.com"}, http.StatusForbidden},
		"an origin that may":     {[]string{"Origin", "https://ops.example.com", "Sec-Fetch-Site", "cross-site"}, http.StatusOK},
		"no browser":             {nil, http.StatusOK},
	} {
		answer := s.asks("POST", "/api/v1/x", nil, append([]string{"Cookie", cookie}, row.header...)...)
		require.Equal(t, row.status, answer.StatusCode, name)
		if row.status == http.StatusForbidden {
			require.Equal(t, "other site", causeOf(t, answer), name)
		}
	}
	require.Equal(t, http.StatusForbidden, s.asks("POST", "/login", url.Values{}, "Sec-Fetch-Site", "cross-site").StatusCode)
}

// A link of another site leads to the page, as the browser asks a second time, with the cookie.
func TestALinkOfAnotherSite(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) { c.Prefix = "/cron" })
	answer := s.asks("GET", `/jobs?match="><script>`, nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	require.Equal(t, http.StatusOK, answer.StatusCode)
	var body bytes.Buffer
	_, err := body.ReadFrom(answer.Body)
	require.NoError(t, err)
	require.Contains(t, body.String(), `content="0;url=/cron/jobs?match=`)
	require.NotContains(t, body.String(), "<script>")
	bare := newSite(t, nil)
	elsewhere := bare.asks("GET", "//evil.com/x", nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	body.Reset()
	_, err = body.ReadFrom(elsewhere.Body)
	require.NoError(t, err)
	require.Contains(t, body.String(), `content="0;url=/"`, "and to no other site")
	again := s.asks("GET", "/jobs", nil, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate")
	require.Equal(t, "/cron/login?next=%2Fcron%2Fjobs", again.Header.Get("Location"))
}

func TestWithoutAuthentication(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) { c.UsersFile = "" })
	require.False(t, s.guard.Authenticated())
	ask := func(host string) *http.Response {
		r := httptest.NewRequest("GET", "/api/v1/me", nil)
		r.Host = host
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		return w.Result()
	}
	for _, host := range []string{"localhost:8080", "127.0.0.1", "[::1]:80", "[::1]"} {
		require.Equal(t, "anonymous", who(t, ask(host)), host)
	}
	require.Equal(t, http.StatusMisdirectedRequest, ask("evil.com").StatusCode, "a name of elsewhere that leads here")
	require.True(t, newSite(t, nil).guard.Authenticated())
}

func TestWhoGuessesWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBackoff()
		here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("198.51.100.7")
		for range ofBoth.free {
			require.Zero(t, b.wait("anna", here, "", time.Now()))
		}
		require.Zero(t, b.wait("anna", here, "", time.Now()))
		waited := b.wait("anna", here, "", time.Now())
		require.Equal(t, time.Second, waited)
		require.Zero(t, b.wait("anna", there, "", time.Now()), "somebody elsewhere is not locked out")
		for range 30 { // who waits as told waits longer each time
			time.Sleep(b.wait("anna", here, "", time.Now()))
			require.Zero(t, b.wait("anna", here, "", time.Now()))
			next := b.wait("anna", here, "", time.Now())
			require.GreaterOrEqual(t, next, waited)
			waited = next
		}
		require.Equal(t, ofBoth.most, waited)
		require.Positive(t, b.wait("ben", here, "", time.Now()), "an address that guesses waits with every name")
		time.Sleep(waited)
		require.Zero(t, b.wait("anna", here, "", time.Now()))
		b.succeeded("anna", here, "")
		require.Zero(t, b.wait("anna", here, "", time.Now()))

		spread := newBackoff()
		for i := range 500 {
			_ = spread.wait("anna", netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}), "", time.Now())
		}
		require.LessOrEqual(t, spread.wait("anna", there, "", time.Now()), ofUser.most, "from many addresses a user is slowed down, not locked out")
		one, other := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
		require.Equal(t, network(one), network(other), "who has a network has not as many tries as addresses")
	})
}

func TestBackoffIsBounded(t *testing.T) {
	t.Parallel()
	b := newBackoff()
	now := time.Now()
	for i := range mostFailures / 2 {
		b.wait(fmt.Sprint(i), netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), "", now.Add(time.Duration(i)*time.Millisecond))
	}
	require.LessOrEqual(t, len(b.entries), mostFailures+3)
}

func TestTooManyTries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		wrong := url.Values{"name": {"anna"}, "password": {"wrong"}}
		const tries = 12
		statuses := make(chan int, tries)
		for range tries { // at once: none of them is free because the others have not failed yet
			go func() { statuses <- s.asks("POST", "/login", wrong).StatusCode }()
		}
		count := make(map[int]int)
		for range tries {
			count[<-statuses]++
		}
		require.Equal(t, map[int]int{http.StatusUnauthorized: ofBoth.free + 1, http.StatusTooManyRequests: tries - ofBoth.free - 1}, count)
		answer := s.asks("POST", "/login", url.Values{"name": {"anna"}, "password": {annasPassword}})
		require.Equal(t, http.StatusTooManyRequests, answer.StatusCode, "not even the right password")
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
		require.Equal(t, http.StatusSeeOther, s.asks("POST", "/login", url.Values{"name": {"anna"}, "password": {annasPassword}}, "From", "198.51.100.7:1").StatusCode)
	})
}

// Who guesses a user's password, from however many addresses, and who is at the user's own address, has nobody wait in a
// browser in which the user has logged in before. Such a browser has no more tries than an address.
func TestAKnownBrowserDoesNotWaitForGuesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		annas, bens := browser{}, browser{}
		form := func(name, password string) url.Values { return url.Values{"name": {name}, "password": {password}} }
		status := func(b browser, name, password string) int {
			t.Helper()
			return b.asks(s, "POST", "/login", form(name, password)).StatusCode
		}
		guess := func() {
			for n := range 200 {
				s.guard.backoff.wait("anna", netip.MustParseAddr(fmt.Sprintf("2001:db8:0:%x::1", n)), "", time.Now())
			}
			for n := range ofAddress.free + 5 { // programs with old passwords behind the same address as anna
				s.guard.backoff.wait(fmt.Sprint("program ", n), netip.MustParseAddr("192.0.2.1"), "", time.Now())
			}
		}
		require.Equal(t, http.StatusSeeOther, status(annas, "anna", annasPassword))
		cookie := annas[deviceCookie]
		require.NotEmpty(t, cookie)
		for range 3 {
			guess()
			require.Equal(t, http.StatusTooManyRequests, status(browser{}, "anna", annasPassword), "who has not logged in there yet")
			require.Equal(t, http.StatusTooManyRequests, status(browser{deviceCookie: "x" + cookie}, "anna", annasPassword))
			require.Equal(t, http.StatusTooManyRequests, status(browser{deviceCookie: annas[sessionCookie]}, "anna", annasPassword))
			bens[deviceCookie] = annas[deviceCookie]
			require.Equal(t, http.StatusTooManyRequests, status(bens, "ben", "guess"), "it is for anna")
			require.Equal(t, http.StatusSeeOther, status(annas, "anna", annasPassword))
			b := annas.asks(s, "POST", "/logout", url.Values{})
			require.Equal(t, http.StatusSeeOther, b.StatusCode)
		}
		stolen := browser{deviceCookie: annas[deviceCookie]}
		for range ofBoth.free + 1 {
			require.Equal(t, http.StatusUnauthorized, status(stolen, "anna", "guess"))
		}
		require.Equal(t, http.StatusTooManyRequests, status(stolen, "anna", "guess"))
		time.Sleep(deviceFor - time.Hour)
		guess()
		require.Equal(t, http.StatusSeeOther, status(annas, "anna", annasPassword))
		s.write(usersText(1, nobodysSum)) // her sessions are ended
		time.Sleep(time.Minute)
		guess()
		require.Equal(t, http.StatusTooManyRequests, status(annas, "anna", annasPassword))
		time.Sleep(time.Hour)
		require.Equal(t, http.StatusSeeOther, status(annas, "anna", annasPassword))
		time.Sleep(deviceFor + time.Minute)
		guess()
		require.Equal(t, http.StatusTooManyRequests, status(annas, "anna", annasPassword), "it is too long ago")
	})
	many := newBackoff()
	var waited time.Duration
	for n := range ofUser.free + 10 {
		waited = max(waited, many.wait("anna", netip.MustParseAddr("192.0.2.1"), fmt.Sprint(n), time.Now()))
	}
	require.Positive(t, waited, "of many browsers one waits for the others")
}

func TestFaultySettings(t *testing.T) {
	t.Parallel()
	right := OIDC{Issuer: "https://id.example.com", ClientID: "x", RedirectURL: "https://cron.example.com/oidc/callback"}
	with := func(change func(*OIDC)) Config {
		o := right
		change(&o)
		return Config{OIDC: &o}
	}
	for wanted, cfg := range map[string]Config{
		`Prefix "cron/"`:      {Prefix: "cron/"},
		"Proxy.From":          {Proxy: &Proxy{UserHeader: "X-User"}},
		`OIDC.Issuer "x"`:     with(func(o *OIDC) { o.Issuer = "x" }),
		"OIDC.RedirectURL":    with(func(o *OIDC) { o.RedirectURL = "http://cron.example.com/" }),
		"OIDC.ClientID":       with(func(o *OIDC) { o.ClientID = "" }),
		`Origins "no origin"`: {Origins: []string{"no origin"}},
	} {
		_, err := New(cfg)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, wanted)
	}
	_, err := New(with(func(*OIDC) {}))
	require.NoError(t, err)
}

func FuzzCookie(f *testing.F) {
	keys, err := readKeys("")
	require.NoError(f, err)
	c := newCookies(keys, "", false, sessionFor)
	w := httptest.NewRecorder()
	require.NoError(f, c.setSession(w, session{Name: "anna", Began: time.Now().Unix()}, time.Now()))
	right := w.Result().Cookies()[0].Value
	f.Add(right)
	f.Add(right[:len(right)-2])
	f.Fuzz(func(t *testing.T, value string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Cookie", sessionCookie+"="+value)
		s, is := c.session(r, time.Now())
		if is {
			require.Equal(t, "anna", s.Name, "only what was written is read")
		}
	})
}

// A login that nobody had the time to check is no failure, whatever it says.
func TestALoginThatIsNotChecked(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for range hashingAtOnce {
		s.guard.hasher.slots <- struct{}{}
	}
	form := url.Values{"name": {"anna"}, "password": {annasPassword}}
	for range ofAddress.free + 2 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := httptest.NewRequestWithContext(ctx, "POST", "/login", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
	}
	for range hashingAtOnce {
		<-s.guard.hasher.slots
	}
	require.Equal(t, http.StatusSeeOther, s.asks("POST", "/login", form).StatusCode)

	b, from, now := newBackoff(), netip.MustParseAddr("192.0.2.1"), time.Now()
	for i := range ofBoth.free + 1 {
		require.Zero(t, b.wait("ben", from, "", now.Add(time.Duration(i))))
	}
	require.Positive(t, b.wait("ben", from, "", now.Add(time.Millisecond)))
	for i := range 2 {
		b.giveBack("ben", from, "", now.Add(time.Duration(i)))
		require.Zero(t, b.wait("ben", from, "", now.Add(time.Millisecond)), "five failures are free")
	}
	require.Zero(t, b.wait("ben", from, "", now.Add(time.Minute)))
	b.giveBack("ben", from, "", now)
	require.Positive(t, b.wait("ben", from, "", now.Add(time.Minute)), "of two that are one too many, the later one makes wait")
}
