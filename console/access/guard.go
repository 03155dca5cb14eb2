package access

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// anonymous is everybody where nobody is asked.
var anonymous = Identity{Name: "anonymous", How: ByNothing, Grants: []Grant{{Role: Admin, Namespace: all}}}

// Guard finds out who asks. Its methods are safe for concurrent use.
type Guard struct {
	cfg      Config
	users    *usersFile
	cookies  cookies
	devices  cookies // that outlast sessions
	hasher   *hasher
	backoff  *backoff
	provider *provider // nil: none
	origins  *http.CrossOriginProtection
	tally    tally
}

// New returns a guard. It reads the users file and the key file. If there is an OpenID provider, call Run.
// The error is [ErrInvalid], or that of a file.
func New(cfg Config) (*Guard, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	g := &Guard{cfg: cfg, hasher: newHasher(), backoff: newBackoff(), origins: http.NewCrossOriginProtection()}
	if g.users, err = openUsers(cfg.UsersFile, cfg.Logger); err != nil {
		return nil, err
	}
	keys, err := readKeys(cfg.KeyFile)
	if err != nil {
		return nil, err
	}
	g.cookies = newCookies(keys, cfg.Cookie, cfg.KeyFile != "", sessionFor)
	g.devices = newCookies(keys, cfg.Cookie, cfg.KeyFile != "", deviceFor)
	if cfg.OIDC != nil {
		g.provider = newProvider(*cfg.OIDC)
	}
	for _, origin := range cfg.Origins {
		if err := g.origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("%w Origins %q: %w", ErrInvalid, origin, err)
		}
	}
	return g, nil
}

// Run looks for the OpenID provider, and goes on until it answers or ctx ends; before that nobody can log in there. Without a
// provider it returns at once.
func (g *Guard) Run(ctx context.Context) {
	if g.provider == nil {
		return
	}
	g.provider.run(ctx, func(err error, pause time.Duration) {
		g.cfg.Logger.Warn("the OpenID provider does not answer", "issuer", g.cfg.OIDC.Issuer, "again_in", pause, "error", err)
	})
}

// Authenticated tells whether anybody is asked who they are.
func (g *Guard) Authenticated() bool {
	return g.cfg.UsersFile != "" || g.cfg.OIDC != nil || g.cfg.Proxy != nil && g.cfg.Proxy.UserHeader != ""
}

// Protect lets requests through to next, with who asks in their context. Nobody gets a 401 below /api/ and of /metrics, and
// is sent to the login elsewhere. Requests by which another site would have somebody's browser write get a 403. Every answer
// has headers that keep other sites out of the page.
//
// Paths are those behind the prefix: put http.StripPrefix before the guard.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header(), r)
		if !g.Authenticated() && !onLoopback(r.Host) {
			Refuse(w, http.StatusMisdirectedRequest, "other host", "this server answers on loopback only, and not as "+r.Host)
			return
		}
		if err := g.origins.Check(r); err != nil {
			Refuse(w, http.StatusForbidden, "other site", "another site may not write here")
			return
		}
		who, known := g.identify(w, r)
		switch {
		case known:
			next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), who)))
		case g.open(r.URL.Path):
			next.ServeHTTP(w, r)
		default:
			g.turnAway(w, r)
		}
	})
}

// open tells whether a path is for everybody.
func (g *Guard) open(path string) bool {
	switch path {
	case pathLogin, pathLogout, pathOIDC, pathCallback:
		return true
	default:
		return g.cfg.Public(path)
	}
}

func (g *Guard) turnAway(w http.ResponseWriter, r *http.Request) {
	switch isPage := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == pathMetrics || !isPage:
		w.Header().Set("WWW-Authenticate", `Bearer realm="elasticron"`)
		Refuse(w, http.StatusUnauthorized, "unauthenticated", "log in, or send a token that is in force")
	case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") == "navigate":
		bounce(w, g.next(g.cfg.Prefix+r.URL.RequestURI())) // browsers do not send the cookie along with a link of another site
	default:
		http.Redirect(w, r, g.cfg.Prefix+pathLogin+"?next="+url.QueryEscape(g.cfg.Prefix+r.URL.RequestURI()), http.StatusSeeOther)
	}
}

// identify tells who asks; false if nobody whom the guard knows.
func (g *Guard) identify(w http.ResponseWriter, r *http.Request) (Identity, bool) {
	if !g.Authenticated() {
		return anonymous, true
	}
	now, d := time.Now(), g.users.current()
	token, given := bearer(r.Header.Get("Authorization"))
	if strings.HasPrefix(token, tokenPrefix) {
		sum, right := sumOfToken(token)
		return g.byToken(d, sum, right, now)
	}
	if name, groups, is := g.cfg.Proxy.says(r); is {
		return g.identity(Identity{Name: name, How: ByProxy}, func(d *directory) ([]Grant, bool) {
			return d.grantsOf(name, groups), true
		})
	}
	if given { // a proxy may hand on a token of its own, but a session does not make a wrong one good
		return Identity{}, false
	}
	s, is := g.cookies.session(r, now)
	if !is || !s.inForce(d) {
		return Identity{}, false
	}
	if now.Sub(time.Unix(s.Seen, 0)) >= renewAfter {
		_ = g.cookies.setSession(w, s, now) // it was short enough before
		s.Seen = now.Unix()
	}
	g.tally.use(s, now)
	return g.bySession(s)
}

func (g *Guard) bySession(s session) (Identity, bool) {
	return g.identity(Identity{Name: s.Name, How: BySession, Until: s.until()}, func(d *directory) ([]Grant, bool) {
		return d.grantsOf(s.Name, s.Groups), s.inForce(d)
	})
}

func (g *Guard) byToken(d *directory, sum tokenSum, right bool, now time.Time) (Identity, bool) {
	t, known := d.tokens[sum]
	if !right || !known || !now.Before(t.end) {
		return Identity{}, false
	}
	return g.identity(Identity{Name: t.name, How: ByToken, Until: t.end}, func(d *directory) ([]Grant, bool) {
		t, known := d.tokens[sum]
		return t.grants, known && time.Now().Before(t.end)
	})
}

// identity completes who somebody is with what the users file grants them now, and remembers how to ask that again.
func (g *Guard) identity(id Identity, look func(*directory) ([]Grant, bool)) (Identity, bool) {
	grants, known := look(g.users.current())
	if !known {
		return Identity{}, false
	}
	id.Grants = grants
	id.look = func() ([]Grant, bool) { return look(g.users.current()) }
	return id, true
}

// policy lets a page load only what the server itself has, and nobody put it into a frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'self'; frame-ancestors 'none'"

// secure sets the headers that every answer has.
func secure(h http.Header, r *http.Request) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store") // files that never change say otherwise
	if r.TLS != nil {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// Refuse answers with a problem, as RFC 9457 has it. The cause is a word for programs, as those of the API.
func Refuse(w http.ResponseWriter, status int, cause, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Cause  string `json:"cause"`
	}{"about:blank", http.StatusText(status), status, detail, cause})
}
