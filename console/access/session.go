package access

import (
	"crypto/sha256"
	"encoding/hex"
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

// The cookies, to which is added what tells servers of one host apart. The prefix has browsers insist on Secure, the path
// "/" and no domain.
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

// cookies writes and reads cookies. Each key has names of its own, and the first key is that of new cookies.
type cookies []jar

// jar is for the cookies of one key.
type jar struct {
	codec  securecookie.Codec
	suffix string // of the names
}

// newCookies returns cookies for keys. tag is what is added to the names; if it is empty and the keys are those of a file,
// it is made of them.
func newCookies(keys [][]byte, tag string, ofFile bool) cookies {
	all := make(cookies, len(keys))
	for i, codec := range codecs(keys, int(sessionFor.Seconds())) {
		suffix := tag
		if suffix == "" && ofFile {
			sum := sha256.Sum256(append([]byte("name of cookies\x00"), keys[i]...))
			suffix = hex.EncodeToString(sum[:4])
		}
		if suffix != "" {
			suffix = "-" + suffix
		}
		all[i] = jar{codec, suffix}
	}
	return all
}

// set writes a cookie. Whoever it is too long for gets none.
func (c cookies) set(w http.ResponseWriter, name string, value any, age time.Duration, same http.SameSite) error {
	name += c[0].suffix
	text, err := c[0].codec.Encode(name, value)
	if err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: text, Path: "/", MaxAge: int(age.Seconds()), Secure: true, HttpOnly: true, SameSite: same,
	})
	return nil
}

func (c cookies) clear(w http.ResponseWriter, name string, same http.SameSite) {
	cleared := make(map[string]bool)
	for _, jar := range c {
		if name := name + jar.suffix; !cleared[name] {
			cleared[name] = true
			http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: same})
		}
	}
}

// read reads a cookie into value; false if there is none that is right.
func (c cookies) read(r *http.Request, name string, value any) bool {
	for _, jar := range c {
		cookie, err := r.Cookie(name + jar.suffix)
		if err == nil && jar.codec.Decode(cookie.Name, cookie.Value, value) == nil {
			return true
		}
	}
	return false
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
