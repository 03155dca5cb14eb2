package access

import (
	"context"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The guard's own routes, behind the prefix.
const (
	pathLogin    = "/login"
	pathLogout   = "/logout"
	pathOIDC     = "/oidc/login"
	pathCallback = "/oidc/callback"
)

// pathMetrics is for programs, which a login page would not help.
const pathMetrics = "/metrics"

const (
	maxForm     = 64 << 10
	hashWithin  = 10 * time.Second // for a login to have its turn
	longestNext = 1_900            // so that the cookie of a login at the provider has it, too
)

const tooManyGroups = "The server knows who you are, but you are in too many groups for a session. " +
	"Ask whoever runs this server to grant something to fewer of them."

// Routes serves GET and POST /login, POST /logout, GET /oidc/login and GET /oidc/callback. It stands behind Protect.
func (g *Guard) Routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathLogin, g.showLogin)
	mux.HandleFunc("POST "+pathLogin, g.login)
	mux.HandleFunc("POST "+pathLogout, g.logout)
	if g.provider != nil {
		mux.HandleFunc("GET "+pathOIDC, g.loginAtProvider)
		mux.HandleFunc("GET "+pathCallback, g.callback)
	}
	return mux
}

func (g *Guard) showLogin(w http.ResponseWriter, r *http.Request) {
	g.page(w, r, http.StatusOK, LoginPage{Next: g.next(r.URL.Query().Get("next"))})
}

// page writes the login page.
func (g *Guard) page(w http.ResponseWriter, r *http.Request, status int, p LoginPage) {
	p.Password, p.OIDC = g.cfg.UsersFile != "", g.provider != nil
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if p.Wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(p.Wait.Seconds())))
	}
	w.WriteHeader(status)
	if g.cfg.LoginPage != nil {
		g.cfg.LoginPage(w, r, p)
		return
	}
	_ = plainLogin.Execute(w, struct {
		LoginPage
		Base string // its links are told from here, also where it answers the provider's way back
	}{p, g.cfg.Prefix + "/"})
}

var plainLogin = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><base href="{{.Base}}"><title>Log in - Elasticron</title><h1>Log in</h1>
{{if .Failed}}<p role="alert">The name and the password do not match.</p>{{end}}
{{if .Wait}}<p role="alert">Too many tries failed. Try again in {{.Wait}}.</p>{{end}}
{{if .Problem}}<p role="alert">{{.Problem}}</p>{{end}}
{{if .Password}}<form method="post" action="login"><input type="hidden" name="next" value="{{.Next}}">
<label>Name <input name="name" value="{{.Name}}" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button></form>{{end}}
{{if .OIDC}}<p><a href="oidc/login?next={{.Next}}">Log in at the OpenID provider</a></p>{{end}}
</html>
`))

// next returns where to go after a login: only a path of this server, or else its first page.
func (g *Guard) next(wanted string) string {
	first := g.cfg.Prefix + "/"
	bad := func(r rune) bool { return r <= ' ' || r == '\\' || r >= 0x7f }
	if !strings.HasPrefix(wanted, first) || strings.HasPrefix(wanted, "//") || len(wanted) > longestNext || strings.ContainsFunc(wanted, bad) {
		return first
	}
	return wanted
}

// login checks a name and a password. Whatever is wrong, the answer is the same and takes as long.
func (g *Guard) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		g.page(w, r, http.StatusBadRequest, LoginPage{Next: g.next(""), Problem: "The form could not be read."})
		return
	}
	name, password := r.PostForm.Get("name"), r.PostForm.Get("password")
	page := LoginPage{Next: g.next(r.PostForm.Get("next")), Name: name}
	if checkName(name) != nil || len(password) > MaxPassword {
		g.tally.failed.Add(1)
		page.Name, page.Failed = "", true
		g.page(w, r, http.StatusUnauthorized, page)
		return
	}
	from, now := g.cfg.Proxy.clientOf(r), time.Now()
	u := g.users.current().users[name]
	device := g.deviceOf(r, name, u.generation)
	if wait := g.backoff.wait(name, from, device, now); wait > 0 {
		g.tally.delayed.Add(1)
		page.Wait = (wait + time.Second - 1).Truncate(time.Second)
		g.page(w, r, http.StatusTooManyRequests, page)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), hashWithin)
	defer cancel()
	right, err := g.hasher.matches(ctx, password, u.password)
	switch {
	case err != nil: // nobody has looked at the password
		g.backoff.giveBack(name, from, device, now)
		page.Problem = "Too many others log in at the moment. Try again."
		g.page(w, r, http.StatusServiceUnavailable, page)
	case !right:
		g.tally.failed.Add(1)
		g.cfg.Logger.Warn("a login failed", "user", name, "from", from)
		page.Failed = true
		g.page(w, r, http.StatusUnauthorized, page)
	default:
		g.backoff.succeeded(name, from, device)
		if !g.begin(w, r, page.Next, session{Name: name, Password: true, Generation: u.generation}) {
			return
		}
		g.keepDevice(w, name, u.generation, device)
		http.Redirect(w, r, page.Next, http.StatusSeeOther)
	}
}

// begin gives a session to whoever has proved who they are. If it cannot, it answers with the login page, which says why,
// and returns false: somebody without a session who is sent on comes back to the login, and never learns what is wrong.
func (g *Guard) begin(w http.ResponseWriter, r *http.Request, next string, s session) bool {
	now := time.Now()
	s.Began = now.Unix()
	if err := g.cookies.setSession(w, s, now); err != nil { // the groups are too many for a cookie
		g.tally.failed.Add(1)
		g.cfg.Logger.Error("a session is too long for a cookie", "user", s.Name, "groups", len(s.Groups), "error", err)
		g.page(w, r, http.StatusForbidden, LoginPage{Next: next, Problem: tooManyGroups})
		return false
	}
	g.tally.succeeded.Add(1)
	g.cfg.Logger.Info("somebody logged in", "user", s.Name, "from", g.cfg.Proxy.clientOf(r))
	return true
}

func (g *Guard) logout(w http.ResponseWriter, r *http.Request) {
	if s, is := g.cookies.session(r, time.Now()); is {
		g.tally.end(s)
	}
	g.cookies.clear(w, sessionCookie, http.SameSiteStrictMode)
	http.Redirect(w, r, g.cfg.Prefix+pathLogin, http.StatusSeeOther)
}

// bounce has the browser get a path as a page of this server would: only then it sends the session's cookie. A
// redirect would not do, as browsers count it as the other site's.
func bounce(w http.ResponseWriter, to string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_ = bouncing.Execute(w, to)
}

var bouncing = template.Must(template.New("bounce").Parse(`<!doctype html>
<html lang="en"><meta http-equiv="refresh" content="0;url={{.}}"><title>Elasticron</title><a href="{{.}}">Go on</a></html>
`))
