package access

import (
	"net/http"
	"time"

	"github.com/gorilla/securecookie"
)

// How long a session lasts.
const (
	sessionFor  = 12 * time.Hour
	sessionIdle = time.Hour
	// renewAfter is how old a session's last sign of life must be before the cookie is written anew.
	renewAfter = time.Minute
)

// The cookies. The prefix has browsers insist on Secure, the path "/" and no domain.
const (
	sessionCookie = "__Host-elasticron"
	loginCookie   = "__Host-elasticron-login"
)

// session is what the cookie holds, encrypted and signed.
type session struct {
	Name       string   `json:"n"`
	Groups     []string `json:"g,omitempty"` // as an OpenID provider told them, those that are granted something
	Password   bool     `json:"p,omitempty"` // the login was by password
	Generation int      `json:"v"`
	Began      int64    `json:"b"` // in seconds
	Seen       int64    `json:"s"`
}

// until returns when the session ends.
func (s session) until() time.Time {
	end, idle := time.Unix(s.Began, 0).Add(sessionFor), time.Unix(s.Seen, 0).Add(sessionIdle)
	if idle.Before(end) {
		return idle
	}
	return end
}

// cookies writes and reads cookies.
type cookies struct{ codecs []securecookie.Codec }

// set writes a cookie. Whoever it is too long for gets none.
func (c cookies) set(w http.ResponseWriter, name string, value any, age time.Duration, same http.SameSite) error {
	text, err := securecookie.EncodeMulti(name, value, c.codecs...)
	if err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: text, Path: "/", MaxAge: int(age.Seconds()), Secure: true, HttpOnly: true, SameSite: same,
	})
	return nil
}

func (c cookies) clear(w http.ResponseWriter, name string, same http.SameSite) {
	http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: same})
}

// read reads a cookie into value; false if there is none that is right.
func (c cookies) read(r *http.Request, name string, value any) bool {
	cookie, err := r.Cookie(name)
	return err == nil && securecookie.DecodeMulti(name, cookie.Value, value, c.codecs...) == nil
}

// session returns the session of a request; false if there is none, or it has ended.
func (c cookies) session(r *http.Request, now time.Time) (s session, ok bool) {
	if !c.read(r, sessionCookie, &s) || s.Name == "" || !now.Before(s.until()) {
		return session{}, false
	}
	return s, true
}

func (c cookies) setSession(w http.ResponseWriter, s session, now time.Time) error {
	s.Seen = now.Unix()
	return c.set(w, sessionCookie, s, time.Until(time.Unix(s.Began, 0).Add(sessionFor)), http.SameSiteStrictMode)
}

// inForce tells whether a session is still one by the users file: its user's generation is the same, and a user who
// logged in with a password still has one.
func (s session) inForce(d *directory) bool {
	u, listed := d.users[s.Name]
	return u.generation == s.Generation && (!s.Password || listed && u.password != nil)
}
